package review

import (
	"context"

	"hermes"
)

const (
	manyCalls = 8  // this many calls make a turn hard
	someFails = 2  // or this many failures before a success
	pause     = 10 // turns between two reviews of a session because of its steps
)

// Pace says how often sessions are reviewed automatically.
type Pace struct {
	// Turns is after how many turns of the user a review is due; 0 turns this
	// off.
	Turns int
	// Steps is after how many steps with tool calls a review is due. A hard
	// turn also makes one due. 0 turns both off.
	Steps int
	// Flush is how many turns without review a session must have to be reviewed
	// when it ends; 0 means 1.
	Flush int
}

// off reports whether sessions are reviewed only if the user asks.
func (p Pace) off() bool { return p.Turns <= 0 && p.Steps <= 0 }

// due reports whether a review is due after a turn. last is the turn of the
// last review, 0 for none.
func (p Pace) due(t Conversation, last int64) bool {
	turns, steps := since(t, last)
	if p.Turns > 0 && turns >= p.Turns {
		return true
	}
	if p.Steps <= 0 || last > 0 && turns < pause {
		return false
	}
	return steps >= p.Steps || hard(t.Transcript, t.Session.Turn)
}

// ends reports whether a session that ends is reviewed.
func (p Pace) ends(t Conversation, last int64) bool {
	turns, _ := since(t, last)
	return !p.off() && turns >= max(1, p.Flush)
}

// since counts the user's turns and the steps with calls after a turn. Turns
// that a compaction hid count; turns that the program began do not.
func since(t Conversation, last int64) (turns, steps int) {
	turns = int(t.Session.Turn - last)
	begun := int64(0)
	for _, m := range t.Transcript {
		if m.Turn <= last {
			continue
		}
		if len(m.Calls) > 0 {
			steps++
		}
		if m.Turn != begun && m.Role == hermes.RoleUser {
			if begun = m.Turn; m.Synthetic {
				turns--
			}
		}
	}
	return turns, steps
}

// hard reports whether a turn had many calls, or failures before a success.
func hard(transcript []hermes.Message, turn int64) bool {
	calls, failures, last := 0, 0, false
	for _, m := range transcript {
		if m.Turn != turn || m.Role != hermes.RoleTool {
			continue
		}
		calls++
		if last = m.Failed; last {
			failures++
		}
	}
	return calls >= manyCalls || failures >= someFails && !last
}

// Due reports whether [Runner.Turn] has a review to do after a turn.
func (r *Runner) Due(ctx context.Context, t Conversation) bool {
	return r.due(ctx, t) || r.hasPending(ctx, t)
}

func (r *Runner) due(ctx context.Context, t Conversation) bool {
	last := r.lastOf(ctx, t.Session)
	return r.cfg.Pace.due(t, last) || r.hasLeft(t, last)
}

// maxSessions is how many sessions' last reviews are kept in memory.
const maxSessions = 1000

func (r *Runner) note(s hermes.SessionRef) {
	r.rate.Lock()
	defer r.rate.Unlock()
	r.last.Put(s.ID, s.Turn)
}

// lastOf returns the turn of a session's last review, 0 if there was none: one
// begun in this process, or the last one in the queue.
func (r *Runner) lastOf(ctx context.Context, s hermes.SessionRef) int64 {
	r.rate.Lock()
	last, ok := r.last.Get(s.ID)
	r.rate.Unlock()
	if ok {
		return last
	}
	if last = r.finished(ctx, s); last > 0 {
		r.note(hermes.SessionRef{ID: s.ID, Turn: last})
	}
	return last
}

// finished returns the turn of the last finished review, from the queue.
func (r *Runner) finished(ctx context.Context, s hermes.SessionRef) int64 {
	q, err := r.queue(ctx)
	if err != nil || q == nil {
		return 0
	}
	last, err := q.Reviewed(ctx, s.ID)
	if err != nil || last > s.Turn { // undone since
		return 0
	}
	return last
}
