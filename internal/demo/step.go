package demo

import "encoding/json"

// Step is one answer of the scripted model that asks for tools.
type Step struct {
	Name  string // lower-case letters and digits; it is part of every call id
	Think string // sent as reasoning
	Say   string // {name} stands for a fact, see facts.go; so it does in Calls and Close
	Calls []Move
	// Then decides the next step by what the results hold; the first match wins. Without an
	// entry the next step of the table follows, whatever the results are.
	Then []Outcome
	// Close is said when the results lead to "end".
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
	cue    string   // the word of the person that begins it, in lower case
	needs  []string // the tools without which it cannot be played
	script []Step   // in the order in which it usually goes
}

// acts are the two sessions; the first whose cue was said is played.
func acts() []act {
	return []act{
		{cue: "last time", needs: []string{"session_search", "skill_view", "terminal"}, script: recalling()},
		{cue: "test", needs: Needed(), script: fixing()},
	}
}

// Needed lists the tools without which the work on the project cannot be played; todo, memory and
// skill_manage may be missing.
func Needed() []string { return []string{"patch", "read_file", "search_files", "terminal"} }

// Scenario returns the script of all acts.
func Scenario() []Step {
	var all []Step
	for _, a := range acts() {
		all = append(all, a.script...)
	}
	return all
}

// quote makes a JSON text.
func quote(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return `""` // never: every string can be written
	}
	return string(data)
}
