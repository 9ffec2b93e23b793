package session_test

import (
	"context"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
)

// shelf returns a scripted model for each reference.
type shelf map[string]*hermestest.Script

func (s shelf) Model(_ context.Context, c hermes.ModelChoice) (hermes.Model, error) {
	ref := c.Ref
	if m, ok := s[ref]; ok {
		return named{m, ref}, nil
	}
	return nil, hermes.ErrNoModel
}

type named struct {
	hermes.Model
	id string
}

func (n named) ID() string { return n.id }

func TestModelForOneTurnOnly(t *testing.T) {
	t.Parallel()
	models := shelf{"": hermestest.NewScript(hermestest.Say("usual"), hermestest.Say("usual again")), "other": hermestest.NewScript(hermestest.Say("other"))}
	h := newFixture(t, nil, newToolTable(), func(c *session.Config) { c.Models = models })
	s := h.open(t, session.Open{})
	e := listen(t, s)
	ask := func(want string) {
		t.Helper()
		submit(t, s, say("go"))
		if done := until[hermes.TurnDone](e); done.Text != want {
			t.Errorf("answered %q, want %q", done.Text, want)
		}
	}
	ask("usual")
	submit(t, s, hermes.SetModel{Ref: "other", Once: true})
	if st, err := s.State(t.Context()); err != nil || st.Next != "other" || st.Row.Model != "" {
		t.Errorf("next %q, row %q, %v", st.Next, st.Row.Model, err)
	}
	ask("other")
	ask("usual again")
	if st, err := s.State(t.Context()); err != nil || st.Next != "" || st.Row.Model != "" {
		t.Errorf("next %q, row %q, %v", st.Next, st.Row.Model, err)
	}
	if err := s.Do(t.Context(), hermes.From{}, hermes.SetModel{Ref: "nope", Once: true}); err == nil {
		t.Error("an unknown model was accepted")
	}
}

func TestEffortOfASession(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(hermestest.Say("1"), hermestest.Say("2"), hermestest.Say("3"))
	h := newFixture(t, m, newToolTable(), func(c *session.Config) {
		c.Effort = func(string) hermes.Effort { return hermes.EffortLow }
	})
	s := h.open(t, session.Open{})
	e := listen(t, s)
	for _, set := range []hermes.Effort{"", hermes.EffortHigh, ""} {
		submit(t, s, hermes.SetEffort{Effort: set})
		submit(t, s, say("go"))
		until[hermes.TurnDone](e)
	}
	for i, want := range []hermes.Effort{hermes.EffortLow, hermes.EffortHigh, hermes.EffortLow} {
		if got := m.Requests()[i].Effort; got != want {
			t.Errorf("request %d: effort %q, want %q", i, got, want)
		}
	}
}
