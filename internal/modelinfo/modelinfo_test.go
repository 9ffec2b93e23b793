package modelinfo_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/modelinfo"
)

func TestModelsAreFoundInAllSpellings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ service, name, want string }{
		{"anthropic", "claude-sonnet-4-6", "claude-sonnet-4.6"},
		{"anthropic", "claude-sonnet-4.6", "claude-sonnet-4.6"},
		{"anthropic", "Claude-Sonnet-4-5-20250929", "claude-sonnet-4.5"},
		{"anthropic", "claude-opus-4-20250514", "claude-opus-4"},
		{"anthropic", "claude-3-7-sonnet-latest", "claude-3.7-sonnet"},
		{"openrouter", "anthropic/claude-sonnet-4.6", "claude-sonnet-4.6"},
		{"openrouter", "anthropic/claude-3.7-sonnet:thinking", "claude-3.7-sonnet"},
		{"bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4.5"},
		{"vertex", "claude-opus-4-1@20250805", "claude-opus-4.1"},
		{"openai-api", "gpt-5-2025-08-07", "gpt-5"},
		{"openai-api", "gpt-5.2-chat-latest", "gpt-5.2-chat"},
		{"openai-api", "gpt-4o-2024-05-13", "gpt-4o-2024-05-13"},
		{"openai-api", "gpt-4o-2024-08-06", "gpt-4o"},
		{"gemini", "models/gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"},
		{"gemini", "gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"},
		{"gemini", "gemini-2.0-flash-001", "gemini-2.0-flash"},
		{"gemini", "gemini-3-flash-preview", "gemini-3-flash"},
		{"kimi-coding", "kimi-k2-0905-preview", "kimi-k2-0905"},
		{"minimax", "MiniMax-M2", "minimax-m2"},
		{"groq", "openai/gpt-oss-120b", "openai/gpt-oss-120b"},
		{"fireworks", "accounts/fireworks/models/glm-4p6", ""},
		{"openrouter", "z-ai/glm-4.6:exacto", "glm-4.6"},
		{"ollama", "qwen3:32b", "qwen/qwen3-32b"},
		{"x", "someone/else", ""},
		{"x", "", ""},
	} {
		m, found := modelinfo.Find(c.service, c.name)
		if m.Name != c.want || c.want != "" && !found {
			t.Errorf("%s:%s is %q (%v), want %q", c.service, c.name, m.Name, found, c.want)
		}
	}
}

func TestWhatIsKnownOfAModel(t *testing.T) {
	t.Parallel()
	got, found := modelinfo.Find("anthropic", "claude-haiku-4-5-20251001")
	want := modelinfo.Model{Name: "claude-haiku-4.5", Context: 200_000, Output: 64_000, Vision: true, Reasoning: true, Tools: true,
		Price: &modelinfo.Price{Input: 1_000_000, Output: 5_000_000, CacheRead: 100_000, CacheWrite: 1_250_000, CacheWriteLong: 2_000_000}}
	if d := cmp.Diff(want, got); !found || d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	tiered, _ := modelinfo.Find("gemini", "gemini-2.5-pro")
	if len(tiered.Price.Above) != 1 || tiered.Price.Above[0].Prompt != 200_000 || tiered.Price.Above[0].Price.Output != 15_000_000 {
		t.Errorf("the price of long prompts is %+v", tiered.Price.Above)
	}
}

// TestPricesAreNeverGuessed: the price of one service says nothing about
// another's.
func TestPricesAreNeverGuessed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		service, name string
		input         int64 // -1: no price
	}{
		{"anthropic", "claude-sonnet-4-6", 3_000_000},
		{"openrouter", "anthropic/claude-sonnet-4.6", 3_000_000},
		{"openrouter", "anthropic/claude-sonnet-4.6:nitro", -1},
		{"openrouter", "z-ai/glm-4.6", -1},
		{"openrouter", "z-ai/glm-4.6:free", 0},
		{"zai", "glm-4.6", 600_000},
		{"custom:mine", "glm-4.6", -1},
		{"", "gpt-5", -1},
		{"openai-api", "gpt-99", -1},
		{"deepseek", "deepseek-chat", -1},
		{"groq", "openai/gpt-oss-120b", 150_000},
		{"alibaba-coding-plan", "qwen3-coder-plus", 0},
		{"copilot", "never-heard-of", 0},
		{"ollama", "llama3.2:3b", 0},
	} {
		m, _ := modelinfo.Find(c.service, c.name)
		got := int64(-1)
		if m.Price != nil {
			got = m.Price.Input
		}
		if got != c.input {
			t.Errorf("%s:%s costs %d, want %d", c.service, c.name, got, c.input)
		}
	}
	if !modelinfo.Plan("copilot") || modelinfo.Plan("ollama") || modelinfo.Plan("anthropic") {
		t.Error("plans are mixed up")
	}
}

func TestClosedModels(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"claude-sonnet-4-6": true, "openai/gpt-5": true, "gemini-2.5-flash": true, "grok-4": true,
		"gpt-oss-120b": false, "glm-4.6": false, "qwen3:32b": false, "my-own": false, "": false,
	} {
		if got := modelinfo.Closed(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSameModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"anthropic/claude-sonnet-4.6", "claude-sonnet-4-6", true},
		{"openai/gpt-5-2025-08-07", "gpt-5", true},
		{"gpt-5", "gpt-5-mini", false},
		{"claude-opus-4-5", "claude-opus-4", false},
		{"gpt-5.1", "gpt-5", false},
	} {
		if got := modelinfo.Same(c.a, c.b); got != c.same {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

func TestProbingStepsDown(t *testing.T) {
	t.Parallel()
	got := []int{}
	for w := modelinfo.StepDown(0); w > 0; w = modelinfo.StepDown(w) {
		got = append(got, w>>10)
	}
	if d := cmp.Diff([]int{256, 128, 64, 32, 16, 8}, got); d != "" {
		t.Error(d)
	}
	if w := modelinfo.StepDown(200_000); w != 128<<10 {
		t.Errorf("below 200,000 comes %d", w)
	}
}

func TestLimitsAreReadFromErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 150123 tokens.":                          128_000,
		"prompt is too long: 212345 tokens > 200000 maximum":                                                                               200_000,
		"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).":                                          1_048_576,
		"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it":                                        4096,
		"You passed 9001 input tokens, however the model's context length is only 8192 tokens":                                             8192,
		"This endpoint's maximum context length is 262,144 tokens. However, you requested about 300000 tokens":                             262_144,
		"exceeds the context window of 32k tokens":                                                                                         32_000,
		"the engine prompt length 40960 exceeds the max_model_len 32768":                                                                   32_768,
		"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4000 `inputs` tokens and 500 `max_new_tokens`": 4097,
		"inputs tokens + max_new_tokens must be <= 131073. Given: 150000 inputs tokens and 2048 max_new_tokens":                            131_073,
		"`inputs` must have less than 4096 tokens. Given: 5000":                                                                            4096,
		"This model's maximum prompt length is 131072 but the request contains 537812 tokens.":                                             131_072,
		"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]":                                           129_024,
		"input length and `max_tokens` exceed context limit: 190000 + 21000 > 200000, decrease input length or `max_tokens` and try again": 200_000,
		"prompt token count of 130000 exceeds the limit of 128000":                                                                         128_000,
		"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length":                           32_768,
		"The prompt is too long: 150000, model maximum context length: 131072":                                                             131_072,
		"Please reduce the length of the messages. Current length is 9000 while limit is 8192":                                             8192,
		"the input token count is 33000 but model only supports up to 32768":                                                               32_768,
		"too many tokens: total number of tokens in the prompt cannot exceed 4081":                                                         4081,
		"prompt too long; exceeded max context length by 1500 tokens":                                                                      0,
		"invalid params, context window exceeds limit (2013)":                                                                              0,
		"your prompt has 150000 tokens and is too long":                                                                                    0,
		"maximum context length is 7 tokens":                                                                                               0,
		"maximum context length is 99999999999999999999":                                                                                   0,
		"something else": 0,
		"":               0,
	} {
		if got := modelinfo.LimitIn(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func FuzzNamesAndLimits(f *testing.F) {
	f.Add("anthropic", "us.anthropic.claude-sonnet-4-5-20250929-v1:0")
	f.Add("openrouter", "a/b.c_d-2025-01-02:free")
	f.Fuzz(func(t *testing.T, service, name string) {
		modelinfo.Find(service, name)
		if !modelinfo.Same(name, name) {
			t.Errorf("%q is not itself", name)
		}
		if n := modelinfo.LimitIn(name); n < 0 || n > 20_000_000 {
			t.Errorf("a limit of %d", n)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	for b.Loop() {
		modelinfo.Find("anthropic", "claude-sonnet-4-5-20250929")
	}
}
