package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"hermes"
)

const (
	// sumUpTime bounds the summary of one session.
	sumUpTime = 20 * time.Second
	// saveTime bounds the last look back at one session.
	saveTime = 10 * time.Minute
	// savePause is how long a look back waits: if the program ends with the
	// session, there is no time for one, and none is begun.
	savePause = 2 * time.Second
	// saveGrace is how long the end of the program waits for one that is under
	// way, sumUpGrace how long it waits for summaries.
	saveGrace  = time.Second
	sumUpGrace = 4 * time.Second
	// A session is worth a summary from so many messages and exchanges on.
	sumUpMessages  = 6
	sumUpExchanges = 3
)

// closingJobs is what goes on after sessions have ended. The manager's Close
// waits for it.
type closingJobs struct {
	wg         sync.WaitGroup
	once       sync.Once
	ctx        context.Context
	cancel     context.CancelFunc
	closing    context.Context // ends when the end is waited for
	beginClose context.CancelFunc
}

func (a *closingJobs) start() {
	a.once.Do(func() {
		a.ctx, a.cancel = context.WithCancel(context.Background())
		a.closing, a.beginClose = context.WithCancel(a.ctx)
	})
}

// do runs a func beside everything else. Its context ends with the program.
func (a *closingJobs) do(run func(context.Context)) {
	a.start()
	a.wg.Go(func() { run(a.ctx) })
}

// later is do for what can wait until another time: where the program is being
// left, run is called with a context that has ended or ends soon.
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

// wait waits, and cuts off what takes too long.
func (a *closingJobs) wait() {
	a.start()
	a.beginClose()
	late := time.AfterFunc(sumUpGrace, a.cancel)
	a.wg.Wait()
	late.Stop()
	a.cancel()
}

// sumUp has a session that ends summarised, beside its end: nobody waits for
// it but the end of the program. A talk that is short, or that no person had,
// is left as it is, and so is one whose last turn failed or met a cap: no
// model can be asked.
func (s *Session) sumUp() {
	if !s.fresh || !s.attended || s.runtime == nil || s.runtime.SumUp == nil || len(s.transcript) < sumUpMessages {
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

// save has a session that ends looked back at, beside its end, so that what it
// taught is not lost with it; where the program ends with the session, that is
// only noted. cut says that a review was due or under way.
func (s *Session) save(cut bool) {
	if !s.fresh || !s.attended || s.runtime == nil || s.runtime.Save == nil {
		return
	}
	do, ref, model, transcript, log := s.runtime.Save, s.ref(s.lastTurn()), s.row.Model, slices.Clip(s.transcript), s.cfg.Log
	s.manager.closing.later(savePause, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, saveTime)
		defer cancel()
		if err := do(ctx, ref, model, transcript, cut); err != nil {
			log.Info("look back at a session that has ended", "session", ref.ID, "err", err)
		}
	})
}
