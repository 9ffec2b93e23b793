package session_test

import (
	"errors"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
)

// TestLatest is that of the folder, else that of any, and never one that the program began or that is empty.
func TestLatest(t *testing.T) {
	t.Parallel()
	st := hermestest.NewStore()
	if _, err := session.Latest(t.Context(), st, "/here"); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("without sessions: %v", err)
	}
	for i, row := range []hermes.Session{
		{ID: "here", Dir: "/here"}, {ID: "there", Dir: "/there"}, {ID: "child", Dir: "/here", Platform: "subagent"}, {ID: "empty", Dir: "/here"},
	} {
		row.Started = time.Unix(int64(i), 0)
		if err := st.CreateSession(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		l, err := st.Acquire(t.Context(), row.ID, hermes.Owner{Name: "test"}, time.Minute)
		if err != nil || row.ID == "empty" {
			continue
		}
		m := hermes.UserText("hello")
		m.Time = row.Started
		if _, err := st.Commit(t.Context(), l, hermes.Change{Append: []hermes.Message{m}}); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{"/here": "here", "/there": "there", "/elsewhere": "there"} {
		if row, err := session.Latest(t.Context(), st, dir); err != nil || row.ID != want {
			t.Errorf("in %s it is %q, %v", dir, row.ID, err)
		}
	}
}
