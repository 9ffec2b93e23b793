package jobs

import (
	"context"
	"log/slog"

	"hermes"
)

// TitleFinder finds a title for a conversation; "" means none.
type TitleFinder func(ctx context.Context, model string, transcript []hermes.Message) (string, error)

// Title returns the job that finds a title after the first exchange of a session that has
// none. It tries only once.
func Title(find TitleFinder, log *slog.Logger) Job { return &title{find: find, log: log} }

type title struct {
	noEnd
	find  TitleFinder
	log   *slog.Logger
	tried bool
}

func (j *title) Rest(s Snapshot, done *hermes.TurnDone) *Task {
	// After a limit, no more calls are made.
	if j.tried || s.Titled || done == nil || done.Text == "" || done.Outcome != hermes.OutcomeDone {
		return nil
	}
	j.tried = true
	return &Task{Run: func(ctx context.Context, s Snapshot) func(Session) {
		text, err := j.find(ctx, s.Ref.Model, s.Transcript)
		if err != nil {
			j.log.Info("find a title", "session", s.Ref.ID, "err", err)
		}
		if text == "" {
			return nil
		}
		return func(to Session) {
			if err := to.TakeTitle(text); err != nil {
				j.log.Info("store a title", "session", s.Ref.ID, "err", err)
			}
		}
	}}
}

// noEnd is the End of jobs that leave nothing.
type noEnd struct{}

func (noEnd) End(Snapshot, bool) *Final { return nil }
