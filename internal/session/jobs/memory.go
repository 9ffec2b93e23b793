package jobs

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/recallblock"
)

const (
	// observeTime is how long a memory may work on one turn.
	observeTime = 30 * time.Second
	// maxObserving is how many turns may wait for the memory; further ones are not
	// observed.
	maxObserving = 16
)

// Observer gets the turns that ended successfully, one after another.
type Observer func(ctx context.Context, t hermes.MemoryTurn) error

// Memory returns the job that passes each turn to a memory.
func Memory(observe Observer, now func() time.Time, log *slog.Logger) Job {
	return &memory{observe: observe, now: now, log: log, slots: make(chan struct{}, maxObserving)}
}

type memory struct {
	noEnd
	observe Observer
	now     func() time.Time
	log     *slog.Logger
	tail    chan struct{} // closed when the last turn so far was observed
	slots   chan struct{} // one for each turn that waits or runs
}

func (j *memory) Rest(s Snapshot, done *hermes.TurnDone) *Task {
	if done == nil || done.Outcome != hermes.OutcomeDone || done.Text == "" {
		return nil
	}
	said := saidIn(s.Transcript, done.Turn)
	if said == "" {
		return nil
	}
	select {
	case j.slots <- struct{}{}:
	default:
		j.log.Warn("the memory is too slow: it did not get a turn", "session", s.Ref.ID, "turn", done.Turn)
		return nil
	}
	before, now := j.tail, make(chan struct{})
	j.tail = now
	turn := hermes.MemoryTurn{Session: s.Ref, Said: said, Answer: recallblock.Strip(done.Text), At: j.now()}
	turn.Session.Turn = done.Turn
	return &Task{Late: true, Run: func(ctx context.Context, _ Snapshot) func(Session) {
		defer close(now)
		defer func() { <-j.slots }()
		if before != nil {
			<-before
		}
		ctx, cancel := context.WithTimeout(ctx, observeTime)
		defer cancel()
		if err := j.observe(ctx, turn); err != nil {
			j.log.Warn("pass a turn to the memory", "session", turn.Session.ID, "turn", turn.Session.Turn, "err", err)
		}
		return nil
	}}
}

// saidIn returns what the user said in a turn.
func saidIn(transcript []hermes.Message, turn int64) string {
	var said []string
	for _, m := range slices.Backward(transcript) {
		if m.Turn < turn {
			break
		}
		if m.Turn == turn && m.Role == hermes.RoleUser && !m.Synthetic && m.Visible() != "" {
			said = append(said, m.Visible())
		}
	}
	slices.Reverse(said)
	return strings.Join(said, "\n")
}
