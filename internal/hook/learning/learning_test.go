package learning_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/errsig"
	"hermes/internal/hook/learning"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

type host struct {
	hermes.Host
	session string
}

func (h host) Session() hermes.SessionRef { return hermes.SessionRef{ID: h.session} }

// fixture is the hook over an in-memory store.
type fixture struct {
	t     *testing.T
	store *hermestest.Learnings
	hook  hermes.Hook
	now   time.Time
}

func newFixture(t *testing.T) *fixture {
	h := &fixture{t: t, store: &hermestest.Learnings{}, now: noon}
	h.hook = learning.New(learning.Config{
		Store: func(context.Context) (hermes.Learnings, error) { return h.store, nil },
		Now:   func() time.Time { return h.now },
	})
	return h
}

// call is one call of terminal in a session; it returns what was appended.
func (h *fixture) call(session, command, output string, failed bool) string {
	h.t.Helper()
	args, _ := json.Marshal(map[string]string{"command": command})
	text, _ := json.Marshal(map[string]any{"output": output, "exit_code": 1})
	r := hermes.Result{Text: string(text), Failed: failed}
	h.hook.AfterTool(h.t.Context(), &hermes.Call{Name: "terminal", Arguments: args, Host: host{session: session}}, &r)
	added, ok := strings.CutPrefix(r.Text, string(text))
	if !ok {
		h.t.Fatalf("the result was changed: %q", r.Text)
	}
	return added
}

func (h *fixture) save(pattern, fix string) hermes.Learning {
	h.t.Helper()
	l, err := h.store.SaveLearning(h.t.Context(), hermes.Learning{Tool: "terminal", Class: "error", Pattern: pattern, Fix: fix, Touched: h.now})
	if err != nil {
		h.t.Fatal(err)
	}
	return l
}

func (h *fixture) only() hermes.Learning {
	h.t.Helper()
	list, err := h.store.FindLearnings(h.t.Context(), hermes.LearningQuery{})
	if err != nil || len(list) != 1 {
		h.t.Fatalf("%d learnings, %v: %+v", len(list), err, list)
	}
	return list[0]
}

const (
	managed = "error: externally-managed-environment"
	pattern = "pip: error: externally-managed-environment"
)

func TestAKnownFailureIsAnsweredWithItsFix(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.save(pattern, "use uv pip install")
	if got := h.call("s1", "pip install x", managed, true); !strings.Contains(got, "What helped then: use uv pip install") {
		t.Errorf("got %q", got)
	}
	if got := h.call("s1", "pip install y", managed, true); got != "" {
		t.Errorf("shown twice in a session: %q", got)
	}
	if got := h.call("s2", "pip install y", managed, true); !strings.Contains(got, "use uv") || !strings.Contains(got, "come up 3 times: consider adding it to the pitfalls of a skill") {
		t.Errorf("in the next session: %q", got)
	}
	if l := h.only(); l.Seen != 3 || l.Shown != 2 {
		t.Errorf("counted %+v", l)
	}
}

func TestASimilarFailureIsAnsweredToo(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.save("go: error: module requires a newer version of go", "set GOTOOLCHAIN=auto")
	if got := h.call("s", "go build", "error: the module requires a much newer version of go", true); !strings.Contains(got, "similar") || !strings.Contains(got, "GOTOOLCHAIN") {
		t.Errorf("got %q", got)
	}
	if got := h.call("s", "go vet", "error: too many arguments in call", true); got != "" {
		t.Errorf("another failure: %q", got)
	}
}

// TestTheFixOfOneFailureIsNotShownForAnother has failures that differ in what they name.
func TestTheFixOfOneFailureIsNotShownForAnother(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ saved, failed string }{
		{"frobnicate: command not found", "bash: line 11: zork: command not found"},
		{"error 1045: access failed", "error 2002: access failed"},
		{"cat: /etc/one: permission denied", "cat: /etc/two: Permission denied"},
		{"adduser: user alice not found", "adduser: user bob not found"},
		{"adduser: user not found", "adduser: user alice not found"},
		{"cat: /tmp/run/one: permission denied", "cat: /tmp/run/two: Permission denied"},
		{"modulenotfounderror: no module named 'yaml'", "ModuleNotFoundError: No module named 'toml'"},
	} {
		h := newFixture(t)
		h.save(tt.saved, "the fix")
		if got := h.call("s", "run it", tt.failed, true); got != "" {
			t.Errorf("%q: %q", tt.failed, got)
		}
	}
}

// TestAFixThatWasSavedFirstIsFound saves a fix for a message that never failed before.
func TestAFixThatWasSavedFirstIsFound(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"terminal", ""} {
		for _, said := range []string{"frobnicate: command not found", "bash: line 11: frobnicate: command not found", "/bin/sh: 1: frobnicate: not found", "zsh: command not found: frobnicate"} {
			h := newFixture(t)
			s := errsig.Of("", "frobnicate: command not found")
			if _, err := h.store.SaveLearning(t.Context(), hermes.Learning{Tool: tool, Class: s.Class, Pattern: s.Pattern, Fix: "install frob-tools", Touched: h.now}); err != nil {
				t.Fatal(err)
			}
			if got := h.call("s", "ls | frobnicate", said, true); !strings.Contains(got, "[This failed before. What helped then: install frob-tools]") {
				t.Errorf("%q: %q", said, got)
			}
		}
	}
}

// TestFixesOfVersionsBeforeAreFound has a pattern with placeholders for all that varied.
func TestFixesOfVersionsBeforeAreFound(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.save("cat: <path>: no such file or directory", "list the folder first")
	if got := h.call("s", "cat /y/2", "cat: /y/2: No such file or directory", true); !strings.Contains(got, "list the folder first") {
		t.Errorf("got %q", got)
	}
}

func TestTheOutcomeOfAFixIsRecorded(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.save(pattern, "use uv")
	h.call("s1", "pip install x", managed, true)
	h.call("s1", "uv pip install x", "ok", false)
	h.call("s1", "ls", "ok", false) // says nothing more
	h.call("s2", "pip install x", managed, true)
	h.call("s2", "pip install x", managed, true)
	h.call("s3", "pip install x", managed, true)
	h.call("s3", "uv pip install x", "another error", true)
	got, err := h.store.FindLearnings(t.Context(), hermes.LearningQuery{Known: true})
	if err != nil || len(got) != 1 || got[0].Helped != 1 || got[0].Failed != 1 || got[0].Shown != 3 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAFixThatDoesNotHelpIsNotShown(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	l := h.save(pattern, "turn it off and on")
	for range 3 {
		if err := h.store.NoteFix(t.Context(), l.ID, hermes.FixFailed, h.now); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.call("s", "pip install x", managed, true); strings.Contains(got, "off and on") {
		t.Errorf("got %q", got)
	}
}

func TestARepeatedFailureAsksForAFix(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	if got := h.call("s1", "pip install x", managed, true); got != "" {
		t.Errorf("the first time: %q", got)
	}
	if got := h.call("s2", "pip install x", managed, true); !strings.Contains(got, "come up 2 times without a known fix") {
		t.Errorf("the second time: %q", got)
	}
	if got := h.call("s2", "pip install x", managed, true); got != "" {
		t.Errorf("again: %q", got)
	}
	// Failures that no longer occur are removed at the next start.
	later := newFixture(t)
	later.store, later.now = h.store, noon.AddDate(0, 0, 40)
	later.call("s3", "make", "error: other", true)
	if l := later.only(); l.Pattern != "make: error: other" {
		t.Errorf("left: %+v", l)
	}
}

func TestSuccessesAndRefusalsAreNotLearned(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.call("s", "ls", "no such file", false)
	r := hermes.Result{Text: `{"error":"not run: the person said no"}`, Failed: true}
	h.hook.AfterTool(t.Context(), &hermes.Call{Name: "terminal", Host: host{session: "s"}}, &r)
	r = hermes.Result{Text: `{"error":"no entry contains that"}`, Failed: true}
	h.hook.AfterTool(t.Context(), &hermes.Call{Name: "memory", Host: host{session: "s"}}, &r)
	if list, _ := h.store.FindLearnings(t.Context(), hermes.LearningQuery{}); len(list) != 0 {
		t.Errorf("learned %+v", list)
	}
}

func TestAStoreThatFailsCostsNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.hook = learning.New(learning.Config{Store: func(context.Context) (hermes.Learnings, error) { return nil, errors.New("locked") }})
	if got := h.call("s", "pip install x", managed, true); got != "" {
		t.Errorf("got %q", got)
	}
}
