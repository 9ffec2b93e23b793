package tui

import (
	"context"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
)

// bare is a runtime without tools.
type bare struct{}

func (bare) Specs() []hermes.Spec                                { return nil }
func (bare) Spec(string) (hermes.Spec, bool)                     { return hermes.Spec{}, false }
func (bare) Preview(hermes.ToolCall) string                      { return "" }
func (bare) Canonical(c hermes.ToolCall) string                  { return c.Arguments }
func (bare) Run(context.Context, *hermes.Call) (r hermes.Result) { return r }

func (bare) Prompt(context.Context, hermes.Session, []hermes.Spec) (hermes.SystemPrompt, error) {
	return hermes.SystemPrompt{Text: "You are a test."}, nil
}

type oneModel struct{ model hermes.Model }

func (m oneModel) Model(context.Context, hermes.ModelChoice) (hermes.Model, error) {
	return m.model, nil
}

// TestAStuckTerminalLosesNothing: the chat reads nothing while more goes by than the session
// keeps for it. When it reads again it gets the whole answer, the end of the turn, and the next turn.
func TestAStuckTerminalLosesNothing(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 800_000) // 4 MB
	m := session.NewManager(session.Config{
		Store: hermestest.NewStore(), Models: oneModel{hermestest.NewScript(hermestest.Say(long), hermestest.Say("next"))}, Owner: hermes.Owner{Name: "here"},
		NewRuntime: func(context.Context, hermes.RunSpec) (*session.Runtime, error) {
			return &session.Runtime{Tools: bare{}, Prompt: bare{}}, nil
		},
	})
	defer m.Close()
	s, err := m.Open(t.Context(), session.Open{})
	if err != nil {
		t.Fatal(err)
	}
	w := Wrap(s, hermes.From{Client: "stuck"})
	stuck, cancel := w.Subscribe(0)
	defer cancel()
	quick, stop := Wrap(s, hermes.From{Client: "quick"}).Subscribe(0)
	defer stop()
	say := func(text string) {
		if err := w.Submit(t.Context(), hermes.Say{Parts: []hermes.Part{{Text: text}}}); err != nil {
			t.Fatal(err)
		}
	}
	until := func(events <-chan hermes.Event) (text string, stored string) {
		for e := range events {
			switch e := e.(type) {
			case hermes.TextDelta:
				text += e.Text
			case hermes.Appended:
				stored = e.Message.Text()
			case hermes.TurnDone:
				return text, stored
			}
		}
		t.Fatal("the session ended")
		return "", ""
	}
	say("go")
	until(quick)
	if _, stored := until(stuck); stored != long {
		t.Errorf("the stored answer has %d bytes, want %d", len(stored), len(long))
	}
	say("on")
	if text, stored := until(stuck); text != "next" || stored != "next" {
		t.Errorf("the next turn says %q, stored %q", text, stored)
	}
}
