package session_test

import (
	"context"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
	"hermes/internal/session"
)

// BenchmarkTurn is a turn without questions, with a frontend that reads.
func BenchmarkTurn(b *testing.B) {
	tools := newToolTable(echo("look"))
	model := hermestest.NewScript(hermestest.CallTool("look", `{}`), hermestest.Say("this is a short answer of some words")).Forever()
	m := session.NewManager(session.Config{
		Store: hermestest.NewStore(), Models: models{model}, Owner: hermes.Owner{Name: "here"},
		NewRuntime: func(context.Context, hermes.RunSpec) (*session.Runtime, error) {
			return &session.Runtime{Tools: tools, Prompt: prompter(func() (hermes.SystemPrompt, error) { return hermes.SystemPrompt{Text: "You are a test."}, nil })}, nil
		},
	})
	defer m.Close()
	b.ReportAllocs()
	for b.Loop() {
		s, err := m.Open(b.Context(), session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "test"}}})
		if err != nil {
			b.Fatal(err)
		}
		_, events, err := s.Attach(b.Context(), hermes.From{Client: "one", Attends: true}, protocol.After{})
		if err != nil {
			b.Fatal(err)
		}
		for range 5 {
			if err := s.Do(b.Context(), hermes.From{}, say("go")); err != nil {
				b.Fatal(err)
			}
			for e := range events {
				if _, done := e.Event.(hermes.TurnDone); done {
					break
				}
			}
		}
		s.Close()
	}
}
