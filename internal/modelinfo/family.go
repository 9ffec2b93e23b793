package modelinfo

import "strings"

// Family says where a family of models comes from.
type Family struct {
	Prefix string // of the bare name
	Vendor string // as aggregators write it
	Home   string // the maker's own service; empty for open weights, which others serve
}

// FamilyOf finds the family of a bare name; the zero value if unknown.
func FamilyOf(name string) Family {
	name = strings.ToLower(name)
	for _, f := range []Family{
		{"claude", "anthropic", "anthropic"},
		{"gpt-oss", "openai", ""},
		{"gpt-", "openai", "openai-api"}, {"chatgpt", "openai", "openai-api"}, {"codex", "openai", "openai-api"},
		{"o1", "openai", "openai-api"}, {"o3", "openai", "openai-api"}, {"o4", "openai", "openai-api"},
		{"gemini", "google", "gemini"}, {"gemma", "google", ""},
		{"grok", "x-ai", "xai"},
		{"deepseek", "deepseek", "deepseek"},
		{"glm", "z-ai", "zai"},
		{"kimi", "moonshotai", "kimi-coding"},
		{"qwen", "qwen", "alibaba"},
		{"minimax", "minimax", "minimax"},
		{"llama", "meta-llama", ""},
		{"mistral", "mistralai", "mistral"}, {"devstral", "mistralai", "mistral"}, {"codestral", "mistralai", "mistral"},
		{"hermes", "nousresearch", ""},
		{"mimo", "xiaomi", "xiaomi"},
		{"step-", "stepfun", "stepfun"},
		{"nemotron", "nvidia", "nvidia"},
	} {
		if strings.HasPrefix(name, f.Prefix) {
			return f
		}
	}
	return Family{}
}
