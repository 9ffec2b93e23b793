package jobs

import (
	"context"
	"log/slog"
	"time"

	"hermes"
	"hermes/internal/hook"
)

// Compaction returns the job that shortens the transcript of a session that has been idle
// for a while, if that is worth it. A session whose last turn is not finished stays as it is.
func Compaction(engine hermes.ContextEngine, hooks *hook.Hooks, after time.Duration, log *slog.Logger) Job {
	return &compaction{engine: engine, hooks: hooks, after: after, log: log}
}

type compaction struct {
	noEnd
	engine hermes.ContextEngine
	hooks  *hook.Hooks
	after  time.Duration
	log    *slog.Logger
}

func (j *compaction) Rest(Snapshot, *hermes.TurnDone) *Task {
	return &Task{After: j.after, Alone: true, Run: j.compact}
}

func (j *compaction) compact(ctx context.Context, s Snapshot) func(Session) {
	if s.Cut || len(s.Transcript) == 0 {
		return nil
	}
	usage := s.Usage
	usage.Idle = true
	r, err := j.hooks.Engine(j.engine, s.Ref).Fit(ctx, s.Transcript, usage)
	if err != nil && ctx.Err() == nil {
		j.log.Info("compact an idle session", "session", s.Ref.ID, "err", err)
	}
	if r.From == nil {
		return nil
	}
	return func(to Session) {
		if err := to.TakeCompaction(r); err != nil {
			j.log.Warn("store the compaction of an idle session", "session", s.Ref.ID, "err", err)
			return
		}
		to.Publish(hermes.Compacted{CompactResult: r, Note: r.Note})
	}
}
