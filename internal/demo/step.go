package demo

import "encoding/json"

// Step is one answer of the scripted model that asks for tools.
type Step struct {
	Name  string // lower-case letters and digits; it is part of every call id
	Think string // sent as reasoning
	Say   string // {name} is replaced by a fact, see facts.go; also in Calls and Close
	Calls []Move
	// Then chooses the next step by the text of the results; the first match wins. Without
	// entries the next step of the script always follows.
	Then []Outcome
	// Close is the answer when the results lead to "end".
	Close string
}

// Move is one tool call of a step. A step drops the moves whose tool the client does not offer.
type Move struct {
	Tool      string
	Arguments string // a JSON object
}

// Outcome leads to a step when one of the results contains Seen.
type Outcome struct {
	Seen string
	Then string // the name of a step, or "end"
}

// act is what is played in one session.
type act struct {
	cue    string   // a word of the user that starts it, in lower case
	needs  []string // the tools that it requires
	script []Step   // in the usual order
}

// acts are the two sessions; the first one with a matching cue is played.
func acts() []act {
	return []act{
		{cue: "last time", needs: []string{"session_search", "skill_view", "terminal"}, script: recalling()},
		{cue: "test", needs: Needed(), script: fixing()},
	}
}

// Needed lists the tools that the first session requires; todo, memory and skill_manage are optional.
func Needed() []string { return []string{"patch", "read_file", "search_files", "terminal"} }

// Scenario returns the script of all acts.
func Scenario() []Step {
	var all []Step
	for _, a := range acts() {
		all = append(all, a.script...)
	}
	return all
}

// quote returns a text as a JSON string.
func quote(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return `""` // never: every string can be written
	}
	return string(data)
}
