package gemini_test

import (
	"testing"

	"hermes/hermestest"
	"hermes/internal/transport/gemini"
)

func BenchmarkRequest2000(b *testing.B) {
	hermestest.BenchmarkCall(b, gemini.New(config(&hermestest.Recorded{Raw: []byte(answer(hermestest.Reply([]string{"ok"}, nil))), Kind: "text/event-stream"})), hermestest.LongSession(2000))
}
