package gemini

import (
	"strings"

	"hermes"
)

// capabilities says what a generation of models accepts.
type capabilities struct {
	// signed models refuse calls that are sent back without a thought signature,
	// and require the ids of calls.
	signed bool
	// levels are the names of the efforts; models with a budget have none.
	levels []hermes.Effort
	// least and most bound the thinking budget, in tokens; most is 0 for models
	// without a budget.
	least, most int
	// canStop says that thinking can be switched off.
	canStop bool
	// noTemperature says that the temperature must stay at its default.
	noTemperature bool
}

// capabilitiesOf reads a model's name, following Google's model pages. A Gemini
// model without a known version counts as the newest; other models do not think.
func capabilitiesOf(model string) capabilities {
	name := strings.ToLower(model)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	rest, ok := strings.CutPrefix(name, "gemini-")
	if !ok {
		return capabilities{}
	}
	version, _, _ := strings.Cut(rest, "-")
	flash, lite := strings.Contains(name, "flash"), strings.Contains(name, "lite")
	switch {
	case strings.HasPrefix(version, "1"), strings.HasPrefix(version, "2.0"):
		return capabilities{}
	case version == "2.5" && lite:
		return capabilities{least: 512, most: 24_576, canStop: true}
	case version == "2.5" && flash:
		return capabilities{least: 1, most: 24_576, canStop: true}
	case version == "2.5":
		return capabilities{least: 128, most: 32_768}
	}
	c := capabilities{signed: true, noTemperature: true}
	switch {
	case flash:
		c.levels = []hermes.Effort{hermes.EffortMinimal, hermes.EffortLow, hermes.EffortMedium, hermes.EffortHigh}
	case version == "3":
		c.levels = []hermes.Effort{hermes.EffortLow, hermes.EffortHigh}
	default:
		c.levels = []hermes.Effort{hermes.EffortLow, hermes.EffortMedium, hermes.EffortHigh}
	}
	return c
}

func (c capabilities) thinks() bool { return len(c.levels) > 0 || c.most > 0 }

// thinking is the part of a request about thinking.
type thinking struct {
	Level  string `json:"thinkingLevel,omitempty"`
	Budget *int   `json:"thinkingBudget,omitempty"`
	Shown  bool   `json:"includeThoughts,omitempty"`
}

// thinkingFor returns the nearest setting that the model supports.
func (c capabilities) thinkingFor(e hermes.Effort) *thinking {
	switch {
	case !c.thinks():
		return nil
	case e == "":
		return &thinking{Shown: true}
	case len(c.levels) > 0:
		return &thinking{Level: c.level(e), Shown: e != hermes.EffortNone}
	case e == hermes.EffortNone && c.canStop:
		none := 0
		return &thinking{Budget: &none}
	}
	n := min(max(budget(e), c.least), c.most)
	return &thinking{Budget: &n, Shown: e != hermes.EffortNone}
}

// level returns the lowest level that is not below the effort.
func (c capabilities) level(e hermes.Effort) string {
	order := []hermes.Effort{hermes.EffortNone, hermes.EffortMinimal, hermes.EffortLow, hermes.EffortMedium, hermes.EffortHigh}
	reached := false
	for _, step := range order {
		reached = reached || step == e
		for _, l := range c.levels {
			if reached && l == step {
				return string(l)
			}
		}
	}
	return string(c.levels[len(c.levels)-1]) // xhigh and max
}

func budget(e hermes.Effort) int {
	switch e {
	case hermes.EffortNone:
		return 0
	case hermes.EffortMinimal, hermes.EffortLow:
		return 1_024
	case hermes.EffortMedium:
		return 8_192
	case hermes.EffortHigh:
		return 24_576
	}
	return 32_768
}
