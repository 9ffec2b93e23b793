package ollama_test

import (
	"testing"

	"hermes/hermestest"
	"hermes/internal/transport/ollama"
)

func BenchmarkRequest2000(b *testing.B) {
	hermestest.BenchmarkCall(b, ollama.New(config(qwen, &hermestest.Recorded{Raw: []byte(answer(hermestest.Reply([]string{"ok"}, nil))), Kind: "application/x-ndjson"})), hermestest.LongSession(2000))
}
