package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/protocol"
)

// EnvelopePrinter is a [Printer] that also gets the events as they travel, before Event gets them,
// and those of child sessions.
type EnvelopePrinter interface {
	Printer
	Envelope(e protocol.Envelope)
}

// Ask sends a message to a session that is live, prints the turn until it ends, and returns its
// end. When ctx ends, Ask interrupts the turn and waits for its end. It answers no questions.
func Ask(ctx context.Context, c protocol.Client, id string, from hermes.From, parts []hermes.Part, p Printer) (hermes.TurnDone, error) {
	whole := context.WithoutCancel(ctx)
	watching, end := context.WithCancel(whole)
	defer end()
	updates := protocol.Watched{Client: c, From: from, Run: hermes.RunSpec{Session: id}, Seen: -1}.Watch(watching)
	if first := <-updates; first.Failed != nil {
		return hermes.TurnDone{}, first.Failed
	}
	stop := func() error { return c.Do(whole, id, from, hermes.Stop{}) }
	begun := context.AfterFunc(ctx, func() { _ = stop() }) // a turn that is prepared ends, too
	err := c.Do(whole, id, from, hermes.Say{Parts: parts})
	begun()
	if err != nil {
		return hermes.TurnDone{}, err
	}
	o := &one{p: p}
	interrupted := ctx.Done()
	for {
		select {
		case u := <-updates:
			if err := cmp.Or(u.Lost, u.Failed); err != nil {
				return hermes.TurnDone{}, fmt.Errorf("the session ended before it answered: %w", err)
			}
			if done := o.take(u); done != nil {
				return *done, p.Err()
			}
			if p.Err() != nil && interrupted != nil {
				interrupted = nil
				if stop() != nil {
					return hermes.TurnDone{}, p.Err()
				}
			}
		case <-interrupted:
			interrupted = nil
			if err := stop(); err != nil {
				return hermes.TurnDone{}, err
			}
		}
	}
}

// one prints one turn, also what was missed of it.
type one struct {
	p    Printer
	text strings.Builder   // of the current step, as far as it is printed
	open []string          // the ids of open questions
	at   protocol.Envelope // of what a snapshot says; it has no event
}

// take prints an update. It returns the end of the turn.
func (o *one) take(u protocol.Update) *hermes.TurnDone {
	if u.Envelope != nil {
		o.travels(*u.Envelope)
		if u.Envelope.Parent != "" {
			return nil
		}
		return o.event(u.Envelope.Event)
	}
	if u.Snapshot == nil || u.Snapshot.Continued {
		return nil
	}
	o.at = protocol.Envelope{Session: u.Snapshot.Session.ID, Epoch: u.Snapshot.Epoch, Seq: u.Snapshot.Seq, Time: u.Snapshot.Activity.At}
	for _, m := range u.Missed {
		if m.Role != hermes.RoleUser {
			o.missed(hermes.Appended{Message: m})
		}
	}
	o.questions(u.Snapshot)
	t := u.Snapshot.Turn
	if t == nil {
		if u.Snapshot.Done == nil {
			return &hermes.TurnDone{Outcome: hermes.OutcomeInterrupted}
		}
		return o.missed(*u.Snapshot.Done)
	}
	rest, goesOn := strings.CutPrefix(t.Text, o.text.String())
	if !goesOn {
		o.missed(hermes.Reset{})
		rest = t.Text
	}
	if rest != "" {
		o.missed(hermes.TextDelta{Text: rest})
	}
	return nil
}

// questions opens and closes questions as a snapshot says.
func (o *one) questions(s *protocol.Snapshot) {
	var now []string
	for _, q := range s.Questions {
		if q.Session == s.Session.ID {
			now = append(now, q.Asked.ID)
		}
	}
	for _, id := range slices.Clone(o.open) {
		if !slices.Contains(now, id) {
			o.missed(hermes.AnswerTaken{ID: id})
		}
	}
	for _, q := range s.Questions {
		if slices.Contains(now, q.Asked.ID) && !slices.Contains(o.open, q.Asked.ID) {
			o.missed(q.Asked)
		}
	}
}

// missed prints an event that a snapshot tells of.
func (o *one) missed(e hermes.Event) *hermes.TurnDone {
	at := o.at
	at.Event = e
	o.travels(at)
	return o.event(e)
}

func (o *one) travels(e protocol.Envelope) {
	if p, ok := o.p.(EnvelopePrinter); ok {
		p.Envelope(e)
	}
}

func (o *one) event(e hermes.Event) *hermes.TurnDone {
	switch d := e.(type) {
	case hermes.Asked:
		o.open = append(o.open, d.ID)
	case hermes.AnswerTaken:
		o.open = slices.DeleteFunc(o.open, func(id string) bool { return id == d.ID })
	case hermes.TextDelta:
		o.text.WriteString(d.Text)
	case hermes.StepStarted, hermes.Reset:
		o.text.Reset()
	case hermes.Appended:
		if d.Message.Role == hermes.RoleAssistant {
			o.text.Reset()
		}
	case hermes.TurnDone:
		o.p.Event(e)
		return &d
	}
	o.p.Event(e)
	return nil
}
