package provider

import "strings"

// lineage says where a family of models comes from.
type lineage struct {
	prefix string // of the bare name
	vendor string // as aggregators write it
	home   string // the maker's own service
}

// familyOf finds the lineage of a bare name; the zero value if unknown.
func familyOf(name string) lineage {
	name = strings.ToLower(name)
	for _, l := range []lineage{
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
		if strings.HasPrefix(name, l.prefix) {
			return l
		}
	}
	return lineage{}
}

// nameFor writes a model's name as a service wants it: Anthropic without
// vendor and with hyphens, Copilot without vendor and with dots, aggregators
// with the vendor. For others it only removes their own name from the front.
func nameFor(r Row, name string) string {
	switch {
	case name == "":
		return ""
	case r.Name == "anthropic":
		name = strings.TrimPrefix(name, "anthropic/")
		if strings.HasPrefix(name, "claude") {
			name = strings.ReplaceAll(name, ".", "-")
		}
		return name
	case r.Name == "copilot":
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			name = name[i+1:]
		}
		return dotted(name)
	case r.Aggregator:
		return withVendor(r, name)
	}
	return withoutOwn(r, name)
}

func withVendor(r Row, name string) string {
	if short := withoutOwn(r, name); strings.Contains(short, "/") {
		return short // openrouter/anthropic/claude…, but not openrouter/auto
	}
	if strings.Contains(name, "/") {
		return name
	}
	if vendor := familyOf(name).vendor; vendor != "" {
		return vendor + "/" + name
	}
	return name
}

// withoutOwn removes the service's own name or alias from the front.
func withoutOwn(r Row, name string) string {
	head, rest, ok := strings.Cut(name, "/")
	if !ok || rest == "" {
		return name
	}
	head = strings.ToLower(head)
	if head == r.Name {
		return rest
	}
	for _, a := range r.Aliases {
		if head == a {
			return rest
		}
	}
	return name
}

// dotted writes a version with dots: claude-sonnet-4-6 is claude-sonnet-4.6.
func dotted(name string) string {
	b := []byte(name)
	digit := func(i int) bool { return i >= 0 && i < len(b) && b[i] >= '0' && b[i] <= '9' }
	for i := range b {
		if b[i] == '-' && digit(i-1) && !digit(i-2) && digit(i+1) && !digit(i+3) {
			b[i] = '.'
		}
	}
	return string(b)
}
