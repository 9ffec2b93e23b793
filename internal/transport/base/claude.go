package base

import (
	"strings"

	"hermes"
)

// Claude says what a generation of Claude models accepts, at any service.
type Claude struct {
	Claude   bool // false for another vendor's model
	Thinks   bool // can think at all
	Adaptive bool // thinks by effort, else by a budget of tokens
	XHigh    bool // has the effort xhigh; older models use max instead
	NoSample bool // accepts no sampling values
	Output   int  // the maximum number of tokens of an answer
}

// highestOutput is the output limit of unknown models.
const highestOutput = 128_000

// ClaudeOf reads a model's name. A Claude model without a known version counts as
// the newest.
func ClaudeOf(model string) Claude {
	name := strings.ToLower(model)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	if !strings.Contains(name, "claude") {
		return Claude{Output: highestOutput}
	}
	c := Claude{Claude: true, Output: outputLimit(name)}
	major, minor, known := version(name)
	c.Thinks = !known || major > 3 || major == 3 && minor >= 7
	c.Adaptive = !known || major > 4 || major == 4 && minor >= 6
	c.XHigh = !known || major > 4 || major == 4 && minor >= 7
	c.NoSample = c.XHigh
	return c
}

// version finds the generation in names such as claude-3-5-sonnet-20241022,
// claude-sonnet-4-20250514, claude-opus-4-6 and claude-sonnet-4.5.
func version(name string) (major, minor int, known bool) {
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '.' || r == '@' || r == ':' || r == '_' }) {
		n, ok := number(word)
		switch {
		case !known && ok:
			major, known = n, true
		case known && ok:
			return major, n, true
		case known:
			return major, minor, true
		}
	}
	return major, minor, known
}

// number reads one or two digits; longer ones are dates.
func number(word string) (int, bool) {
	if len(word) == 0 || len(word) > 2 {
		return 0, false
	}
	n := 0
	for _, c := range word {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// outputLimit is the model's own limit, from Anthropic's model table.
func outputLimit(name string) int {
	major, minor, known := version(name)
	opus := strings.Contains(name, "opus")
	switch {
	case !known, major > 4:
		return highestOutput
	case major == 4 && minor >= 6 && opus:
		return 128_000
	case major == 4 && opus && minor < 5:
		return 32_000
	case major == 4:
		return 64_000
	case major == 3 && minor >= 7:
		return 64_000
	case major == 3 && minor == 5:
		return 8_192
	}
	return 4_096
}

// LeastThinking is the lowest budget for thinking that the services accept.
const LeastThinking = 1_024

// ThinkingBudget returns the number of tokens for thinking, by effort.
func ThinkingBudget(e hermes.Effort) int {
	switch e {
	case hermes.EffortMinimal:
		return 2_048
	case hermes.EffortLow:
		return 4_096
	case hermes.EffortHigh:
		return 16_000
	case hermes.EffortXHigh, hermes.EffortMax:
		return 32_000
	}
	return 8_000
}

// EffortWord returns the generation's name of an effort.
func (c Claude) EffortWord(e hermes.Effort) string {
	switch e {
	case hermes.EffortMinimal:
		return "low"
	case hermes.EffortXHigh:
		if !c.XHigh {
			return "max"
		}
	}
	return string(e)
}
