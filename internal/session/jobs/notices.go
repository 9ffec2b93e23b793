package jobs

import (
	"context"

	"hermes"
)

// Notices returns the job that shows the user what take returns after each turn, as warnings. take may
// be called concurrently with whatever makes them.
func Notices(take func() []string) Job { return &notices{take: take} }

type notices struct {
	noEnd
	take func() []string
}

func (j *notices) Rest(_ Snapshot, done *hermes.TurnDone) *Task {
	list := j.take()
	if len(list) == 0 {
		return nil
	}
	return &Task{Run: func(context.Context, Snapshot) func(Session) {
		return func(to Session) {
			for _, text := range list {
				to.Publish(hermes.Notice{Level: hermes.NoticeWarning, Text: text})
			}
		}
	}}
}
