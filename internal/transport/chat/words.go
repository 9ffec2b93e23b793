package chat

import (
	"hermes"
	"hermes/internal/texttool"
)

// words passes on visible text. Small local models write calls into it; with
// Quirks.TextCalls those are extracted.
func (a *answer) words(text string) error {
	if text == "" {
		return nil
	}
	a.text = true
	if a.scan == nil {
		return a.say(text)
	}
	return a.found(a.scan.Feed(text))
}

// lastWords passes on text that was held back as a possible call.
func (a *answer) lastWords() error {
	if a.scan == nil {
		return nil
	}
	return a.found(a.scan.End())
}

func (a *answer) say(text string) error {
	if text == "" {
		return nil
	}
	return a.yield(hermes.Delta{Text: text})
}

func (a *answer) found(prose string, calls []texttool.Call) error {
	if err := a.say(prose); err != nil {
		return err
	}
	for _, c := range calls {
		if err := a.yield(hermes.Delta{Call: a.calls.spelled(c)}); err != nil {
			return err
		}
	}
	return nil
}

// spelled adds a call that was found in the text.
func (c *calls) spelled(found texttool.Call) *hermes.CallDelta {
	s := &slot{index: -1, sentID: c.ids.ID(""), name: found.Name}
	s.id = s.sentID
	s.arguments.WriteString(found.Arguments)
	c.slots = append(c.slots, s)
	return &hermes.CallDelta{Index: len(c.slots) - 1, ID: s.sentID, Name: found.Name, Arguments: found.Arguments}
}
