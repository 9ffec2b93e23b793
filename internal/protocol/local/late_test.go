package local_test

import (
	"errors"
	"testing"
	"time"

	"hermes"
)

// TestALateReplyToAChildThatHasEnded: it says who was first, although the session is gone.
func TestALateReplyToAChildThatHasEnded(t *testing.T) {
	t.Parallel()
	c, store := mustClient(t)
	if err := store.CreateSession(t.Context(), hermes.Session{ID: "child", Platform: hermes.PlatformChild, Started: time.Now()}); err != nil {
		t.Fatal(err)
	}
	l, err := store.Acquire(t.Context(), "child", hermes.Owner{Name: "here"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for id, answered := range map[string]bool{"1.1": true, "1.2": false} {
		q := hermes.StoredQuestion{Asked: hermes.Asked{ID: id, At: time.Now(), Question: &hermes.Question{Text: "sure?"}}, Closed: time.Now(), Answered: answered, By: user}
		if err := store.SaveQuestion(t.Context(), l, q); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]error{"1.1": hermes.ErrAnswered{By: user}, "1.2": hermes.ErrClosed, "1.3": hermes.ErrClosed} {
		if err := c.Do(t.Context(), "child", hermes.From{}, hermes.Reply{ID: id}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", id, err, want)
		}
	}
}
