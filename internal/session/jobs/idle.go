package jobs

import (
	"context"
	"time"

	"hermes"
)

// Idle returns the job that calls tell when a session has waited for the user for a while after a turn, once each time it
// waits. A turn calls it off.
func Idle(after time.Duration, tell func(ctx context.Context, s hermes.SessionRef)) Job {
	return &idle{after: after, tell: tell}
}

type idle struct {
	noEnd
	after time.Duration
	tell  func(ctx context.Context, s hermes.SessionRef)
}

func (j *idle) Rest(_ Snapshot, done *hermes.TurnDone) *Task {
	if done == nil { // it was only opened
		return nil
	}
	return &Task{After: j.after, Late: true, Run: func(ctx context.Context, s Snapshot) func(Session) {
		j.tell(ctx, s.Ref)
		return nil
	}}
}
