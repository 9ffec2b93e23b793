package tui

import (
	"cmp"
	"context"
	"encoding/base64"

	"hermes"
	"hermes/internal/protocol"
)

func (c *chat) doAll(list []any) {
	for _, do := range list {
		c.do(do)
	}
}

// do carries out an action of the model. Slow work goes to the worker.
func (c *chat) do(do any) {
	if c.session == nil && needsSession(do) {
		return // it was for a session that is closed
	}
	switch do := do.(type) {
	case submitDo:
		c.submit(do)
	case commandDo:
		id := c.session.id
		work := func(ctx context.Context) any { return ranMsg{do.line, c.client.Command(ctx, id, c.from, do.line)} }
		if runs(do.line, "stop") {
			c.stop(work)
			return
		}
		c.request(work, func(err error) any { return ranMsg{do.line, err} })
	case openDo:
		if do.want.resume == "" { // else the current one stays open until the other is ready
			c.drop()
		}
		c.later(func(ctx context.Context) any { return c.open(ctx, c.o.Start, do.want) }, nil)
	case copyDo:
		_ = c.screen.write("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(do.text)) + "\x07")
	case namesDo:
		id := c.model.conv.id
		c.now(func(ctx context.Context) any { return namesMsg{do.word, c.o.Places.Names(ctx, id, do.word)} })
	case bellDo:
		_ = c.screen.write("\a")
	case clearDo:
		_ = c.screen.clear()
		c.model.take()
	case redrawDo:
		_ = c.screen.write("\r\n")
		c.screen.forget()
		_ = c.screen.write("\x1b[H\x1b[2J")
	case suspendDo:
		if !canSuspend {
			c.model.input.Hint = "Suspending is not supported on this system"
		} else if c.suspend(c.model) != nil {
			c.quitting = true
		}
	case quitDo:
		c.quitting = true
	}
}

// submit hands the session an op. Urgent ops skip the queue.
func (c *chat) submit(do submitDo) {
	id := cmp.Or(do.to, c.session.id)
	work := func(ctx context.Context) any {
		at := c.attachments.Load()
		return submittedMsg{do.op, at, c.client.Do(ctx, id, c.from, do.op)}
	}
	switch do.op.(type) {
	case hermes.Stop:
		c.stop(work)
	case hermes.Reply, hermes.Touch:
		c.background.now(work)
	default:
		c.request(work, func(err error) any { return submittedMsg{op: do.op, err: err} })
	}
}

// stop does work that stops the session, before all that is queued, which is not
// done then.
func (c *chat) stop(work func(context.Context) any) {
	c.stops.Add(1)
	c.background.now(work)
}

// request queues work that a stop drops. refused makes the message for work that
// is not done.
func (c *chat) request(work func(context.Context) any, refused func(error) any) {
	before := c.stops.Load()
	c.later(func(ctx context.Context) any {
		if c.stops.Load() != before {
			return refused(hermes.ErrInterrupted)
		}
		return work(ctx)
	}, refused)
}

func needsSession(do any) bool {
	switch do.(type) {
	case submitDo, commandDo:
		return true
	}
	return false
}

// later queues work in the background. refused makes the message for work that
// could not be queued; nil shows only the error.
func (c *chat) later(work func(context.Context) any, refused func(error) any) {
	switch {
	case c.background.later(work):
	case refused == nil:
		c.model.complain(errNoAnswer)
	default:
		c.doAll(c.model.update(refused(errNoAnswer)))
	}
}

// adopt makes a session the current one.
func (c *chat) adopt(got gotSession) {
	if got.opened.err != nil && got.link != nil {
		c.leave(got.link)
	}
	if got.opened.err != nil && c.session != nil { // keep the current one
		c.model.say(c.model.errorLines(got.opened.err.Error())...)
		return
	}
	if c.session != nil {
		c.drop()
		c.model.reset()
	}
	if got.opened.err != nil {
		c.doAll(c.model.update(got.opened))
		c.quitting = true
		return
	}
	c.attached.take(got.link)
	early := c.model.update(got.opened)
	c.seen = catchup{emit: c.happened}
	c.seen.take(got.update)
	c.found(got.opened.state) // the turn began earlier
	c.doAll(early)
}

// happened passes an event of the session on to the model.
func (c *chat) happened(e protocol.Envelope) { c.doAll(c.model.update(eventMsg{e})) }

// found says that the session is in reach.
func (c *chat) found(s protocol.Snapshot) {
	do := c.model.update(foundMsg{s})
	c.attachments.Store(c.model.conv.attachments)
	c.doAll(do)
}

// follow shows an update of the session.
func (c *chat) follow(u protocol.Update) {
	if u.Lost != nil {
		c.model.update(lostMsg{u.Lost})
	}
	c.seen.take(u)
	if u.Snapshot != nil {
		c.found(*u.Snapshot)
	}
	if u.Failed != nil {
		c.session.updates = nil
		c.model.update(goneMsg{u.Failed})
	}
}
