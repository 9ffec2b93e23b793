package responses

import (
	"cmp"
	"strings"

	"hermes"
	"hermes/internal/transport/base"
)

// open is an item of the output that has begun.
type open struct {
	kind string
	// commentary is text before the answer, not part of it.
	commentary bool
	said       strings.Builder // text, reasoning or arguments, as they came
	call       int             // the index of a tool call
	id, name   string          // of the call, as passed on
	done       bool
}

// at returns the item; it creates it for services that do not announce items.
func (a *answer) at(index int, kind string) *open {
	o := a.items[index]
	if o == nil {
		o = &open{kind: kind}
		a.items[index] = o
	}
	return o
}

func (a *answer) begin(index int, s *said) error {
	if a.items[index] != nil {
		return nil
	}
	o := &open{kind: s.Type, commentary: s.Phase == commentary}
	a.items[index] = o
	if s.Type != "function_call" {
		return nil
	}
	o.call = a.calls
	a.calls++
	return a.nameCall(o, s)
}

// nameCall passes on the id and the name of a call, each once.
func (a *answer) nameCall(o *open, s *said) error {
	d := hermes.CallDelta{Index: o.call}
	if o.id == "" && s.CallID != "" {
		o.id = a.ids.ID(s.CallID)
		d.ID = o.id
	}
	if o.name == "" && s.Name != "" {
		o.name, d.Name = s.Name, s.Name
	}
	if d.ID == "" && d.Name == "" {
		return nil
	}
	return a.yield(hermes.Delta{Call: &d})
}

// words passes on text: as the answer, or as reasoning if it is only commentary.
func (a *answer) words(o *open, text string) error {
	if text == "" {
		return nil
	}
	o.said.WriteString(text)
	if o.commentary {
		return a.yield(hermes.Delta{Reasoning: text})
	}
	return a.yield(hermes.Delta{Text: text})
}

func (a *answer) thought(o *open, text string) error {
	if text == "" {
		return nil
	}
	o.said.WriteString(text)
	return a.yield(hermes.Delta{Reasoning: text})
}

func (a *answer) arguments(o *open, text string) error {
	if text == "" || o == nil || o.kind != "function_call" {
		return nil
	}
	o.said.WriteString(text)
	return a.yield(hermes.Delta{Call: &hermes.CallDelta{Index: o.call, Arguments: text}})
}

// end completes an item and passes on what did not come in pieces.
func (a *answer) end(index int, s *said) error {
	if err := a.begin(index, s); err != nil {
		return err
	}
	o := a.items[index]
	if o.done {
		return nil
	}
	o.done = true
	switch o.kind {
	case "message":
		return a.endMessage(o, s)
	case "reasoning":
		return a.endReasoning(o, s)
	case "function_call":
		if err := a.nameCall(o, s); err != nil {
			return err
		}
		return a.arguments(o, rest(o, cmp.Or(s.Arguments, "{}")))
	}
	return nil
}

func (a *answer) endMessage(o *open, s *said) error {
	a.refusal = a.refusal || s.refuses()
	a.cut = a.cut || s.Status == "incomplete" || s.Status == "in_progress"
	if o.said.Len() == 0 {
		o.commentary = s.Phase == commentary
	}
	if err := a.words(o, rest(o, s.text())); err != nil || !o.commentary {
		return err
	}
	return a.yield(hermes.Delta{Block: &hermes.Reasoning{Protocol: protocolName, Text: o.said.String(), Signature: commentary}})
}

func (a *answer) endReasoning(o *open, s *said) error {
	if o.said.Len() == 0 {
		if err := a.thought(o, s.thought()); err != nil {
			return err
		}
	}
	if s.Encrypted == "" {
		return nil
	}
	return a.yield(hermes.Delta{Block: &hermes.Reasoning{Protocol: protocolName, Text: o.said.String(), Opaque: s.Encrypted}})
}

// rest returns the part of a whole text that did not come in pieces.
func rest(o *open, whole string) string {
	if o.said.Len() == 0 {
		return whole
	}
	after, ok := strings.CutPrefix(whole, o.said.String())
	if !ok {
		return "" // the pieces win
	}
	return after
}

// allDone reports whether every item that began was completed.
func (a *answer) allDone() bool {
	for _, o := range a.items {
		if !o.done {
			return false
		}
	}
	return len(a.items) > 0
}

// check refuses calls that name no tool, and gives an id to calls without one.
func (a *answer) check() error {
	named := 0
	for _, o := range a.items {
		if o.kind != "function_call" {
			continue
		}
		if o.name != "" {
			named++
		}
		if o.id == "" {
			o.id = a.ids.ID("")
			if err := a.yield(hermes.Delta{Call: &hermes.CallDelta{Index: o.call, ID: o.id}}); err != nil {
				return err
			}
		}
	}
	return base.Named(a.calls, named)
}
