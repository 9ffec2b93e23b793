package responses_test

import (
	"testing"

	"hermes/hermestest/modelsuite"
	"hermes/internal/transport/responses"
)

func BenchmarkRequest2000(b *testing.B) {
	modelsuite.BenchmarkCall(b, responses.New(config(&modelsuite.Recorded{Raw: []byte(answer(modelsuite.Reply([]string{"ok"}, nil))), Kind: "text/event-stream"})), modelsuite.LongSession(2000))
}
