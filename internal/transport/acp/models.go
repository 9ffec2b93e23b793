package acp

import (
	"fmt"
	"slices"
	"strings"
)

// opened is what a program says about a new session. It lists its models in one of
// two ways: as models, or as an option of the category model, which is newer.
type opened struct {
	ID     string `json:"sessionId"`
	Models struct {
		Current   string `json:"currentModelId"`
		Available []struct {
			ID string `json:"modelId"`
		} `json:"availableModels"`
	} `json:"models"`
	Options []option `json:"configOptions"`
}

// option is a setting of a session that the program lets us choose.
type option struct {
	ID       string   `json:"id"`
	Category string   `json:"category"`
	Current  any      `json:"currentValue"` // a text, or true and false
	Values   []choice `json:"options"`
}

// choice is a value of an option, or a group of them.
type choice struct {
	Value  string   `json:"value"`
	Values []choice `json:"options"`
}

// chosen returns the request that gives the session a model; method is empty if it
// has that model already. An unknown model is an error that names the known ones.
func (o opened) chosen(name string) (method string, params map[string]any, err error) {
	if name == "" || name == AnyModel || name == o.Models.Current {
		return "", nil, nil
	}
	var known []string
	for _, m := range o.Models.Available {
		known = append(known, m.ID)
	}
	if slices.Contains(known, name) {
		return "session/set_model", map[string]any{"sessionId": o.ID, "modelId": name}, nil
	}
	for _, option := range o.Options {
		if option.Category != "model" {
			continue
		}
		if option.Current == name {
			return "", nil, nil
		}
		values := flat(option.Values)
		if slices.Contains(values, name) {
			return "session/set_config_option", map[string]any{"sessionId": o.ID, "configId": option.ID, "value": name}, nil
		}
		known = append(known, values...)
	}
	offers := "the program does not let its model be chosen"
	if len(known) > 0 {
		offers = "the program has " + strings.Join(known, ", ")
	}
	return "", nil, failure(404, fmt.Sprintf("model %q does not exist: %s; use %q for its own choice", name, offers, AnyModel))
}

// flat lists the values of an option, also those in groups.
func flat(choices []choice) []string {
	var values []string
	for _, c := range choices {
		if c.Value != "" {
			values = append(values, c.Value)
		}
		for _, inner := range c.Values {
			values = append(values, inner.Value)
		}
	}
	return values
}
