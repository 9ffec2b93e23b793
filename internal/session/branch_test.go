package session_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
)

func TestBranchGoesOnWithTheSamePrefix(t *testing.T) {
	t.Parallel()
	script := hermestest.NewScript(hermestest.Step{Text: "one"}, hermestest.Step{Text: "two"}, hermestest.Step{Text: "three"})
	h := newFixture(t, script, newToolTable(echo("look")))
	s := h.open(t, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}}, Title: "plan"})
	e := listen(t, s)
	submit(t, s, say("first"))
	until[hermes.TurnDone](e)
	submit(t, s, say("second"))
	until[hermes.TurnDone](e)

	h.system = "another prompt by now"
	row, err := h.Branch(t.Context(), s.ID(), "")
	if err != nil {
		t.Fatal(err)
	}
	if row.Parent != s.ID() || row.Title != "plan #2" || row.Messages != 4 || row.Turns != 2 {
		t.Errorf("branch %+v", row)
	}
	b := h.open(t, session.Open{Run: hermes.RunSpec{Session: row.ID}})
	eb := listen(t, b)
	submit(t, b, say("elsewhere"))
	until[hermes.TurnDone](eb)

	requests := script.Requests()
	before, after := requests[1], requests[2]
	if before.System != after.System || !cmp.Equal(before.Tools, after.Tools) {
		t.Error("the prefix changed")
	}
	if diff := cmp.Diff(texts(before.Messages), texts(after.Messages[:len(before.Messages)])); diff != "" {
		t.Errorf("the messages changed (-want +got):\n%s", diff)
	}
	if got := stored(t, h.store, s.ID()); len(got) != 4 {
		t.Errorf("the old session has %v", got)
	}
}

func texts(list []hermes.Message) []string {
	var out []string
	for _, m := range list {
		out = append(out, string(m.Role)+": "+m.Text())
	}
	return out
}

// storeWith returns a store with a session of these messages.
func storeWith(t *testing.T, row hermes.Session, list ...hermes.Message) hermes.Store {
	t.Helper()
	s := hermestest.NewStore()
	row.Started = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	if err := s.CreateSession(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	l, err := s.Acquire(t.Context(), row.ID, hermes.Owner{Name: "me"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), l, hermes.Change{Append: list}); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBranchLeavesOutWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	calls := []hermes.ToolCall{{ID: "1", Name: "look", Arguments: "{}"}, {ID: "2", Name: "look", Arguments: "{}"}}
	s := storeWith(t, hermes.Session{ID: "a", System: "you are", Layers: []hermes.PromptLayer{{Name: "identity", Bytes: 7}}, Tools: json.RawMessage(`[]`)},
		hermes.UserText("go"), hermes.Message{Role: hermes.RoleAssistant, Calls: calls},
		hermes.Message{Role: hermes.RoleTool, CallID: "1", ToolName: "look", Parts: []hermes.Part{{Text: "seen"}}})
	row, err := session.Branch(t.Context(), s, time.Now(), "a", "aside")
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Messages(t.Context(), row.ID, hermes.Range{})
	if err != nil || len(list) != 1 || list[0].Text() != "go" {
		t.Errorf("%v, %v", list, err)
	}
	if row.System != "you are" || len(row.Layers) != 1 || !row.Ended.IsZero() || row.Title != "aside" {
		t.Errorf("branch %+v", row)
	}
}

func TestBranchTitles(t *testing.T) {
	t.Parallel()
	s := storeWith(t, hermes.Session{ID: "a", Title: "plan"}, hermes.UserText("go"))
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for _, want := range []string{"plan #2", "plan #3"} {
		if row, err := session.Branch(t.Context(), s, now, "a", ""); err != nil || row.Title != want {
			t.Errorf("got %q, %v; want %q", row.Title, err, want)
		}
	}
	if _, err := session.Branch(t.Context(), s, now, "a", "plan"); !errors.Is(err, hermes.ErrTitleTaken) {
		t.Errorf("a taken title: %v", err)
	}
	if _, err := session.Branch(t.Context(), s, now, "nothing", ""); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("no session: %v", err)
	}
	empty := storeWith(t, hermes.Session{ID: "e"})
	if _, err := session.Branch(t.Context(), empty, now, "e", ""); err == nil {
		t.Error("an empty session was branched")
	}
	if rows, _ := s.ListSessions(t.Context(), hermes.SessionFilter{Limit: -1}); len(rows) != 3 {
		t.Errorf("%d sessions are left", len(rows))
	}
}

func TestBranchThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	inner := storeWith(t, hermes.Session{ID: "a"}, hermes.UserText("go"))
	s := &broken{Store: inner, err: errors.New("disk full")}
	if _, err := session.Branch(t.Context(), s, time.Now(), "a", ""); err == nil {
		t.Fatal("no error")
	}
	if rows, _ := inner.ListSessions(t.Context(), hermes.SessionFilter{Limit: -1}); len(rows) != 1 {
		t.Errorf("%d sessions are left", len(rows))
	}
}
