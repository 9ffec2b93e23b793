package ollama_test

import (
	"testing"

	"hermes/hermestest/modelsuite"
	"hermes/internal/transport/ollama"
)

func BenchmarkRequest2000(b *testing.B) {
	modelsuite.BenchmarkCall(b, ollama.New(config(qwen, &modelsuite.Recorded{Raw: []byte(answer(modelsuite.Reply([]string{"ok"}, nil))), Kind: "application/x-ndjson"})), modelsuite.LongSession(2000))
}
