package demo

import (
	"fmt"
	"strings"

	"hermes/internal/chatserver"
)

// mostSteps bounds the steps between two messages of the person: a client whose tools do something
// else must not go round for ever. The script needs eight.
const mostSteps = 16

// scene is what the messages of a request say about how far the script has come.
type scene struct {
	asked   int      // steps so far, in the whole conversation
	since   int      // steps since the person spoke last
	step    string   // the last step, "" before the first
	results []string // what its calls returned
	spoken  bool     // the model has spoken after that step: the script is over or was given up
	prompt  string   // the person's last words
	waiting bool     // the person spoke after that step
}

// decide is the scripted model: a function of the request alone.
func decide(r *chatserver.Request) (chatserver.Answer, error) {
	s := read(r)
	switch {
	case !playable(r):
		return chatserver.Answer{Text: aside(r, s)}, nil
	case s.step == "" && !strings.Contains(strings.ToLower(s.prompt), "test"):
		return chatserver.Answer{Text: invitation}, nil
	case s.step == "":
		return ask(r, s, Scenario()[0]), nil
	case s.spoken && next(s) == "end":
		return chatserver.Answer{Text: epilogue}, nil
	case s.waiting || s.spoken:
		// The person interrupted, or asks again after a failure: this step has to be done over.
		return ask(r, s, step(s.step)), nil
	}
	name := next(s)
	switch {
	case name == "end":
		return chatserver.Answer{Text: closing}, nil
	case name == "" || s.since >= mostSteps:
		return chatserver.Answer{Text: lost(s)}, nil
	}
	return ask(r, s, step(name)), nil
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

// next names the step that the results lead to, "end" after the last one, and "" when they are
// none that the script knows.
func next(s scene) string {
	steps := Scenario()
	for i, st := range steps {
		if st.Name != s.step {
			continue
		}
		if len(st.Then) == 0 {
			return steps[i+1].Name
		}
		for _, o := range st.Then {
			for _, text := range s.results {
				if strings.Contains(text, o.Seen) {
					return o.Then
				}
			}
		}
	}
	return ""
}

// ask turns a step into an answer, without the calls that the client cannot do.
func ask(r *chatserver.Request, s scene, st Step) chatserver.Answer {
	a := chatserver.Answer{Reasoning: st.Think, Text: st.Say}
	for _, m := range st.Calls {
		if !r.Offers(m.Tool) {
			continue
		}
		a.Calls = append(a.Calls, chatserver.Call{
			ID:       fmt.Sprintf("call_%s_%d_%d", st.Name, s.asked+1, len(a.Calls)+1),
			Type:     "function",
			Function: chatserver.Function{Name: m.Tool, Arguments: m.Arguments},
		})
	}
	if len(a.Calls) == 0 { // the plan alone, for a client without todo
		return ask(r, s, step("test1"))
	}
	return a
}

// playable reports whether the client offers what the script needs.
func playable(r *chatserver.Request) bool {
	for _, tool := range Needed() {
		if !r.Offers(tool) {
			return false
		}
	}
	return true
}
