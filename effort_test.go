package hermes_test

import (
	"testing"

	"hermes"
)

func TestParseEffort(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]hermes.Effort{
		"none": hermes.EffortNone, "minimal": hermes.EffortMinimal, "low": hermes.EffortLow, "medium": hermes.EffortMedium,
		"high": hermes.EffortHigh, "xhigh": hermes.EffortXHigh, "max": hermes.EffortMax, "ultra": hermes.EffortMax,
		" HIGH ": hermes.EffortHigh, "XHigh": hermes.EffortXHigh,
	} {
		if got, ok := hermes.ParseEffort(word); got != want || !ok {
			t.Errorf("%q: got %q, %v", word, got, ok)
		}
	}
	for _, word := range []string{"", "on", "hard", "highest", "x high", "1"} {
		if _, ok := hermes.ParseEffort(word); ok {
			t.Errorf("%q was accepted as a level", word)
		}
	}
}

func TestEffortOfAModel(t *testing.T) {
	t.Parallel()
	overrides := map[string]string{"claude-sonnet-4.6": "high", "OpenAI/GPT-5.1": "minimal", "qwen3:8b": "none", "bad": "much"}
	for model, want := range map[string]hermes.Effort{
		"anthropic:claude-sonnet-4-6":            hermes.EffortHigh,
		"openrouter:anthropic/claude-sonnet-4.6": hermes.EffortHigh,
		"Claude_Sonnet_4.6":                      hermes.EffortHigh,
		"openai-api:gpt-5-1":                     hermes.EffortMinimal,
		"ollama:qwen3:8b":                        hermes.EffortNone,
		"custom:box:qwen3:8b":                    hermes.EffortNone,
		"qwen3-8b":                               hermes.EffortNone,
		"bad":                                    "medium",
		"gpt-5.2":                                "medium",
		"":                                       "medium",
	} {
		if got := hermes.EffortOf(model, " Medium", overrides); got != want {
			t.Errorf("%q: got %q, want %q", model, got, want)
		}
	}
	if got := hermes.EffortOf("x", "nonsense", nil); got != "" {
		t.Errorf("invalid level: got %q, want empty", got)
	}
}
