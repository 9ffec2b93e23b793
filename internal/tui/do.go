package tui

import (
	"context"
	"encoding/base64"
	"errors"

	"hermes/internal/command"
	"hermes/internal/session"
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
		c.later(func(ctx context.Context) any {
			r, err := command.Run(ctx, do.line, call)
			return ranMsg{do.line, r, err}
		}, func(err error) any { return ranMsg{do.line, command.Result{}, err} })
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
		c.suspend()
	case quitDo:
		c.quitting = true
	}
}

// submit hands the session an op. Urgent ops skip the queue.
func (c *chat) submit(s Session, op session.Op) {
	work := func(ctx context.Context) any { return submittedMsg{op, s.Submit(ctx, op)} }
	switch op.(type) {
	case session.Stop, session.Reply:
		c.urgent.Go(func() { c.report(work(c.ctx)) })
	default:
		c.later(work, func(err error) any { return submittedMsg{op, err} })
	}
}

func needsSession(do any) bool {
	switch do.(type) {
	case submitDo, commandDo, stateDo:
		return true
	}
	return false
}

// report sends a message to the loop, as long as it runs.
func (c *chat) report(msg any) {
	if msg == nil {
		return
	}
	select {
	case c.msgs <- msg:
	case <-c.done:
		if got, ok := msg.(gotSession); ok && got.session != nil {
			_ = got.session.Close() // too late to be used; the session logs its own errors
		}
	}
}

// errNoAnswer refuses work when the queue of 256 requests is full.
var errNoAnswer = errors.New("the session is not responding; press Ctrl+C twice to quit")

// later queues work that reports with a message. refused makes the message
// for work that could not be queued; nil shows only the error.
func (c *chat) later(work func(context.Context) any, refused func(error) any) {
	job := func(ctx context.Context) { c.report(work(ctx)) }
	select {
	case c.ops <- job:
	default:
		if refused == nil {
			c.model.complain(errNoAnswer)
			return
		}
		c.doAll(c.model.update(refused(errNoAnswer)))
	}
}

// work runs the queued work in order until the chat ends.
func (c *chat) work(ctx context.Context, ended chan<- struct{}) {
	defer close(ended)
	for {
		select {
		case job := <-c.ops:
			job(ctx)
		case <-c.done:
			return
		}
	}
}

// gotSession is the result of opening a session.
type gotSession struct {
	session Session
	opened  openedMsg
}

func openSession(ctx context.Context, open func(context.Context, Want) (Session, bool, error), w Want) any {
	s, resumed, err := open(ctx, w)
	if err != nil {
		return gotSession{opened: openedMsg{err: err}}
	}
	st, err := s.State(ctx)
	return gotSession{s, openedMsg{id: s.ID(), state: st, resumed: resumed, err: err}}
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
		c.session = got.session
		c.events, c.unsubscribe = got.session.Subscribe(256)
	}
	c.doAll(c.model.update(got.opened))
	if got.opened.err != nil {
		c.quitting = true
	}
}

// drop releases the session and closes it in the background.
func (c *chat) drop() {
	if c.session == nil {
		return
	}
	s, closed := c.session, make(chan struct{})
	c.unsubscribe()
	c.session, c.events = nil, nil
	c.closing = append(c.closing, closed)
	go func() { // awaited before Run returns
		defer close(closed)
		_ = s.Close() // the session logs its own errors
	}()
}

// suspend gives the terminal back to the shell until the chat is continued.
func (c *chat) suspend() {
	if !canSuspend {
		c.model.input.hint = "Suspending is not supported on this system"
		return
	}
	_ = c.screen.stop()
	c.tty.restore()
	suspendProcess()
	if err := c.tty.raw(); err != nil {
		c.quitting = true
		return
	}
	width, height := c.tty.size()
	c.screen.width = width
	_ = c.screen.start()
	c.doAll(c.model.update(sizeMsg{width, height}))
	c.draw()
}
