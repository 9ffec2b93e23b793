package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
	"hermes/internal/session/jobs"
)

// reviewed reviews a fixture's sessions after each turn.
func reviewed(do func(ctx context.Context, c jobs.Conversation, asked bool) (string, error)) func(*session.Config) {
	return withRuntime(func(r *session.Runtime) {
		r.Jobs = append(r.Jobs, jobs.Review(reviewer{due: true, review: do}, jobs.Defer{}, time.Now, quietLog))
	})
}

func TestReviewRunsAfterEachTurnAndReportsIt(t *testing.T) {
	t.Parallel()
	h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two")), newToolTable(),
		reviewed(func(_ context.Context, c jobs.Conversation, asked bool) (string, error) {
			if asked {
				return "looked for " + c.Focus, nil
			}
			return c.Transcript[len(c.Transcript)-1].Text() + " was looked at", nil
		}))
	s := h.open(t, session.Open{From: hermes.From{Attends: true}})
	e := listen(t, s)
	if err := s.Do(t.Context(), hermes.From{}, hermes.StartReview{}); err == nil {
		t.Error("an empty session was reviewed")
	}
	submit(t, s, say("first"))
	if n := until[hermes.Notice](e); n.Text != "one was looked at" {
		t.Errorf("notice %q", n.Text)
	}
	submit(t, s, hermes.StartReview{Focus: "tests"})
	if n := until[hermes.Notice](e); n.Text != "looked for tests" {
		t.Errorf("notice %q", n.Text)
	}
	if got := stored(t, h.store, s.ID()); len(got) != 2 {
		t.Errorf("the transcript is %q", got)
	}
}

func TestReviewEndsWithTheSessionAndRunsOnce(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 8)
	h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two")), newToolTable(),
		reviewed(func(ctx context.Context, _ jobs.Conversation, _ bool) (string, error) {
			begun <- struct{}{}
			<-ctx.Done()
			return "", ctx.Err()
		}))
	s := h.open(t, session.Open{From: hermes.From{Attends: true}})
	e := listen(t, s)
	submit(t, s, say("first"))
	until[hermes.TurnDone](e)
	<-begun
	submit(t, s, say("second")) // the session goes on meanwhile
	until[hermes.TurnDone](e)
	if err := s.Do(t.Context(), hermes.From{}, hermes.StartReview{}); err == nil || !strings.Contains(err.Error(), "already running") {
		t.Errorf("a second review: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(begun) != 0 {
		t.Error("two reviews ran")
	}
}

func TestNoReviewWithoutAListener(t *testing.T) {
	t.Parallel()
	h := newFixture(t, hermestest.NewScript(hermestest.Say("one")), newToolTable(),
		reviewed(func(context.Context, jobs.Conversation, bool) (string, error) {
			t.Error("reviewed")
			return "", nil
		}))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("first"))
	until[hermes.TurnDone](e)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	plain := newFixture(t, hermestest.NewScript(hermestest.Say("one")), newToolTable())
	s = plain.open(t, session.Open{From: hermes.From{Attends: true}})
	e = listen(t, s)
	submit(t, s, say("first"))
	until[hermes.TurnDone](e)
	if err := s.Do(t.Context(), hermes.From{}, hermes.StartReview{}); !errors.Is(err, session.ErrNoReview) {
		t.Errorf("got %v", err)
	}
}
