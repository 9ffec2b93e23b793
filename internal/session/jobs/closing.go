package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"hermes"
)

const (
	// saveGrace is how long the end of the program waits for running work that can be
	// done another time, closeGrace how long it waits for other work.
	saveGrace  = time.Second
	closeGrace = 4 * time.Second
)

// Final is work that is done after a session has ended. Only the end of the program waits
// for it, for a few seconds.
type Final struct {
	What  string // for the log
	Run   func(ctx context.Context, transcript []hermes.Message) error
	Limit time.Duration
	// After, if set, is a pause before, for work that can be done another time. If the
	// program ends meanwhile, Run gets a context that has ended or ends soon.
	After time.Duration
}

// Closing runs the work that is left when sessions end. Its methods may be called
// concurrently. The zero value is ready to use.
type Closing struct {
	wg         sync.WaitGroup
	once       sync.Once
	ctx        context.Context
	cancel     context.CancelFunc
	closing    context.Context // ends when the program begins to end
	beginClose context.CancelFunc

	mu    sync.Mutex
	group *group // the work up to the next Halt; nil before the first
}

func (c *Closing) start() {
	c.once.Do(func() {
		c.ctx, c.cancel = context.WithCancel(context.Background())
		c.closing, c.beginClose = context.WithCancel(c.ctx)
	})
}

// Halt stops the work that is running or waits, and returns a channel that is closed when all of
// it has ended. Later work runs.
func (c *Closing) Halt() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.group == nil {
		ended := make(chan struct{})
		close(ended)
		return ended
	}
	g := c.group
	c.group = nil
	g.stop()
	return g.ended()
}

// begin does a work in the background, with a context that ends with the next Halt.
func (c *Closing) begin(work func(ctx context.Context)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.group == nil {
		c.group = newGroup(c.ctx)
	}
	g := c.group
	c.wg.Add(1)
	g.wg.Go(func() {
		defer c.wg.Done()
		work(g.ctx)
	})
}

// run does a work in the background.
func (c *Closing) run(f *Final, s Snapshot, log *slog.Logger) {
	c.start()
	c.begin(func(halting context.Context) {
		ctx, cancel := context.WithCancel(halting)
		defer cancel()
		if f.After > 0 {
			wait := time.NewTimer(f.After)
			defer wait.Stop()
			select {
			case <-c.closing.Done():
				cancel()
			case <-halting.Done():
			case <-wait.C:
				stop := context.AfterFunc(c.closing, func() { time.AfterFunc(saveGrace, cancel) })
				defer stop()
			}
		}
		ctx, done := context.WithTimeout(ctx, f.Limit)
		defer done()
		err := s.load(context.WithoutCancel(ctx)) // it is short, and what is queued needs it
		if err == nil {
			err = f.Run(ctx, s.Transcript)
		}
		if err != nil {
			log.Info(f.What, "session", s.Ref.ID, "err", err)
		}
	})
}

// Wait waits for all work and cancels what takes too long. No work may be added afterwards.
func (c *Closing) Wait() {
	c.start()
	c.beginClose()
	late := time.AfterFunc(closeGrace, c.cancel)
	c.wg.Wait()
	late.Stop()
	c.cancel()
}
