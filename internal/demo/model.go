package demo

import (
	"fmt"
	"slices"
	"strings"

	"hermes/internal/chatserver"
)

// mostSteps is the maximum number of steps between two messages of the user, so that a client with
// unexpected tool results does not loop forever. The script needs nine.
const mostSteps = 16

// scene is the position in the script, read from the messages of a request.
type scene struct {
	asked   int      // steps so far, in the whole conversation
	since   int      // steps since the last user message
	step    string   // the last step, "" before the first
	results []string // what its calls returned
	spoken  bool     // the model has answered after that step: the script is over or was given up
	prompt  string   // the last user message
	waiting bool     // a user message follows that step
}

// decide is the scripted model: a function of the request alone.
func decide(r *chatserver.Request) (chatserver.Answer, error) {
	s := read(r)
	a, known := s.act()
	switch {
	case len(r.Tools) > 0 && !known:
		return chatserver.Answer{Text: invitation}, nil
	case !known || !playable(r, a):
		return chatserver.Answer{Text: sideAnswer(r, s, a)}, nil
	case s.step == "":
		return ask(r, s, a.script[0]), nil
	case s.spoken && next(s) == "end":
		return chatserver.Answer{Text: epilogue}, nil
	case s.waiting || s.spoken:
		// The user interrupted, or asks again after a failure: repeat this step.
		return ask(r, s, step(s.step)), nil
	}
	name := next(s)
	switch {
	case name == "end":
		return say(r, s, step(s.step).Close), nil
	case name == "" || s.since >= mostSteps:
		return chatserver.Answer{Text: lost(s)}, nil
	}
	return ask(r, s, step(name)), nil
}

// act finds the current act: that of the last step, or the one that the user starts.
func (s scene) act() (act, bool) {
	prompt := strings.ToLower(s.prompt)
	for _, a := range acts() {
		if s.step == "" && strings.Contains(prompt, a.cue) || slices.ContainsFunc(a.script, func(st Step) bool { return st.Name == s.step }) {
			return a, true
		}
	}
	return act{}, false
}

// read finds the last step of the script in the messages, and what happened since.
func read(r *chatserver.Request) scene {
	var s scene
	for _, m := range r.Messages {
		switch m.Role {
		case "user":
			s.prompt, s.waiting, s.since = m.Text(), true, 0
		case "tool":
			s.results = append(s.results, m.Text())
		case "assistant":
			if name := stepOf(m); name != "" {
				s.asked++
				s.since++
				s.step, s.results, s.spoken = name, nil, false
			} else {
				s.spoken = true
			}
			s.waiting = false
		}
	}
	return s
}

// stepOf reads the step's name from a call id, which has the form call_<step>_<count>_<index>.
func stepOf(m chatserver.Message) string {
	for _, c := range m.Calls {
		parts := strings.Split(c.ID, "_")
		if len(parts) == 4 && parts[0] == "call" && step(parts[1]).Name != "" {
			return parts[1]
		}
	}
	return ""
}

// step returns the step with this name; the zero Step if there is none.
func step(name string) Step {
	for _, s := range Scenario() {
		if s.Name == name {
			return s
		}
	}
	return Step{}
}

// next names the step that the results lead to, "end" after the last one, and "" if the script does not
// know the results.
func next(s scene) string {
	st := step(s.step)
	if len(st.Then) == 0 {
		return following(st.Name).Name
	}
	for _, o := range st.Then {
		if slices.ContainsFunc(s.results, func(text string) bool { return strings.Contains(text, o.Seen) }) {
			return o.Then
		}
	}
	return ""
}

// ask turns a step into an answer, without calls of tools that the client lacks.
func ask(r *chatserver.Request, s scene, st Step) chatserver.Answer {
	known := gather(r)
	text, missing := known.fill(st.Say)
	if missing != "" {
		return chatserver.Answer{Text: unknown(missing)}
	}
	a := chatserver.Answer{Reasoning: st.Think, Text: text}
	for _, m := range st.Calls {
		if !r.Offers(m.Tool) {
			continue
		}
		arguments, missing := known.fillJSON(m.Arguments)
		if missing != "" {
			return chatserver.Answer{Text: unknown(missing)}
		}
		a.Calls = append(a.Calls, chatserver.Call{
			ID:       fmt.Sprintf("call_%s_%d_%d", st.Name, s.asked+1, len(a.Calls)+1),
			Type:     "function",
			Function: chatserver.Function{Name: m.Tool, Arguments: arguments},
		})
	}
	switch {
	case len(a.Calls) > 0:
		return a
	case st.Close != "": // the step keeps something and the client has no tool for it
		return say(r, s, st.Close)
	}
	return ask(r, s, following(st.Name)) // the plan, for a client without todo
}

// say ends an act with a text.
func say(r *chatserver.Request, s scene, words string) chatserver.Answer {
	text, missing := gather(r).fill(words)
	if missing != "" {
		text = unknown(missing)
	}
	return chatserver.Answer{Text: text}
}

// following is the step after the one with this name; the zero Step after the last of an act.
func following(name string) Step {
	for _, a := range acts() {
		for i, st := range a.script[:len(a.script)-1] {
			if st.Name == name {
				return a.script[i+1]
			}
		}
	}
	return Step{}
}

// playable reports whether the client offers what an act needs.
func playable(r *chatserver.Request, a act) bool {
	return !slices.ContainsFunc(a.needs, func(tool string) bool { return !r.Offers(tool) })
}
