package todo_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/tool/todo"
)

// host lends a session id and nothing else.
type host struct {
	hermes.Host
	id string
}

func (h host) Session() hermes.SessionRef { return hermes.SessionRef{ID: h.id} }

// call runs the tool and gives its result and the list as marks and contents.
func call(t *testing.T, set *todo.Toolset, session, arguments string) (string, []string) {
	t.Helper()
	tools, err := set.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := tools[0].Run(context.Background(), &hermes.Call{Name: "todo", Arguments: json.RawMessage(arguments), Host: host{id: session}})
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Todos []struct{ ID, Content, Status string }
	}
	if err := json.Unmarshal([]byte(r.Text), &out); err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, i := range out.Todos {
		list = append(list, i.ID+" "+i.Status+" "+i.Content)
	}
	return r.Text, list
}

func TestTodoRules(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		calls []string
		want  []string
	}{
		{"nothing yet", []string{`{}`}, []string{}},
		{"write replaces", []string{
			`{"todos":[{"id":"1","content":"a","status":"pending"}]}`,
			`{"todos":[{"id":"2","content":"b","status":"completed"}]}`},
			[]string{"2 completed b"}},
		{"merge updates by id and appends", []string{
			`{"todos":[{"id":"1","content":"a","status":"pending"},{"id":"2","content":"b","status":"pending"}]}`,
			`{"todos":[{"id":"1","status":"completed"},{"id":"3","content":"c","status":"pending"}],"merge":true}`},
			[]string{"1 completed a", "2 pending b", "3 pending c"}},
		{"of equal ids the last wins at its later place", []string{
			`{"todos":[{"id":"1","content":"a","status":"pending"},{"id":"2","content":"b","status":"pending"},{"id":"1","content":"c","status":"completed"}]}`},
			[]string{"2 pending b", "1 completed c"}},
		{"reading changes nothing", []string{
			`{"todos":[{"id":"1","content":"a","status":"pending"}]}`, `{}`},
			[]string{"1 pending a"}},
		{"in progress is lifted above earlier pending", []string{
			`{"todos":[{"id":"1","content":"a","status":"completed"},{"id":"2","content":"b","status":"pending"},{"id":"3","content":"c","status":"in_progress"}]}`},
			[]string{"1 completed a", "3 in_progress c", "2 pending b"}},
		{"a list in a JSON text, number ids, odd states", []string{
			`{"todos":"[{\"id\":7,\"content\":\"a\",\"status\":\"DONE?\"},{\"content\":\"\"}]"}`},
			[]string{"7 pending a", "2 pending (no description)"}},
		{"an empty list clears", []string{
			`{"todos":[{"id":"1","content":"a","status":"pending"}]}`, `{"todos":[]}`},
			[]string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set := todo.New()
			var got []string
			for _, c := range tt.calls {
				_, got = call(t, set, "s", c)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if _, other := call(t, set, "other", `{}`); len(other) != 0 {
				t.Errorf("another session sees %v", other)
			}
		})
	}
}

func TestTodoCountsAndBounds(t *testing.T) {
	t.Parallel()
	set := todo.New()
	text, _ := call(t, set, "s", `{"todos":[{"id":"1","content":"a","status":"completed"},{"id":"2","content":"b","status":"cancelled"},{"id":"3","content":"c","status":"in_progress"}]}`)
	if want := `"revision":1,"summary":{"total":3,"pending":0,"in_progress":1,"completed":1,"cancelled":1}`; !strings.Contains(text, want) {
		t.Errorf("got %s, want %s in it", text, want)
	}
	var many []string
	for range 300 {
		many = append(many, `{"content":"`+strings.Repeat("ü", 5000)+`"}`)
	}
	text, list := call(t, set, "s", `{"todos":[`+strings.Join(many, ",")+`]}`)
	if len(list) != 256 || !strings.Contains(text, "last 44 were dropped") || !strings.HasSuffix(list[0], "… [cut]") || len([]rune(list[0])) > 4020 {
		t.Errorf("got %d items, first of %d characters", len(list), len([]rune(list[0])))
	}
}

func TestOpenItemsSurviveCompressionAndRestart(t *testing.T) {
	t.Parallel()
	set := todo.New()
	if got := set.Open("s"); got != "" {
		t.Errorf("nothing to carry over, got %q", got)
	}
	result, _ := call(t, set, "s", `{"todos":[{"id":"p","content":"whole","status":"completed"},{"id":"a","content":"part\none","status":"in_progress","parent":"p"},{"id":"b","content":"next","status":"pending"},{"id":"c","content":"old","status":"completed"},{"id":"d","content":"moot","status":"cancelled"}]}`)
	want := "[Your task list, kept because the conversation before this point was compressed]\n- [x] p. whole\n- [>] a. part one (part of p)\n- [ ] b. next"
	if diff := cmp.Diff(want, set.Open("s")); diff != "" {
		t.Error(diff)
	}

	set.Carry("s", "child")
	if diff := cmp.Diff(want, set.Open("child")); diff != "" {
		t.Error(diff)
	}
	result += "\n\n[A note from the user, sent while you worked; take it into account from now on:]\nhurry" // a steering note may stand below a result
	fresh := todo.New()
	fresh.Restore(hermes.SessionRef{ID: "s"}, []hermes.Message{
		{Role: hermes.RoleTool, ToolName: "todo", Parts: []hermes.Part{{Text: `{"todos":[{"id":"x","content":"older"}],"revision":1}`}}},
		{Role: hermes.RoleTool, ToolName: "todo", Parts: []hermes.Part{{Text: result}}},
		{Role: hermes.RoleTool, ToolName: "read_file", Parts: []hermes.Part{{Text: `{"todos":[{"id":"evil"}]}`}}},
		{Role: hermes.RoleTool, ToolName: "todo", Failed: true, Parts: []hermes.Part{{Text: `{"todos":[{"id":"failed"}]}`}}},
	})
	if diff := cmp.Diff(want, fresh.Open("s")); diff != "" {
		t.Errorf("from results: %s", diff)
	}
	old := hermes.UserText("Summary.\n\n" + want + "\n\nGo on.")
	fresh.Restore(hermes.SessionRef{ID: "u"}, []hermes.Message{old})
	if got := fresh.Open("u"); got != "" {
		t.Errorf("the user's text became a list: %s", got)
	}
	old.Synthetic = true
	fresh.Restore(hermes.SessionRef{ID: "t"}, []hermes.Message{old})
	if diff := cmp.Diff(want, fresh.Open("t")); diff != "" {
		t.Errorf("from a summary without anchors: %s", diff)
	}
	old.Parts[0].Anchors = &hermes.Anchors{Open: []hermes.PlanItem{{ID: "1", Content: "x. y (part of 7)", Status: "in_progress"}}}
	fresh.Restore(hermes.SessionRef{ID: "v"}, []hermes.Message{old})
	if want := "[Your task list, kept because the conversation before this point was compressed]\n- [>] 1. x. y (part of 7)"; fresh.Open("v") != want {
		t.Errorf("from anchors: %s", fresh.Open("v"))
	}

	call(t, set, "s", `{"todos":[{"id":"a","content":"x","status":"completed"}]}`)
	if got := set.Open("s"); got != "" {
		t.Errorf("all done gives nothing, got %q", got)
	}
}

func FuzzLast(f *testing.F) {
	f.Add(`{"todos":[{"id":1,"parent":"1","status":"pending"}]}`)
	f.Add("[Your task list, kept because the conversation before this point was compressed]\n- [>] a. b (part of a)\n- [")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range []hermes.Message{{Role: hermes.RoleTool, ToolName: "todo", Parts: []hermes.Part{{Text: text}}}, hermes.UserText(text)} {
			if list, ok := todo.Last([]hermes.Message{m}); ok {
				list.Open()
			}
		}
	})
}
