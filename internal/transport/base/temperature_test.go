package base_test

import (
	"testing"

	"hermes/internal/transport/base"
)

func TestFamiliesWithATemperatureOfTheirOwn(t *testing.T) {
	t.Parallel()
	const none = -1
	for model, want := range map[string]float64{
		"kimi-k2-turbo-preview": none, "moonshotai/Kimi-K2-Instruct": none, "kimi-k2:1t": none, "moonshot-v1-8k": none, "moonshot.kimi-k2-thinking": none,
		"accounts/fireworks/models/kimi-k2p5": none,
		"arcee-ai/trinity-large-thinking":     0.5, "Trinity-Mini-Thinking": 0.5, "trinity-large-thinking:free": 0.5,
		"arcee-ai/trinity-mini": 0.2, "gpt-4o": 0.2, "qwen3-thinking": 0.2, "claude-sonnet-4-6": 0.2,
	} {
		asked := 0.2
		for _, given := range []*float64{&asked, nil} {
			got := float64(none)
			if v := base.Temperature(model, given); v != nil {
				got = *v
			}
			expected := want
			if given == nil && want == asked {
				expected = none
			}
			if got != expected {
				t.Errorf("%s, asked for %v: got %v, want %v", model, given != nil, got, expected)
			}
		}
	}
}
