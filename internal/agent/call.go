package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/jsonrepair"
)

// call is one call of a batch on its way to a result.
type call struct {
	hermes.ToolCall
	spec  hermes.Spec
	known bool
	reads bool // it certainly changes nothing
	paths []string
	// refuse is set when the call must not run: the text for the model.
	refuse string
	result hermes.Result
}

// normalize makes what a model wrote fit to be stored: every call has an id
// of its own and arguments that are a JSON object. It returns, by id, why a
// call must not be run.
func normalize(m *hermes.Message, step int) map[string]string {
	refused := map[string]string{}
	seen := map[string]bool{}
	for i := range m.Calls {
		c := &m.Calls[i]
		c.Name = strings.TrimSpace(c.Name)
		if c.ID == "" || seen[c.ID] {
			c.ID = fmt.Sprintf("call_%d_%d_%d", m.Turn, step, i)
		}
		seen[c.ID] = true
		if c.Name == "" {
			c.Name = nameless // services refuse a transcript with a call that has none
			refused[c.ID] = noName
		}
		arguments, ok := object(c.Arguments)
		c.Arguments = arguments
		if !ok && refused[c.ID] == "" {
			refused[c.ID] = brokenArguments(m.Finish)
		}
	}
	return refused
}

// nameless stands in the transcript for the name of a call that had none.
const nameless = "nameless"

// noName is what a model reads of a call that named no tool.
const noName = "the call named no tool and was not run; if it is still wanted, send it again with the name of a tool"

// object returns the arguments as a JSON object; false means that what the
// model wrote could not be understood and the object is empty instead.
func object(raw string) (string, bool) {
	fixed, outcome := jsonrepair.Repair([]byte(raw))
	if outcome == jsonrepair.Lost {
		return "{}", false
	}
	text := strings.TrimSpace(string(fixed))
	switch {
	case strings.HasPrefix(text, "{"):
		return text, true
	case text == "null":
		return "{}", true
	}
	var inner string // some models send the object as a JSON string
	if json.Unmarshal(fixed, &inner) == nil && strings.HasPrefix(strings.TrimSpace(inner), "{") && json.Valid([]byte(inner)) {
		return strings.TrimSpace(inner), true
	}
	return "{}", false
}

func brokenArguments(f hermes.Finish) string {
	if f == hermes.FinishLength {
		return "the call was cut off by the output limit and was not run; do the same work in smaller pieces, such as several shorter writes"
	}
	return "the arguments were not valid JSON and the call was not run; send the call again with one JSON object as arguments"
}
