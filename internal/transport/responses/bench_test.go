package responses_test

import (
	"testing"

	"hermes/hermestest"
	"hermes/internal/transport/responses"
)

func BenchmarkRequest2000(b *testing.B) {
	hermestest.BenchmarkCall(b, responses.New(config(&hermestest.Recorded{Raw: []byte(answer(hermestest.Reply([]string{"ok"}, nil))), Kind: "text/event-stream"})), hermestest.LongSession(2000))
}
