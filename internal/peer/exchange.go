package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/protocol"
)

// exchange is a message and the turn that answers it.
type exchange struct {
	*Peers
	message hermes.PeerMessage
	from    hermes.From
	answer  chan hermes.PeerAnswer // gets one
	ctx     context.Context
	cancel  context.CancelFunc

	reached bool // the session may know of this exchange
	events  <-chan protocol.Envelope
	turn    int64 // that answers the message; 0 until it begins
	waits   bool  // the message was seen to wait
	gone    bool  // it waits no more
}

// leaveTime bounds how long a session is waited for that is left.
const leaveTime = 5 * time.Second

// run delivers the message, which sent tells, then follows the turn.
func (e *exchange) run(sent chan<- error) {
	err := e.deliver()
	if errors.Is(err, hermes.ErrClosed) && e.ctx.Err() == nil { // it was closed between two looks
		err = e.deliver()
	}
	sent <- err
	var a hermes.PeerAnswer
	if err == nil {
		a = e.follow()
	}
	if e.reached {
		if e.ctx.Err() != nil && e.Peers.ctx.Err() == nil { // the caller waits no more, but the message may be there
			e.do(hermes.Stop{})
		}
		e.do(hermes.Leave{})
	}
	e.answer <- a
}

// end stops the turn of the message; the session refuses that while a user attends it.
func (e *exchange) end() { e.do(hermes.Stop{}) }

// do asks the session for something that it does for this exchange only.
func (e *exchange) do(op hermes.Op) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), leaveTime)
	defer cancel()
	if err := e.cfg.Client.Do(ctx, e.message.To, e.from, op); err != nil && !errors.Is(err, hermes.ErrClosed) {
		e.cfg.Log.Warn("end an exchange between sessions", "session", e.message.To, "err", err)
	}
}

// deliver opens the session unless it is live, attaches to it and sends the message, which waits while
// the session is busy.
func (e *exchange) deliver() error {
	client, id := e.cfg.Client, e.message.To
	infos, err := client.Sessions(e.ctx, protocol.Filter{ID: id})
	if err != nil {
		return err
	}
	if len(infos) != 1 {
		return hermes.ErrNotFound
	}
	if infos[0].Running == nil {
		_, err := client.Open(e.ctx, e.from, hermes.RunSpec{Session: id, Rights: hermes.Rights{Mode: hermes.ModeAsk, WhenUnattended: hermes.UnattendedDeny}})
		switch {
		case errors.Is(err, hermes.ErrLeased): // another program was faster, or does not listen: attaching says so
		case err != nil:
			return err
		default:
			e.reached = true
		}
	}
	state, events, err := client.Attach(e.ctx, id, e.from, protocol.After{})
	if err != nil {
		return err
	}
	e.events, e.reached = events, true
	if e.message.Waits && (infos[0].Running == nil || !infos[0].Running.Here) && waits(state) {
		return errors.New("it waits for the answer of another session itself, in another process; try again later, or send the message without waiting")
	}
	say := hermes.Say{
		Parts: []hermes.Part{{Text: e.message.Header, Provenance: e.message.Provenance}, {Text: e.message.Text, Provenance: e.message.Provenance}},
		Busy:  hermes.BusyQueue, Key: key(),
	}
	return client.Do(e.ctx, id, e.from, say)
}

// waits reports whether a turn waits for the answer of a session. Of those in this process it is known for which.
func waits(s protocol.Snapshot) bool {
	return s.Turn != nil && slices.ContainsFunc(s.Turn.Calls, func(c protocol.Call) bool {
		call := c.Call.Forwarded()
		var in struct{ Wait *bool }
		return call.Name == hermes.PeerTool && (json.Unmarshal([]byte(call.Arguments), &in) != nil || in.Wait == nil || *in.Wait)
	})
}

// follow returns the outcome of the turn of the message.
func (e *exchange) follow() hermes.PeerAnswer {
	for {
		select {
		case <-e.ctx.Done():
			return interrupted("the program ends")
		case env, ok := <-e.events:
			if !ok {
				if a, over := e.again(); over {
					return a
				}
				continue
			}
			if env.Session != e.message.To { // that of a child
				continue
			}
			if a, over := e.happened(env.Event); over {
				return a
			}
		}
	}
}

// happened handles an event of the session.
func (e *exchange) happened(event hermes.Event) (a hermes.PeerAnswer, over bool) {
	switch event := event.(type) {
	case hermes.TurnStarted:
		if e.in(event.Message) {
			e.turn = event.Turn
		}
	case hermes.Queued:
		now := e.among(event.Messages)
		e.waits, e.gone = e.waits || now, e.waits && !now
	case hermes.TurnDone:
		switch {
		case e.turn != 0 && event.Turn == e.turn:
			return e.reported(event), true
		case e.turn == 0 && e.gone: // it waits no more, and no turn began with it
			return interrupted("the message was dropped, because the session was stopped"), true
		}
	case hermes.Closed:
		return interrupted("the session was closed"), true
	}
	return a, false
}

// again attaches once more after the events were lost. What happened meanwhile is in the snapshot.
func (e *exchange) again() (a hermes.PeerAnswer, over bool) {
	s, events, err := e.cfg.Client.Attach(e.ctx, e.message.To, e.from, protocol.After{})
	if err != nil {
		return interrupted(fmt.Sprintf("the session is not reached any more: %v", err)), true
	}
	e.events = events
	switch {
	case s.Turn != nil && e.in(s.Turn.Said):
		e.turn = s.Turn.Number
	case e.among(s.Queue):
		e.waits = true // it may be dropped before anything else is seen
	case e.turn != 0 && s.Turn != nil && s.Turn.Number == e.turn:
	case e.turn != 0 && s.Done != nil && s.Done.Turn == e.turn:
		return e.reported(*s.Done), true
	default:
		return interrupted("its answer was missed; read it with session_search"), true
	}
	return a, false
}

// in reports whether a message of the session has this one.
func (e *exchange) in(m hermes.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p hermes.Part) bool { return p.Text == e.message.Header })
}

// among reports whether the message waits.
func (e *exchange) among(list []hermes.QueuedMessage) bool {
	return slices.ContainsFunc(list, func(m hermes.QueuedMessage) bool { return strings.HasPrefix(m.Text, e.message.Header) })
}

func interrupted(why string) hermes.PeerAnswer {
	return hermes.PeerAnswer{Outcome: hermes.OutcomeInterrupted, Text: why}
}

// reported is what the turn says, with the sources of what its session has read.
func (e *exchange) reported(done hermes.TurnDone) hermes.PeerAnswer {
	a := hermes.PeerAnswer{Outcome: done.Outcome, Text: done.Text, Provenance: e.provenance()}
	if done.Failure != nil {
		a.Text = done.Failure.Error()
	}
	return a
}

// provenance returns the sources of untrusted text that the session has read. One that cannot be read counts as
// tainted.
func (e *exchange) provenance() string {
	unknown := hermes.ProvenanceSource("session", e.message.To)
	row, err := e.cfg.Store.FindSession(e.ctx, e.message.To)
	if err != nil {
		return unknown
	}
	all, r := row.Provenance, hermes.Range{First: pageSize * 10}
	for {
		list, err := e.cfg.Store.Messages(e.ctx, row.ID, r)
		if err != nil {
			return hermes.AddProvenance(all, unknown)
		}
		all = hermes.AddProvenance(all, hermes.TranscriptProvenance(list))
		if len(list) < r.First {
			return all
		}
		r.After = list[len(list)-1].ID
	}
}
