package todo_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/tool/todo"
)

// after passes so many calls of a tool and returns those, counted from 1, whose
// result got a line, with the last line.
func after(set *todo.Toolset, calls int, failed bool) (at []int, line string) {
	for i := range calls {
		if l := set.Remind("s", "terminal", failed); l != "" {
			at, line = append(at, i+1), l
		}
	}
	return at, line
}

const twoOpen = `{"todos":[{"id":"1","content":"port the parser","status":"in_progress"},{"id":"2","content":"port the lexer","status":"pending"},{"id":"3","content":"x","status":"completed"}]}`

// said passes a call of todo as the session does: it runs, then its batch ends.
func said(t *testing.T, set *todo.Toolset, arguments string) string {
	t.Helper()
	text, _ := call(t, set, "s", arguments)
	if line := set.Remind("s", "todo", false); line != "" {
		t.Errorf("the result of todo itself got %q", line)
	}
	return text
}

func TestAForgottenPlanIsNamedOnceForEachTenCalls(t *testing.T) {
	t.Parallel()
	set := todo.New()
	if at, _ := after(set, 40, true); at != nil {
		t.Errorf("without a plan: %v", at)
	}
	said(t, set, twoOpen)
	at, line := after(set, 35, false)
	if !slices.Equal(at, []int{11, 21, 31}) {
		t.Errorf("lines at %v", at)
	}
	if !strings.Contains(line, "30 calls") || !strings.Contains(line, "2 items are open") || strings.Contains(line, "\n") {
		t.Errorf("line %q", line)
	}
	said(t, set, `{}`) // reading counts
	if at, _ := after(set, 15, false); !slices.Equal(at, []int{11}) {
		t.Errorf("after reading: %v", at)
	}
	said(t, set, `{"todos":[{"id":"2","status":"completed"}],"merge":true}`)
	if at, line := after(set, 11, false); !slices.Equal(at, []int{11}) || !strings.Contains(line, "1 item is open") {
		t.Errorf("after writing: %v %q", at, line)
	}
	said(t, set, `{"todos":[{"id":"1","status":"completed"}],"merge":true}`)
	if at, _ := after(set, 40, true); at != nil {
		t.Errorf("nothing is open: %v", at)
	}
}

func TestAFailureNamesTheItemInProgress(t *testing.T) {
	t.Parallel()
	set := todo.New()
	said(t, set, twoOpen)
	line := set.Remind("s", "terminal", true)
	if !strings.Contains(line, "port the parser") || strings.Contains(line, "\n") {
		t.Errorf("line %q", line)
	}
	if line := set.Remind("s", "terminal", false); line != "" {
		t.Errorf("a call that succeeded got %q", line)
	}
	if line := set.Remind("s", "todo", true); line != "" {
		t.Errorf("a failed call of todo got %q", line)
	}
	said(t, set, `{"todos":[{"id":"1","content":"`+strings.Repeat("long ", 500)+`\nand more","status":"in_progress"}]}`)
	if line := set.Remind("s", "terminal", true); len(line) > 300 || strings.Contains(line, "\n") {
		t.Errorf("%d bytes: %q", len(line), line)
	}
	said(t, set, `{"todos":[{"id":"1","content":"later","status":"pending"}]}`)
	if line := set.Remind("s", "terminal", true); line != "" {
		t.Errorf("nothing is in progress: %q", line)
	}
}

func TestTodoReportsTheCallsSinceItsUpdate(t *testing.T) {
	t.Parallel()
	set := todo.New()
	if text := said(t, set, twoOpen); strings.Contains(text, "calls_since_update") {
		t.Errorf("the first list: %s", text)
	}
	after(set, 4, false)
	for _, want := range []string{`"calls_since_update":4`, `"calls_since_update":4`} { // reading is no update
		if text := said(t, set, `{}`); !strings.Contains(text, want) {
			t.Errorf("got %s, want %s", text, want)
		}
	}
	after(set, 3, false)
	if text := said(t, set, `{"todos":[{"id":"2","status":"completed"}],"merge":true}`); !strings.Contains(text, `"calls_since_update":7`) {
		t.Errorf("got %s", text)
	}
	if text := said(t, set, `{}`); strings.Contains(text, "calls_since_update") {
		t.Errorf("right after the update: %s", text)
	}
}

// TestTheCountSurvivesARestart reads it from the transcript.
func TestTheCountSurvivesARestart(t *testing.T) {
	t.Parallel()
	set := todo.New()
	var transcript []hermes.Message
	result := func(tool, text string) {
		transcript = append(transcript, hermes.Message{Role: hermes.RoleAssistant}, hermes.Message{Role: hermes.RoleTool, ToolName: tool, Parts: []hermes.Part{{Text: text}}})
	}
	pass := func(n int) {
		for i := range n {
			result("terminal", fmt.Sprint(i))
			set.Remind("s", "terminal", false)
		}
	}
	result("todo", said(t, set, twoOpen))
	pass(5)
	result("todo", said(t, set, `{}`))
	pass(8)

	fresh := todo.New()
	fresh.Restore(hermes.SessionRef{ID: "s"}, transcript)
	if at, _ := after(fresh, 10, false); !slices.Equal(at, []int{3}) {
		t.Errorf("lines at %v, want the third", at)
	}
	fresh = todo.New()
	fresh.Restore(hermes.SessionRef{ID: "s"}, transcript)
	if text := said(t, fresh, `{}`); !strings.Contains(text, `"calls_since_update":13`) {
		t.Errorf("got %s", text)
	}
}

func TestTheDescriptionSaysHowToUpdate(t *testing.T) {
	t.Parallel()
	tools, err := todo.New().Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Update it silently", "No test or verify items unless asked for"} {
		if got := tools[0].Spec().Description; !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}
