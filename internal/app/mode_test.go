package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/protocol"
	"hermes/internal/session"
)

// user is a frontend whose user is there.
var user = hermes.From{Client: "terminal 1", Platform: "cli", Name: "terminal 1", Attends: true}

// inPlan are the tools that run in plan mode with the arguments that leastOf makes. A new tool is
// refused unless its effect says that it only reads; then it belongs here.
var inPlan = []string{
	"browser_console", "browser_get_images", "browser_snapshot", "browser_tabs", "browser_vision", "clarify", "delegate_task", "read_file", "search_files", "session_search",
	"sessions_list", "skill_view", "skills_list", "todo", "web_extract", "web_search",
}

// TestPlanModeRefusesEveryToolWithAnEffect has an obedient model call every tool that there is.
func TestPlanModeRefusesEveryToolWithAnEffect(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	setCalling(t, home, "", nil)
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Workspace: hermes.Workspace{Dir: dir}, Tools: hermes.ToolChoice{Enabled: []string{"all"}}}, From: user})
	ended(t, mustSay(t, s, "hello"))
	st, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	var calls []chatserver.Function
	for _, spec := range st.Tools {
		calls = append(calls, chatserver.Function{Name: spec.Name, Arguments: leastOf(t, spec.Schema)})
	}
	// What would leave something behind, in so many words.
	calls = append(calls,
		chatserver.Function{Name: "write_file", Arguments: `{"path":"planted","content":"x"}`},
		chatserver.Function{Name: "terminal", Arguments: `{"command":"echo x > planted"}`},
		chatserver.Function{Name: "memory", Arguments: `{"action":"add","target":"memory","content":"planted by the model"}`})
	setCalling(t, home, "mode: off", calls)
	nowhere := map[string]string{"DUCKDUCKGO_URL": "http://127.0.0.1:1"} // a search must not leave this machine
	a = app.New(app.Options{Home: home, Getenv: func(name string) string { return nowhere[name] }})
	defer a.Close()
	s = mustOpen(t, a, session.Open{Run: hermes.RunSpec{Workspace: hermes.Workspace{Dir: dir}, Rights: hermes.Rights{Mode: hermes.ModePlan}}, From: user})
	_, events, err := s.Attach(t.Context(), user, protocol.After{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Do(t.Context(), user, hermes.Say{Parts: []hermes.Part{{Text: "do it"}}}); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for e := range events {
		switch e := e.Event.(type) {
		case hermes.Asked:
			if e.Approval != nil {
				t.Errorf("asks for %s", e.Approval.Tool)
			}
			if err := s.Do(t.Context(), user, hermes.Reply{ID: e.ID, Answer: hermes.Answer{Dismissed: true}}); err != nil {
				t.Fatal(err)
			}
		case hermes.CallDone:
			is := strings.Contains(e.Result.Text(), "plan mode: this was not run")
			if is {
				refused++
			}
			if is == slices.Contains(inPlan, e.Call.Name) {
				t.Errorf("%s %s: %s", e.Call.Name, e.Call.Arguments, e.Result.Text())
			}
		case hermes.TurnDone:
			if e.Failure != nil || refused < 6 {
				t.Errorf("%d calls were refused; %v", refused, e.Err())
			}
			if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
				t.Errorf("the folder has %v, %v", list, err)
			}
			if kept, _ := os.ReadFile(filepath.Join(home, "memories", "MEMORY.md")); strings.Contains(string(kept), "planted") {
				t.Errorf("memory has %s", kept)
			}
			return
		}
	}
}

// TestPlanModeInATurn: a turn that asks in yolo's place is put into plan mode by its user, who
// refuses with that what waits, and everything after it.
func TestPlanModeInATurn(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "victim"), 0o700); err != nil {
		t.Fatal(err)
	}
	setCalling(t, home, "mode: manual", []chatserver.Function{
		{Name: "write_file", Arguments: `{"path":"before","content":"x"}`},
		{Name: "terminal", Arguments: `{"command":"rm -rf victim"}`},
		{Name: "write_file", Arguments: `{"path":"after","content":"x"}`},
	})
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	defer a.Close()
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Workspace: hermes.Workspace{Dir: dir}}, From: user})
	_, events, err := s.Attach(t.Context(), user, protocol.After{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Do(t.Context(), user, hermes.Say{Parts: []hermes.Part{{Text: "do it"}}}); err != nil {
		t.Fatal(err)
	}
	for e := range events {
		switch e := e.Event.(type) {
		case hermes.Asked:
			if err := s.Do(t.Context(), user, hermes.SetMode{Mode: hermes.ModePlan}); err != nil {
				t.Fatal(err)
			}
		case hermes.CallDone:
			if is := strings.Contains(e.Result.Text(), "plan mode"); is == strings.Contains(e.Call.Arguments, "before") {
				t.Errorf("%s: %s", e.Call.Arguments, e.Result.Text())
			}
		case hermes.TurnDone:
			for name, want := range map[string]bool{"before": true, "victim": true, "after": false} {
				if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
					t.Errorf("%s: %v", name, err)
				}
			}
			return
		}
	}
}

// TestModeOffBeginsInYolo, but not where the rights say another mode.
func TestModeOffBeginsInYolo(t *testing.T) {
	t.Parallel()
	for asked, want := range map[hermes.RightsMode]hermes.RightsMode{"": hermes.ModeYolo, hermes.ModeAsk: hermes.ModeAsk, hermes.ModePlan: hermes.ModePlan} {
		home := t.TempDir()
		setCalling(t, home, "mode: off", nil)
		a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
		s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Workspace: hermes.Workspace{Dir: t.TempDir()}, Rights: hermes.Rights{Mode: asked}}})
		if got := s.Mode(); got != want {
			t.Errorf("%q: %s", asked, got)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// ended waits for the end of a turn.
func ended(t *testing.T, events <-chan hermes.Event) {
	t.Helper()
	for e := range events {
		if d, ok := e.(hermes.TurnDone); ok {
			if d.Failure != nil {
				t.Fatal(d.Err())
			}
			return
		}
	}
}

// leastOf returns arguments that fit a schema: the fields that it requires, with as little as possible.
func leastOf(t *testing.T, schema json.RawMessage) string {
	t.Helper()
	var s map[string]any
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(least(s))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func least(s map[string]any) any {
	if enum, ok := s["enum"].([]any); ok {
		return enum[0]
	}
	switch s["type"] {
	case "object":
		out, fields := map[string]any{}, s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, name := range required {
			out[name.(string)] = least(fields[name.(string)].(map[string]any))
			if name == "urls" { // what is no link is asked about
				out["urls"] = []any{"http://127.0.0.1/"}
			}
		}
		return out
	case "array":
		return []any{least(s["items"].(map[string]any))}
	case "integer", "number":
		return 1
	case "boolean":
		return true
	}
	return "planted"
}
