package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"hermes"
)

const (
	// sumUpTime limits the summary of one session.
	sumUpTime = 20 * time.Second
	// saveTime limits the final review of one session.
	saveTime = 10 * time.Minute
	// savePause is how long a final review waits before it starts. If the
	// program ends with the session, there is no time to run it.
	savePause = 2 * time.Second
	// saveGrace is how long the end of the program waits for a running final
	// review, sumUpGrace how long it waits for summaries.
	saveGrace  = time.Second
	sumUpGrace = 4 * time.Second
	// A session with fewer messages or exchanges gets no summary.
	sumUpMessages  = 6
	sumUpExchanges = 3
)

// closingJobs are the background jobs that run after sessions have ended. The
// manager's Close waits for them.
type closingJobs struct {
	wg         sync.WaitGroup
	once       sync.Once
	ctx        context.Context
	cancel     context.CancelFunc
	closing    context.Context // ends when the program begins to end
	beginClose context.CancelFunc
}

func (a *closingJobs) start() {
	a.once.Do(func() {
		a.ctx, a.cancel = context.WithCancel(context.Background())
		a.closing, a.beginClose = context.WithCancel(a.ctx)
	})
}

// do runs a func in the background. Its context ends with the program.
func (a *closingJobs) do(run func(context.Context)) {
	a.start()
	a.wg.Go(func() { run(a.ctx) })
}

// later is do after a pause, for work that can be done another time. If the
// program ends meanwhile, run gets a context that has ended or ends soon.
func (a *closingJobs) later(pause time.Duration, run func(context.Context)) {
	a.do(func(ctx context.Context) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		wait := time.NewTimer(pause)
		defer wait.Stop()
		select {
		case <-a.closing.Done():
			cancel()
		case <-wait.C:
			stop := context.AfterFunc(a.closing, func() { time.AfterFunc(saveGrace, cancel) })
			defer stop()
		}
		run(ctx)
	})
}

// wait waits for all jobs and cancels those that take too long.
func (a *closingJobs) wait() {
	a.start()
	a.beginClose()
	late := time.AfterFunc(sumUpGrace, a.cancel)
	a.wg.Wait()
	late.Stop()
	a.cancel()
}

// sumUp starts the summary of a session that ends. Only the end of the program
// waits for it. A short or unattended session gets none, and neither does one
// whose last turn failed or met a cap: no model would answer.
func (s *Session) sumUp() {
	if !s.answered || !s.attended || s.runtime == nil || s.runtime.SumUp == nil || len(s.transcript) < sumUpMessages {
		return
	}
	exchanges := 0
	for _, m := range s.transcript {
		if m.Role == hermes.RoleUser && !m.Synthetic {
			exchanges++
		}
	}
	if exchanges < sumUpExchanges {
		return
	}
	do, id, model, transcript, log := s.runtime.SumUp, s.id, s.row.Model, slices.Clip(s.transcript), s.cfg.Log
	s.manager.closing.do(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, sumUpTime)
		defer cancel()
		if err := do(ctx, model, transcript); err != nil {
			log.Info("sum up a session", "session", id, "err", err)
		}
	})
}

// save starts the final review of a session that ends, so that nothing learned
// is lost. If the program ends with the session, the review is only queued. cut
// says that a review was due or running.
func (s *Session) save(cut bool) {
	if !s.answered || !s.attended || s.runtime == nil || s.runtime.Save == nil {
		return
	}
	do, ref, model, transcript, log := s.runtime.Save, s.ref(s.lastTurn()), s.row.Model, slices.Clip(s.transcript), s.cfg.Log
	s.manager.closing.later(savePause, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, saveTime)
		defer cancel()
		if err := do(ctx, ref, model, transcript, cut); err != nil {
			log.Info("review a session that has ended", "session", ref.ID, "err", err)
		}
	})
}
