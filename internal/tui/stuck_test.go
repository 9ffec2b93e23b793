package tui

import (
	"context"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
	"hermes/internal/protocol/local"
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

// mustReal returns a client over real sessions whose model says the steps, and their manager.
func mustReal(t *testing.T, steps ...hermestest.Step) (*local.Client, *session.Manager) {
	t.Helper()
	store := hermestest.NewStore()
	m := session.NewManager(session.Config{
		Store: store, Models: oneModel{hermestest.NewScript(steps...)}, Owner: hermes.Owner{Name: "here"},
		NewRuntime: func(context.Context, hermes.RunSpec) (*session.Runtime, error) {
			return &session.Runtime{Tools: bare{}, Prompt: bare{}}, nil
		},
	})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return local.New(local.Config{
		Sessions: func(context.Context) (*session.Manager, error) { return m, nil },
		Store:    func(context.Context) (hermes.Store, error) { return store, nil },
	}), m
}

// TestAStuckTerminalLosesNothing: the chat reads nothing while more goes by than the session
// keeps for it. When it reads again it gets the whole answer, the end of the turn, and the next turn.
func TestAStuckTerminalLosesNothing(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 800_000) // 4 MB
	c, _ := mustReal(t, hermestest.Say(long), hermestest.Say("next"))
	watch := func(from hermes.From) (gotSession, *[]hermes.Event, func()) {
		a := &attached{client: c, from: from}
		got := a.open(t.Context(), Start{}, want{})
		if got.link == nil {
			t.Fatal(got.opened.err)
		}
		t.Cleanup(got.link.detach)
		var events []hermes.Event
		seen := &catchup{emit: func(e protocol.Envelope) { events = append(events, e.Event) }}
		seen.take(got.update)
		return got, &events, func() { seen.take(<-got.link.updates) }
	}
	stuck, events, next := watch(hermes.From{Client: "stuck"})
	id := stuck.link.id
	a := &attached{client: c, from: hermes.From{Client: "quick"}}
	quick := a.open(t.Context(), Start{Attach: id}, want{first: true})
	if quick.link == nil || !quick.link.foreign {
		t.Fatalf("attached %+v", quick)
	}
	t.Cleanup(quick.link.detach)
	say := func(text string) {
		if err := c.Do(t.Context(), id, a.from, hermes.Say{Parts: []hermes.Part{{Text: text}}}); err != nil {
			t.Fatal(err)
		}
	}
	until := func() (text, stored string) {
		for i := 0; ; i++ {
			for i >= len(*events) {
				next()
			}
			switch e := (*events)[i].(type) {
			case hermes.TextDelta:
				text += e.Text
			case hermes.Appended:
				stored = e.Message.Text()
			case hermes.TurnDone:
				*events = (*events)[i+1:]
				return text, stored
			}
		}
	}
	say("go")
	over := false
	whole := &catchup{emit: func(e protocol.Envelope) {
		_, done := e.Event.(hermes.TurnDone)
		over = over || done
	}}
	for whole.take(quick.update); !over; {
		whole.take(<-quick.link.updates)
	}
	if _, stored := until(); stored != long {
		t.Errorf("the stored answer has %d bytes, want %d", len(stored), len(long))
	}
	say("on")
	if text, stored := until(); text != "next" || stored != "next" {
		t.Errorf("the next turn says %q, stored %q", text, stored)
	}
}
