package bedrock_test

import (
	"testing"

	"hermes/hermestest"
	"hermes/internal/transport/bedrock"
)

func BenchmarkRequest2000(b *testing.B) {
	hermestest.BenchmarkCall(b, bedrock.New(config(&hermestest.Recorded{Raw: []byte(answer(hermestest.Reply([]string{"ok"}, nil))), Kind: frames})), hermestest.LongSession(2000))
}
