package session

import (
	"context"

	"hermes"
)

// compactJob shortens the transcript of an idle session in the background. It changes
// nothing: the actor takes its result or drops it whole.
type compactJob struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// compactedOp is the result of a compactJob.
type compactedOp struct {
	job    *compactJob
	result hermes.CompactResult
}

func (compactedOp) op() {}

// usage says how full the window of the session's model is.
func (s *Session) usage() hermes.ContextUsage {
	p := hermes.ContextUsage{
		Model: s.row.Model, Counted: s.counted,
		Used: int((s.last.Prompt() + s.last.Output) / max(s.last.Calls, 1)), // failed attempts had the same prompt
	}
	if s.runtime.Window != nil {
		p.Window = s.runtime.Window(s.row.Model)
	}
	return p
}

// awaitIdle starts the clock of the compaction of an idle session.
func (s *Session) awaitIdle() {
	if s.turn == nil && s.runtime != nil && s.runtime.Context != nil && s.runtime.CompactAfter > 0 {
		s.untilCompact.start(s.runtime.CompactAfter)
	}
}

// compactIdle shortens the transcript in the background if it is worth it. A session
// whose last turn is not finished stays as it is.
func (s *Session) compactIdle() {
	if s.turn != nil || s.compactJob != nil || s.cut || len(s.transcript) == 0 {
		return
	}
	p := s.usage()
	p.Idle = true
	ctx, cancel := context.WithCancel(s.ctx)
	j := &compactJob{cancel: cancel, done: make(chan struct{})}
	s.compactJob = j
	engine, transcript := s.runtime.Context, s.transcript[:len(s.transcript):len(s.transcript)]
	go func() { // ends when the actor has the result, or with stopCompaction
		defer close(j.done)
		defer cancel()
		f, err := engine.Fit(ctx, transcript, p)
		if err != nil && ctx.Err() == nil {
			s.cfg.Log.Info("compact an idle session", "session", s.id, "err", err)
		}
		_ = s.Submit(ctx, compactedOp{j, f}) // a job that was stopped has no result
	}()
}

// compactedIdle takes the result of the job that is running.
func (s *Session) compactedIdle(op compactedOp) error {
	if s.compactJob != op.job {
		return nil
	}
	s.compactJob = nil
	if op.result.From == nil {
		return nil
	}
	if err := s.compact(op.result); err != nil {
		s.cfg.Log.Warn("store the compaction of an idle session", "session", s.id, "err", err)
		return nil
	}
	s.publish(hermes.Compacted{CompactResult: op.result, Note: op.result.Note})
	return nil
}

// stopCompaction stops the job and waits until it ends, so that the engine and the
// transcript are free for what comes next. The actor calls it before everything that
// uses one of them.
func (s *Session) stopCompaction() {
	s.untilCompact.stop()
	if s.compactJob == nil {
		return
	}
	s.compactJob.cancel()
	<-s.compactJob.done
	s.compactJob = nil
}
