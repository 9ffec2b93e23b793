package tui

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"

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
	first := <-updates
	if first.Failed != nil {
		return hermes.TurnDone{}, first.Failed
	}
	epoch := first.Snapshot.Epoch
	stop := func() error { return c.Do(whole, id, from, hermes.Stop{}) }
	begun := context.AfterFunc(ctx, func() { _ = stop() }) // a turn that is prepared ends, too
	say := hermes.Say{Parts: parts, Key: rand.Text()}
	err := c.Do(whole, id, from, say)
	begun()
	again := errors.Is(err, protocol.ErrConnection) // it may have been taken
	if err != nil && !again {
		return hermes.TurnDone{}, err
	}
	var done *hermes.TurnDone
	travels, _ := p.(EnvelopePrinter)
	shown := catchup{emit: func(e protocol.Envelope) {
		if travels != nil && done == nil {
			travels.Envelope(e)
		}
		if e.Parent != "" || done != nil {
			return
		}
		p.Event(e.Event)
		if d, ok := e.Event.(hermes.TurnDone); ok {
			done = &d
		}
	}}
	shown.take(first)
	interrupted := ctx.Done()
	for {
		select {
		case u := <-updates:
			if err := cmp.Or(u.Lost, u.Failed); err != nil && !errors.Is(err, protocol.ErrConnection) {
				return hermes.TurnDone{}, fmt.Errorf("the session ended before it answered: %w", err)
			}
			if u.Snapshot != nil && u.Snapshot.Epoch != epoch {
				return hermes.TurnDone{}, errors.New("the process of the session ended before it answered")
			}
			if u.Snapshot != nil && again {
				err := c.Do(whole, id, from, say) // its key makes that it is taken once
				if again = errors.Is(err, protocol.ErrConnection); err != nil && !again {
					return hermes.TurnDone{}, err
				}
			}
			if shown.take(u); done != nil {
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
