package jobs

import (
	"context"
	"time"

	"hermes"
)

const (
	// sumUpTime limits the summary of one session.
	sumUpTime = 20 * time.Second
	// A session with fewer messages or exchanges gets no summary.
	sumUpMessages  = 6
	sumUpExchanges = 3
)

// Summarizer stores a summary of a conversation that has ended.
type Summarizer func(ctx context.Context, model string, transcript []hermes.Message) error

// Summary returns the job that sums up a session after its end. A short or unattended
// session gets none, and neither does one whose last turn failed or met a cap: no model
// would answer.
func Summary(sumUp Summarizer) Job { return &summary{sumUp: sumUp} }

type summary struct{ sumUp Summarizer }

func (*summary) Rest(Snapshot, *hermes.TurnDone) *Task { return nil }

func (j *summary) End(s Snapshot, _ bool) *Final {
	if !s.Answered || !s.Ref.Attended || len(s.Transcript) < sumUpMessages {
		return nil
	}
	return &Final{What: "sum up a session", Limit: sumUpTime, Run: func(ctx context.Context, transcript []hermes.Message) error {
		if exchanges(transcript) < sumUpExchanges {
			return nil
		}
		return j.sumUp(ctx, s.Ref.Model, transcript)
	}}
}

// exchanges counts the messages of the user.
func exchanges(transcript []hermes.Message) (n int) {
	for _, m := range transcript {
		if m.Role == hermes.RoleUser && !m.Synthetic {
			n++
		}
	}
	return n
}
