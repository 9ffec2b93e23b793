package chat

import (
	"strings"

	"hermes"
)

// family returns the model's name without vendor, in lower case.
func family(model string) string {
	name := strings.ToLower(model)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	return name
}

// thinksFirst reports whether a model belongs to OpenAI's reasoning families. They
// use developer instead of system, max_completion_tokens instead of max_tokens,
// and no temperature.
func thinksFirst(model string) bool {
	return gpt5(model) || oSeries(model)
}

// gpt5 covers gpt-5 and its successors, and every model named codex.
func gpt5(model string) bool {
	name := family(model)
	if strings.Contains(name, "codex") {
		return true
	}
	rest, ok := strings.CutPrefix(name, "gpt-")
	return ok && rest != "" && (rest[0] >= '5' && rest[0] <= '9' || len(rest) > 1 && rest[0] >= '1' && rest[0] <= '9' && rest[1] >= '0' && rest[1] <= '9')
}

func oSeries(model string) bool {
	name := family(model)
	return len(name) >= 2 && name[0] == 'o' && name[1] >= '1' && name[1] <= '9' && (len(name) == 2 || name[2] == '-')
}

func systemRole(model string) string {
	if gpt5(model) {
		return "developer"
	}
	return "system"
}

func isClaude(model string) bool { return strings.Contains(family(model), "claude") }

// effortWord returns the nearest level that the model's family knows.
func effortWord(model string, e hermes.Effort) string {
	name := family(model)
	early := oSeries(model) || name == "gpt-5" || strings.HasPrefix(name, "gpt-5-") || !gpt5(model)
	switch e {
	case hermes.EffortMax, hermes.EffortXHigh:
		if early {
			return "high"
		}
		return "xhigh"
	case hermes.EffortMinimal:
		if early && !gpt5(model) {
			return "low"
		}
		if !early {
			return "low"
		}
	case hermes.EffortNone:
		switch {
		case oSeries(model):
			return "low"
		case gpt5(model) && early:
			return "minimal"
		}
	}
	return string(e)
}
