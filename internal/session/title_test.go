package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
	"hermes/internal/session/jobs"
)

// titled sets the Title of a fixture's sessions.
func titled(find func(ctx context.Context, model string, transcript []hermes.Message) (string, error)) func(*session.Config) {
	return func(c *session.Config) {
		newRuntime := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			runtime, err := newRuntime(ctx, run)
			if err == nil {
				runtime.Jobs = append(runtime.Jobs, jobs.Title(find, quietLog))
			}
			return runtime, err
		}
	}
}

func TestFirstExchangeGetsATitleInTheBackground(t *testing.T) {
	t.Parallel()
	asked := make(chan []hermes.Message, 9)
	go1 := make(chan struct{})
	m := hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two"))
	h := newFixture(t, m, newToolTable(), titled(func(_ context.Context, _ string, transcript []hermes.Message) (string, error) {
		asked <- transcript
		<-go1
		return "Fix login", nil
	}))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("a"))
	until[hermes.TurnDone](e)
	submit(t, s, say("b")) // the session goes on meanwhile
	until[hermes.TurnDone](e)
	close(go1)
	if got := until[hermes.Titled](e); got.Title != "Fix login" {
		t.Errorf("title %q", got.Title)
	}
	if row, err := h.store.FindSession(t.Context(), s.ID()); err != nil || row.Title != "Fix login" {
		t.Errorf("stored %q, %v", row.Title, err)
	}
	if n := len(asked); n != 1 {
		t.Errorf("asked %d times", n)
	}
	if first := <-asked; len(first) != 2 {
		t.Errorf("asked with %d messages", len(first))
	}
}

func TestTitleOfTheUserStays(t *testing.T) {
	t.Parallel()
	begun, goOn := make(chan struct{}), make(chan struct{})
	ended := make(chan struct{})
	h := newFixture(t, hermestest.NewScript(hermestest.Say("one")), newToolTable(), titled(func(context.Context, string, []hermes.Message) (string, error) {
		close(begun)
		<-goOn
		defer close(ended)
		return "Found", nil
	}))
	s := h.open(t, session.Open{})
	submit(t, s, say("a"))
	<-begun
	submit(t, s, hermes.SetTitle{Title: "Mine"})
	close(goOn)
	<-ended
	if err := s.Close(); err != nil { // waits for the search
		t.Fatal(err)
	}
	if row, err := h.store.FindSession(t.Context(), s.ID()); err != nil || row.Title != "Mine" {
		t.Errorf("stored %q, %v", row.Title, err)
	}
}

func TestTakenTitleGetsANumber(t *testing.T) {
	t.Parallel()
	h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two")), newToolTable(),
		titled(func(context.Context, string, []hermes.Message) (string, error) { return "Same", nil }))
	for _, want := range []string{"Same", "Same #2"} {
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say("a"))
		if got := until[hermes.Titled](e); got.Title != want {
			t.Errorf("got %q, want %q", got.Title, want)
		}
	}
}

func TestNoTitleIsFound(t *testing.T) {
	t.Parallel()
	for name, find := range map[string]func(context.Context, string, []hermes.Message) (string, error){
		"an error": func(context.Context, string, []hermes.Message) (string, error) { return "", errors.New("no") },
		"nothing":  func(context.Context, string, []hermes.Message) (string, error) { return "", nil },
		"until the end": func(ctx context.Context, _ string, _ []hermes.Message) (string, error) {
			<-ctx.Done()
			return "late", nil
		},
	} {
		h := newFixture(t, hermestest.NewScript(hermestest.Say("one")), newToolTable(), titled(find))
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say("a"))
		until[hermes.TurnDone](e)
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if row, err := h.store.FindSession(t.Context(), s.ID()); err != nil || row.Title != "" {
			t.Errorf("%s: stored %q, %v", name, row.Title, err)
		}
	}
}

// TestATitleBeforeTheFirstMessage is stored with it, unless another session has it.
func TestATitleBeforeTheFirstMessage(t *testing.T) {
	t.Parallel()
	h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two")), newToolTable())
	s := h.open(t, session.Open{})
	submit(t, s, hermes.SetTitle{Title: " The\u200b bug "})
	turnOf(t, s, say("go"))
	row, err := h.store.FindSession(t.Context(), s.ID())
	if err != nil || row.Title != "The bug" {
		t.Errorf("stored as %q, %v", row.Title, err)
	}
	other := h.open(t, session.Open{})
	if err := other.Do(t.Context(), hermes.From{}, hermes.SetTitle{Title: "the BUG"}); !errors.Is(err, hermes.ErrTitleTaken) {
		t.Errorf("a title that is taken: %v", err)
	}
	if err := other.Do(t.Context(), hermes.From{}, hermes.SetTitle{Title: strings.Repeat("x", 200)}); err == nil {
		t.Error("a title that is too long was taken")
	}
	turnOf(t, other, say("go"))
	if row, err := h.store.FindSession(t.Context(), other.ID()); err != nil || row.Title != "" {
		t.Errorf("stored as %q, %v", row.Title, err)
	}
}
