package jobs

import (
	"context"
	"time"

	"hermes"
)

// Idle returns the job that calls tell when a session has waited for the user for a while after a turn, once each time it
// waits. A turn calls it off. Nothing is told of a session that no user attends, or of a child; and the end of a session does
// not wait for it.
func Idle(after time.Duration, tell func(ctx context.Context, s hermes.SessionRef)) Job {
	return &idle{after: after, tell: tell}
}

type idle struct {
	noEnd
	after time.Duration
	tell  func(ctx context.Context, s hermes.SessionRef)
}

func (j *idle) Rest(s Snapshot, done *hermes.TurnDone) *Task {
	if done == nil || s.Ref.Depth > 0 { // without a turn it was only opened
		return nil
	}
	return &Task{After: j.after, Run: func(ctx context.Context, s Snapshot) func(Session) {
		if s.Ref.Attended { // users come and go while it waits
			j.tell(ctx, s.Ref)
		}
		return nil
	}}
}
