package responses

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

// generation returns the number in names such as gpt-5, gpt-5.1-codex and gpt-4.1;
// a name with only codex counts as 5.
func generation(model string) (major, minor int) {
	name := family(model)
	rest, ok := strings.CutPrefix(name, "gpt-")
	if !ok {
		if strings.Contains(name, "codex") {
			return 5, 0
		}
		return 0, 0
	}
	major, rest = digits(rest)
	if after, ok := strings.CutPrefix(rest, "."); ok {
		minor, _ = digits(after)
	}
	return major, minor
}

func digits(s string) (n int, rest string) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' || i > 3 {
			return n, s[i:]
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, ""
}

func gpt5(model string) bool {
	major, _ := generation(model)
	return major >= 5
}

func oSeries(model string) bool {
	name := family(model)
	return len(name) >= 2 && name[0] == 'o' && name[1] >= '1' && name[1] <= '9' && (len(name) == 2 || name[2] == '-')
}

// reasons reports whether a model accepts the fields that request reasoning: the
// service refuses them for other models. The chat models of gpt-5 do not.
func reasons(model string) bool {
	name := family(model)
	if gpt5(model) {
		return !strings.Contains(name, "-chat")
	}
	return oSeries(model) || strings.HasPrefix(name, "gpt-oss") || strings.HasPrefix(name, "grok-4")
}

func systemRole(model string) string {
	if gpt5(model) {
		return "developer"
	}
	return "system"
}

// effortWord returns the nearest level that the model's family knows; empty if the
// family has none.
func effortWord(model string, e hermes.Effort) string {
	levels := effortLevels(model)
	if len(levels) == 0 || e == "" {
		return ""
	}
	want := rank(e)
	best := levels[0]
	for _, l := range levels {
		if rank(l) <= want {
			best = l
		}
	}
	return string(best)
}

// rank orders the levels; -1 for an unknown one.
func rank(e hermes.Effort) int {
	for i, l := range []hermes.Effort{hermes.EffortNone, hermes.EffortMinimal, hermes.EffortLow, hermes.EffortMedium, hermes.EffortHigh, hermes.EffortXHigh, hermes.EffortMax} {
		if l == e {
			return i
		}
	}
	return -1
}

// effortLevels returns the levels of a family, lowest first, following OpenAI's
// model pages.
func effortLevels(model string) []hermes.Effort {
	const (
		none, minimal, low  = hermes.EffortNone, hermes.EffortMinimal, hermes.EffortLow
		medium, high, xhigh = hermes.EffortMedium, hermes.EffortHigh, hermes.EffortXHigh
	)
	name := family(model)
	major, minor := generation(model)
	late := major > 5 || major == 5 && minor >= 2
	codex, pro := strings.Contains(name, "codex"), strings.Contains(name, "-pro")
	switch {
	case !reasons(model), strings.HasPrefix(name, "grok"):
		return nil
	case major < 5:
		return []hermes.Effort{low, medium, high} // the o series, gpt-oss
	case pro && late:
		return []hermes.Effort{medium, high, xhigh}
	case pro:
		return []hermes.Effort{high}
	case codex && (late || strings.Contains(name, "max")):
		return []hermes.Effort{low, medium, high, xhigh}
	case codex:
		return []hermes.Effort{low, medium, high}
	case late:
		return []hermes.Effort{none, low, medium, high, xhigh}
	case minor == 1:
		return []hermes.Effort{none, low, medium, high}
	}
	return []hermes.Effort{minimal, low, medium, high}
}
