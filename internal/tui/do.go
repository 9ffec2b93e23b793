package tui

import (
	"context"
	"encoding/base64"

	"hermes"
	"hermes/internal/command"
)

func (c *chat) doAll(list []any) {
	for _, do := range list {
		c.do(do)
	}
}

// do carries out an action of the model. Slow work goes to the worker.
func (c *chat) do(do any) {
	s := c.session
	if s == nil && needsSession(do) {
		return // it was for a session that is closed
	}
	switch do := do.(type) {
	case submitDo:
		c.submit(s, do.op)
	case commandDo:
		call := c.o.call(s, do.confirmed)
		work := func(ctx context.Context) any {
			r, err := command.Run(ctx, do.line, call)
			return ranMsg{do.line, r, err}
		}
		if runs(do.line, "stop") {
			c.stop(work)
			return
		}
		c.request(work, func(err error) any { return ranMsg{do.line, command.Result{}, err} })
	case stateDo:
		c.later(func(ctx context.Context) any {
			st, err := s.State(ctx)
			if err != nil {
				return nil
			}
			return stateMsg{st}
		}, nil)
	case openDo:
		if do.want.Resume == "" { // else the current one stays open until the other is ready
			c.drop()
		}
		do.want.Waiting = func(text string) { c.report(waitingMsg(text)) }
		c.later(func(ctx context.Context) any { return openSession(ctx, c.o.Open, do.want) }, nil)
	case copyDo:
		_ = c.screen.write("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(do.text)) + "\x07")
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
func (c *chat) submit(s Session, op hermes.Op) {
	work := func(ctx context.Context) any { return submittedMsg{op, s.Submit(ctx, op)} }
	switch op.(type) {
	case hermes.Stop:
		c.stop(work)
	case hermes.Reply:
		c.now(work)
	default:
		c.request(work, func(err error) any { return submittedMsg{op, err} })
	}
}

// stop does work that stops the session, before all that is queued, which is not
// done then.
func (c *chat) stop(work func(context.Context) any) {
	c.stops.Add(1)
	c.now(work)
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
	case submitDo, commandDo, stateDo:
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
	if got.opened.err != nil && c.session != nil { // keep the current one
		c.model.say(c.model.errorLines(got.opened.err.Error())...)
		return
	}
	if c.session != nil {
		c.drop()
		c.model.reset()
	}
	if got.session != nil {
		c.attached.take(got.session)
	}
	c.doAll(c.model.update(got.opened))
	if got.opened.err != nil {
		c.quitting = true
	}
}
