package gemini_test

import (
	"testing"

	"hermes/hermestest/modelsuite"
	"hermes/internal/transport/gemini"
)

func BenchmarkRequest2000(b *testing.B) {
	modelsuite.BenchmarkCall(b, gemini.New(config(&modelsuite.Recorded{Raw: []byte(answer(modelsuite.Reply([]string{"ok"}, nil))), Kind: "text/event-stream"})), modelsuite.LongSession(2000))
}
