package delegation_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hermes"
	"hermes/internal/tool/delegation"
)

// host records the tasks that it gets.
type host struct {
	hermes.Host
	at     hermes.SessionRef
	report func(hermes.Task) (hermes.Report, error)

	mu    sync.Mutex
	tasks []hermes.Task
}

func (h *host) Session() hermes.SessionRef { return h.at }
func (h *host) Progress(string)            {}
func (h *host) Spawn(_ context.Context, t hermes.Task) (hermes.Report, error) {
	h.mu.Lock()
	h.tasks = append(h.tasks, t)
	h.mu.Unlock()
	return h.report(t)
}

func run(t *testing.T, h *host, l delegation.Limits, arguments string) (hermes.Result, error) {
	t.Helper()
	tools, err := delegation.New(l).Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if h.report == nil {
		h.report = func(task hermes.Task) (hermes.Report, error) {
			return hermes.Report{Status: hermes.ChildCompleted, Summary: "did " + task.Goal}, nil
		}
	}
	return tools[0].Run(t.Context(), &hermes.Call{ID: "c1", Name: "delegate_task", Arguments: json.RawMessage(arguments), Host: h})
}

// TestTasks: arguments become tasks, and mistakes are errors that say what to do.
func TestTasks(t *testing.T) {
	t.Parallel()
	limits := delegation.Limits{AtOnce: 3, Depth: 2}
	byKey := cmpopts.SortSlices(func(a, b hermes.Task) bool { return a.Key < b.Key })
	for name, tt := range map[string]struct {
		at        hermes.SessionRef
		arguments string
		want      []hermes.Task
		err       string
	}{
		"one": {hermes.SessionRef{Attended: true}, `{"goal":" look ","context":"here","toolsets":["file"],"role":"orchestrator","max_iterations":3,"max_cost":0.5,"worktree":true,"background":true,"output_schema":{"type":"object"}}`, []hermes.Task{{
			Goal: "look", Context: "here", Toolsets: []string{"file"}, Role: hermes.RoleOrchestrator, MaxSteps: 3, MaxCost: hermes.USD(0.5), Worktree: true, Background: true, Key: "c1/1", Schema: json.RawMessage(`{"type":"object"}`),
		}}, ""},
		"what holds for all": {hermes.SessionRef{}, `{"tasks":[{"goal":"a"},{"goal":"b","role":"leaf","toolsets":["web"]}],"toolsets":["file"],"context":"here"}`, []hermes.Task{
			{Goal: "a", Context: "here", Toolsets: []string{"file"}, Key: "c1/1"}, {Goal: "b", Context: "here", Toolsets: []string{"web"}, Key: "c1/2"},
		}, ""},
		"a tiny limit":      {hermes.SessionRef{}, `{"goal":"a","max_cost":0.0000004}`, []hermes.Task{{Goal: "a", MaxCost: 1, Key: "c1/1"}}, ""},
		"no user attends":   {hermes.SessionRef{Platform: "telegram"}, `{"goal":"a","background":true}`, []hermes.Task{{Goal: "a", Key: "c1/1"}}, ""},
		"a run that ends":   {hermes.SessionRef{Platform: "oneshot", Attended: true}, `{"goal":"a","background":true}`, []hermes.Task{{Goal: "a", Key: "c1/1"}}, ""},
		"a child delegates": {hermes.SessionRef{Depth: 1, Attended: true}, `{"goal":"a","background":true}`, []hermes.Task{{Goal: "a", Key: "c1/1"}}, ""},
		"no goal":           {hermes.SessionRef{}, `{}`, nil, "task 1 has no goal"},
		"no goal of one":    {hermes.SessionRef{}, `{"tasks":[{"goal":"a"},{}]}`, nil, "task 2 has no goal"},
		"both":              {hermes.SessionRef{}, `{"goal":"a","tasks":[{"goal":"b"}]}`, nil, "not both"},
		"too many":          {hermes.SessionRef{}, `{"tasks":[{"goal":"a"},{"goal":"a"},{"goal":"a"},{"goal":"a"}]}`, nil, "4 tasks are too many at once"},
		"less than nothing": {hermes.SessionRef{}, `{"goal":"a","max_iterations":-1}`, nil, "more than 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &host{at: tt.at}
			_, err := run(t, h, limits, tt.arguments)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || len(h.tasks) > 0 {
					t.Errorf("%v, and %d tasks ran", err, len(h.tasks))
				}
				return
			}
			if diff := cmp.Diff(tt.want, h.tasks, byKey); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// TestReports: results come in the order of the tasks, with what the model has to know of each.
func TestReports(t *testing.T) {
	t.Parallel()
	h := &host{report: func(t hermes.Task) (hermes.Report, error) {
		switch t.Goal {
		case "fails":
			return hermes.Report{}, errors.New("there is no toolset attic")
		case "stalls":
			return hermes.Report{Session: "s2", Status: hermes.ChildStalled, Summary: "half", Steps: 2, Usage: hermes.Usage{Input: 10, Output: 5}, Cost: hermes.USD(0.01), Files: []string{"/a"}, MayBeMore: true}, nil
		}
		if t.Goal == "breaks" {
			return hermes.Report{Session: "s4", Status: hermes.ChildFailed, Failure: "the model is gone", Summary: "I look first.", Steps: 1}, nil
		}
		return hermes.Report{Session: "s3", Status: hermes.ChildCompleted, Summary: "much… (cut)", Truncated: true, Files: []string{"/b"}, MoreFiles: 7}, nil
	}}
	r, err := run(t, h, delegation.Limits{AtOnce: 4, Depth: 1}, `{"tasks":[{"goal":"fails"},{"goal":"stalls"},{"goal":"talks"},{"goal":"breaks"}]}`)
	want := `{"results":[{"status":"failed","error":"there is no toolset attic"},` +
		`{"status":"stalled","session":"s2","summary":"half","error":"it made no progress and was stopped; the summary is what it had","api_calls":2,"tokens":15,"cost":"$0.01","files_changed":["/a"],"files_note":"commands may have changed others"},` +
		`{"status":"completed","session":"s3","summary":"much… (cut)","truncated":true,"files_changed":["/b"],"files_note":"7 more"},` +
		`{"status":"failed","session":"s4","summary":"I look first.","error":"the model is gone; the summary is what it wrote last, and no answer","api_calls":1}]}`
	if err != nil || r.Text != want || r.Failed {
		t.Errorf("%v, failed is %v\n%.1200s", err, r.Failed, r.Text)
	}
}

// TestTheDescriptionNamesTheLimits, and offers a role only where it changes something.
func TestTheDescriptionNamesTheLimits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		limits delegation.Limits
		role   bool
	}{{delegation.Limits{AtOnce: 7, Depth: 1}, false}, {delegation.Limits{AtOnce: 7, Depth: 2}, true}, {delegation.Limits{AtOnce: 7, Depth: 2, LeavesOnly: true}, false}} {
		tools, err := delegation.New(tt.limits).Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s := tools[0].Spec()
		if !strings.Contains(s.Description, "At most 7 at once") || strings.Contains(string(s.Schema), `"role"`) != tt.role || !json.Valid(s.Schema) {
			t.Errorf("%+v: %s %s", tt.limits, s.Description, s.Schema)
		}
	}
}
