package bedrock_test

import (
	"testing"

	"hermes/hermestest/modelsuite"
	"hermes/internal/transport/bedrock"
)

func BenchmarkRequest2000(b *testing.B) {
	modelsuite.BenchmarkCall(b, bedrock.New(config(&modelsuite.Recorded{Raw: []byte(answer(modelsuite.Reply([]string{"ok"}, nil))), Kind: frames})), modelsuite.LongSession(2000))
}
