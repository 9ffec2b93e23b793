package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/protocol/local"
	"hermes/internal/race"
	"hermes/internal/recallblock"
)

// delegated is what delegate_task returns.
type delegated struct {
	Results []struct {
		Status, Session, Summary, Error string
		Result                          json.RawMessage
		Valid                           *bool    `json:"schema_valid"`
		Calls                           int      `json:"api_calls"`
		Files                           []string `json:"files_changed"`
		Note                            string   `json:"files_note"`
	}
	Note string
}

func delegatedOf(t *testing.T, text string) delegated {
	t.Helper()
	var d delegated
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return d
}

// inside is JSON in an order whose " then " belongs to a child.
func inside(raw []byte) string { return strings.ReplaceAll(string(raw), " then ", `\u0020then `) }

// TestDelegatedTasksReport: each task of a call has its report, in order, with exactly the files that its
// file tools changed.
func TestDelegatedTasksReport(t *testing.T) {
	t.Parallel()
	_, client, dir := office(t, "")
	file := func(name string) string {
		return `write_file {"path":"` + filepath.Join(dir, name) + `","content":"x\n"}`
	}
	raw, err := json.Marshal(map[string]any{"tasks": []map[string]any{
		{"goal": file("a") + " then " + file("b") + " then " + file("c")},
		{"goal": "terminal {\"command\":\"touch d\"}"},
		{"goal": "nothing {}", "toolsets": []string{"attic"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	done, _ := work(t, client, hermes.From{Client: "c1", Attends: true}, dir, "delegate_task "+inside(raw), hermes.AllowOnce)
	d := delegatedOf(t, done.Text)
	if len(d.Results) != 3 {
		t.Fatal(done.Text)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(real, "a"), filepath.Join(real, "b"), filepath.Join(real, "c")}
	if r := d.Results[0]; r.Status != "completed" || !cmp.Equal(want, r.Files) || r.Note != "" || r.Calls != 4 {
		t.Errorf("the first task: %+v", r)
	}
	if r := d.Results[1]; r.Status != "completed" || len(r.Files) > 0 || !strings.Contains(r.Note, "commands may have changed others") {
		t.Errorf("the second task: %+v", r)
	}
	if r := d.Results[2]; r.Status != "failed" || !strings.Contains(r.Error, "there is no toolset attic") {
		t.Errorf("the third task: %+v", r)
	}
	if _, err := os.Stat(filepath.Join(dir, "d")); err != nil {
		t.Error(err)
	}
}

// TestDelegationSettings: the section says with which model, tools and service children work, and which of
// them may delegate.
func TestDelegationSettings(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(&chatserver.Handler{Model: "small", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		var names []string
		for _, tool := range r.Tools {
			names = append(names, tool.Function.Name)
		}
		return chatserver.Answer{Text: "small has " + strings.Join(names, " ")}, nil
	}})
	t.Cleanup(other.Close)
	for name, tt := range map[string]struct{ settings, order, want string }{
		"model and tools": {
			"delegation: {model: small, base_url: \"" + other.URL + "/v1\", api_key: k, default_toolsets: [todo, clarify, memory]}\n", `delegate_task {"goal":"look"}`, `"summary":"small has todo"`,
		},
		"the task names tools": {
			"delegation: {model: small, base_url: \"" + other.URL + "/v1\", api_key: k, default_toolsets: [todo]}\n", `delegate_task {"goal":"look","toolsets":["file"]}`, `"summary":"small has patch read_file search_files write_file"`,
		},
		"an orchestrator": {
			"delegation: {model: small, base_url: \"" + other.URL + "/v1\", api_key: k, max_spawn_depth: 2}\n", `delegate_task {"goal":"look","toolsets":["file"],"role":"orchestrator"}`, `"summary":"small has delegate_task patch`,
		},
		"no orchestrators": {
			"delegation: {max_spawn_depth: 2, orchestrator_enabled: false}\n", `crew {"goals":["look"],"role":"orchestrator"}`, `delegation.orchestrator_enabled is off`,
		},
		"too many tasks": {"delegation: {max_concurrent_children: 2}\n", `delegate_task {"tasks":[{"goal":"a"},{"goal":"b"},{"goal":"c"}]}`, "3 tasks are too many at once"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, client, dir := office(t, tt.settings)
			done, _ := work(t, client, hermes.From{Client: "c1", Attends: true}, dir, tt.order, hermes.AllowOnce)
			if !strings.Contains(done.Text, tt.want) {
				t.Errorf("%s", done.Text)
			}
		})
	}
}

// TestAChildHasAPromptOfItsOwn: it is told its place and how to report, has the files of the project, and
// neither SOUL.md nor memory. Siblings share it.
func TestAChildHasAPromptOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	writeFile(t, filepath.Join(s.home, "SOUL.md"), "You are a pirate.\n")
	if err := os.MkdirAll(filepath.Join(s.home, "memories"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(s.home, "memories", "MEMORY.md"), "The user likes rum.\n")
	s.write("AGENTS.md", "Use tabs.")
	s.say("CALL delegate_task {\"tasks\":[{\"goal\":\"one\",\"context\":\"first\"},{\"goal\":\"two\"}]}")
	db, err := s.app.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := db.ListSessions(t.Context(), hermes.SessionFilter{Platform: hermes.PlatformChild, Limit: -1})
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d children, %v", len(rows), err)
	}
	var prompts []string
	for _, row := range rows {
		whole, err := db.FindSession(t.Context(), row.ID)
		if err != nil {
			t.Fatal(err)
		}
		prompts = append(prompts, whole.System)
	}
	if prompts[0] != prompts[1] {
		t.Error("siblings have different prompts")
	}
	for _, want := range []string{"You are a sub-agent", "Use tabs.", s.dir} {
		if !strings.Contains(prompts[0], want) {
			t.Errorf("the prompt does not say %q", want)
		}
	}
	for _, no := range []string{"pirate", "rum", "delegate_task"} {
		if strings.Contains(prompts[0], no) {
			t.Errorf("the prompt says %q", no)
		}
	}
}

// TestFiftyChildrenAtOnce report, and take little memory.
func TestFiftyChildrenAtOnce(t *testing.T) {
	const many = 50
	together := make(chan struct{})
	var begun sync.WaitGroup
	begun.Add(many)
	go func() { begun.Wait(); close(together) }()
	var most uint64
	measure := sync.OnceFunc(func() {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		most = m.HeapAlloc
	})
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		said := ""
		for _, m := range r.Messages {
			if m.Role == "user" && said == "" {
				said, _, _ = strings.Cut(recallblock.Strip(m.Text()), "\n")
			}
		}
		if !strings.HasPrefix(said, "part ") {
			return follow(r)
		}
		begun.Done()
		<-together
		measure()
		return chatserver.Answer{Text: "did " + said}, nil
	}})
	t.Cleanup(server.Close)
	home, dir := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: played, provider: custom, base_url: \""+server.URL+"/v1\"}\ndelegation: {max_concurrent_children: 50}\n"+
		"tool_loop_guardrails: {loop_caps: {max_subagents: 60}}\n")
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	t.Cleanup(func() { _ = a.Close() })
	client := local.New(local.Config{Sessions: a.Sessions, Store: func(ctx context.Context) (hermes.Store, error) { return a.Database(ctx) }})
	work(t, client, hermes.From{}, dir, `todo {}`, hermes.Deny) // what the program needs anyway
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var tasks []map[string]any
	for i := range many {
		tasks = append(tasks, map[string]any{"goal": fmt.Sprintf("part %d", i)})
	}
	raw, err := json.Marshal(map[string]any{"tasks": tasks})
	if err != nil {
		t.Fatal(err)
	}
	done, _ := work(t, client, hermes.From{}, dir, "delegate_task "+string(raw), hermes.Deny)
	d := delegatedOf(t, done.Text)
	if len(d.Results) != many {
		t.Fatalf("%d results", len(d.Results))
	}
	for i, r := range d.Results {
		if want := fmt.Sprintf("did part %d", i); r.Status != "completed" || r.Summary != want {
			t.Errorf("result %d: %+v", i, r)
		}
	}
	if grown := int64(most) - int64(before.HeapAlloc); grown > 60<<20 && !race.Enabled {
		t.Errorf("50 children take %d MB", grown>>20)
	}
}

// TestATaskInTheBackgroundReportsLater through the whole program: its call returns a handle, and the report
// begins a turn of its own, which untrusted text taints as it did the child.
func TestATaskInTheBackgroundReportsLater(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.say(`CALL delegate_task {"goal":"CALL read_file {\"path\":\"notes.md\"}","background":true}`)
	db, err := s.app.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list, err := db.Messages(t.Context(), s.session, hermes.Range{})
	if err != nil || !strings.Contains(list[2].Text(), `"status":"running"`) {
		t.Errorf("the transcript is %+v, %v", list, err)
	}
	for e := range s.events {
		if d, ok := e.(hermes.TurnStarted); ok {
			text, from := d.Message.Text(), d.Message.Provenance
			if !d.Message.Synthetic || !strings.HasPrefix(text, "[Result of the background task ") || !strings.Contains(text, "I have read") || !strings.Contains(from, "notes.md") {
				t.Errorf("the turn is about %q, from %q", text, from)
			}
			return
		}
	}
	t.Error("the session ended")
}
