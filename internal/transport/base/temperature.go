package base

import "strings"

// Temperature returns the temperature to send for a model, nil for none: the one that
// its family has, or else the one that was asked for.
func Temperature(model string, asked *float64) *float64 {
	name := strings.ToLower(model)
	for _, f := range families() {
		if !containsAll(name, f.words) {
			continue
		}
		return f.temperature
	}
	return asked
}

// family is a family of models with a temperature of its own. All words are in the
// names of its models, the vendor's included.
type family struct {
	words       []string
	temperature *float64 // nil: none may be sent
}

func families() []family {
	half := 0.5
	return []family{
		{[]string{"kimi"}, nil}, // Moonshot chooses it by the mode of the model and refuses others
		{[]string{"moonshot"}, nil},
		{[]string{"trinity", "thinking"}, &half}, // Arcee's advice for its thinking models
	}
}

func containsAll(s string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}
