package tui

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// background does the slow work of the chat. Each piece of work reports with a
// message to the loop; a nil message is none.
type background struct {
	ctx    context.Context            // of the chat
	msgs   chan any                   // what was reported
	ops    chan func(context.Context) // work that is done one after another
	done   chan struct{}              // closed when the loop has ended
	urgent sync.WaitGroup             // work that skipped the queue
	worked sync.WaitGroup             // the worker
	stops  atomic.Int64               // how often the user stopped the session
	late   chan *link                 // sessions that were opened too late to be used
}

func newBackground(ctx context.Context) *background {
	b := &background{ctx: ctx, msgs: make(chan any), ops: make(chan func(context.Context), 256), done: make(chan struct{}), late: make(chan *link, 256)}
	b.worked.Go(b.work)
	return b
}

// errNoAnswer refuses work when the queue of 256 requests is full.
var errNoAnswer = errors.New("the session is not responding; press Ctrl+C twice to quit")

// later queues work. It reports false if the queue is full.
func (b *background) later(work func(context.Context) any) bool {
	select {
	case b.ops <- func(ctx context.Context) { b.report(work(ctx)) }:
		return true
	default:
		return false
	}
}

// now does work that must not wait for other work.
func (b *background) now(work func(context.Context) any) {
	b.urgent.Go(func() { b.report(work(b.ctx)) })
}

// report sends a message to the loop, as long as it runs.
func (b *background) report(msg any) {
	if msg == nil {
		return
	}
	select {
	case b.msgs <- msg:
	case <-b.done:
		if got, ok := msg.(gotSession); ok && got.link != nil {
			b.late <- got.link
		}
	}
}

// work runs the queued work in order until the chat ends.
func (b *background) work() {
	for {
		select {
		case job := <-b.ops:
			job(b.ctx)
		case <-b.done:
			return
		}
	}
}

// wait waits for the work, whose reports come too late. The loop and the
// context must have ended. It returns the sessions that were opened too late.
func (b *background) wait() (late []*link) {
	b.worked.Wait()
	b.urgent.Wait()
	close(b.late)
	for l := range b.late {
		late = append(late, l)
	}
	return late
}
