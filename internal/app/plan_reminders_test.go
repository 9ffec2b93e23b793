package app_test

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// TestPlanReminders works through a plan that is never looked at again: the model
// reads so in the result after ten calls, and which item a failing call was for.
func TestPlanReminders(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string][2]int{
		"": {1, 2}, "agent: {plan_reminders: true}\n": {1, 2}, "agent: {plan_reminders: false}\n": {0, 0},
	} {
		dir, home := t.TempDir(), t.TempDir()
		for i := range 30 {
			writeFile(t, filepath.Join(dir, fmt.Sprintf("f%d.txt", i)), fmt.Sprintf("text %d\n", i))
		}
		var mu sync.Mutex
		var last *chatserver.Request
		step := 0
		h := &chatserver.Handler{Model: "m", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
			mu.Lock()
			defer mu.Unlock()
			if last != nil && len(r.Messages) > len(last.Messages) {
				for i := range last.Messages {
					if fmt.Sprint(r.Messages[i]) != fmt.Sprint(last.Messages[i]) {
						t.Errorf("message %d of a later request differs", i)
					}
				}
			}
			last = r
			step++
			name, arguments := "read_file", fmt.Sprintf(`{"path":"f%d.txt"}`, step)
			switch {
			case step == 1:
				name, arguments = "todo", `{"todos":[{"id":"1","content":"port the parser","status":"in_progress"},{"id":"2","content":"then the lexer","status":"pending"}]}`
			case step == 5 || step == 7:
				arguments = fmt.Sprintf(`{"path":"no-such-file-%d.txt"}`, step)
			case step == 14:
				name, arguments = "todo", `{}`
			case step == 16:
				return chatserver.Answer{Text: "done"}, nil
			}
			return chatserver.Answer{Calls: []chatserver.Call{{ID: fmt.Sprint("c", step), Type: "function", Function: chatserver.Function{Name: name, Arguments: arguments}}}}, nil
		}}
		s := httptest.NewServer(h)
		writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: m, provider: custom, base_url: \""+s.URL+"/v1\", context_length: 128000}\n"+
			"auxiliary: {title_generation: {enabled: false}, background_review: {enabled: false}, evidence: {enabled: false}}\n"+settings)
		a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
		live := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: dir}}})
		for e := range mustSay(t, live, "port it") {
			if done, ok := e.(hermes.TurnDone); ok {
				if done.Outcome != hermes.OutcomeDone {
					t.Fatalf("%+v", done)
				}
				break
			}
		}
		forgotten, failing := 0, 0
		mu.Lock()
		for i, m := range last.Messages {
			text := m.Text()
			if strings.Contains(text, "10 calls since the task list") && strings.Contains(text, "2 items are open") {
				forgotten++
				if !strings.Contains(text, "text 12") {
					t.Errorf("the line is in message %d: %s", i, text)
				}
			}
			if strings.Contains(text, "In progress in the task list: 1. port the parser") {
				failing++
			}
			if want[0] > 0 && i == len(last.Messages)-3 && strings.Contains(text, "revision") && !strings.Contains(text, "calls_since_update") {
				t.Errorf("todo does not report the calls: %s", text)
			}
		}
		mu.Unlock()
		if forgotten != want[0] || failing != want[1] {
			t.Errorf("%q: %d lines about the list, %d about failures, want %v", settings, forgotten, failing, want)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		s.Close()
	}
}
