package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	"hermes"
	"hermes/internal/jsonrepair"
)

// call is one call of a batch and, once it has run, its result.
type call struct {
	hermes.ToolCall                 // as it is judged and run
	sent            hermes.ToolCall // as the transcript has it
	spec            hermes.Spec
	known           bool
	reads           bool // it certainly only reads
	paths           []string
	// refuse, if set, is why the call must not run, for the model.
	refuse string
	result hermes.Result

	parent   *call         // the call that invoked it; nil for a call of the model
	admitted chan struct{} // closed by the gate when it may run
	asking   atomic.Int32  // questions to the user that are open, its own and those of calls below it
}

// normalize prepares a model's calls for storage: each gets a unique id, a
// name, and a JSON object as arguments. It returns, by id, why a call must not
// be run.
func normalize(m *hermes.Message, step int) map[string]string {
	refused := map[string]string{}
	seen := map[string]bool{}
	for i := range m.Calls {
		c := &m.Calls[i]
		c.Name = strings.TrimSpace(c.Name)
		if c.ID == "" || seen[c.ID] || invokedBy(c.ID, seen) {
			c.ID = fmt.Sprintf("call_%d_%d_%d", m.Turn, step, i)
		}
		seen[c.ID] = true
		if c.Name == "" {
			c.Name = nameless // services refuse a transcript with an empty name
			refused[c.ID] = noName
		}
		arguments, outcome := object(c.Arguments)
		c.Arguments = arguments
		cut := m.Finish.Cut() && outcome != jsonrepair.Intact // "1" may have been "12"
		if (cut || outcome == jsonrepair.Lost) && refused[c.ID] == "" {
			refused[c.ID] = brokenArguments(m.Finish)
		}
	}
	return refused
}

// invokedBy reports whether an id looks like that of a call that another one invoked.
func invokedBy(id string, seen map[string]bool) bool {
	for other := range seen {
		if strings.HasPrefix(id, other+"/") || strings.HasPrefix(other, id+"/") {
			return true
		}
	}
	return false
}

// nameless is stored as the name of a call that has none.
const nameless = "nameless"

// noName is the result of a call that named no tool, for the model.
const noName = "the call named no tool and was not run; if you still want it, send it again with a tool name"

// object returns the arguments as a JSON object and says how much of a repair
// that took. Lost arguments are an empty object.
func object(raw string) (string, jsonrepair.Outcome) {
	fixed, outcome := jsonrepair.Repair([]byte(raw))
	if outcome == jsonrepair.Lost {
		return "{}", outcome
	}
	text := strings.TrimSpace(string(fixed))
	switch {
	case strings.HasPrefix(text, "{"):
		return text, outcome
	case text == "null":
		return "{}", jsonrepair.Empty
	}
	var inner string // some models send the object as a JSON string
	if json.Unmarshal(fixed, &inner) == nil && strings.HasPrefix(strings.TrimSpace(inner), "{") && json.Valid([]byte(inner)) {
		return strings.TrimSpace(inner), outcome
	}
	return "{}", jsonrepair.Lost
}

// refusedAgain returns, by id, which calls of an earlier process must not be run:
// those of a cut answer, since the transcript does not say which of them were whole.
// A call that only asks may run.
func (l *loop) refusedAgain(open []hermes.ToolCall) map[string]string {
	refused := map[string]string{}
	if !hermes.CutCalls(l.Transcript) {
		return refused
	}
	for _, c := range open {
		if spec, known := l.Tools.Spec(c.Name); !known || spec.Effect != hermes.EffectAsk {
			refused[c.ID] = perhapsCut
		}
	}
	return refused
}

// perhapsCut is the result of a call that may not be whole, for the model.
const perhapsCut = "the answer with this call was cut off by the output limit, so the call may not be whole and was not run; send it again if you still need it"

func brokenArguments(f hermes.Finish) string {
	switch f {
	case hermes.FinishLength:
		return "the call was cut off by the output limit and was not run; do the work in smaller pieces, such as several shorter writes"
	case hermes.FinishFilter:
		return "the call was cut off by a content filter of the service and was not run; do the work in another way or tell the user"
	}
	return "the arguments were not valid JSON and the call was not run; send it again with one JSON object as arguments"
}
