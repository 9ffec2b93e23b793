package review

import (
	"context"

	"hermes"
)

const (
	manyCalls = 8  // calls make a turn hard
	someFails = 2  // or failures do, that were overcome
	pause     = 10 // turns between two reviews of a session because of its steps
)

// Pace says how often sessions are looked at by themselves.
type Pace struct {
	// Turns is after how many turns of the person; 0 is never for their sake.
	Turns int
	// Steps is after how many model calls that used tools, or after a turn that
	// was hard; 0 is never for their sake.
	Steps int
	// Flush is how many turns that were not looked at a session must have when
	// it ends; 0 looks at any.
	Flush int
}

// off reports that nothing is looked at unless it is asked for.
func (p Pace) off() bool { return p.Turns <= 0 && p.Steps <= 0 }

// due reports whether a review is due after a turn; last is the turn of the
// last one, 0 for none.
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

// ends reports whether a session that ends is looked at.
func (p Pace) ends(t Conversation, last int64) bool {
	turns, _ := since(t, last)
	return !p.off() && turns >= max(1, p.Flush)
}

// since counts the turns of the person and the steps with calls after a turn.
// Turns that compaction took out of sight count, those that the program began
// do not.
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

// hard reports whether a turn took many calls, or failures that were overcome.
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

// Due reports whether [Runner.Turn] has something to do after a turn.
func (r *Runner) Due(ctx context.Context, t Conversation) bool {
	return r.due(ctx, t) || r.hasPending(ctx, t)
}

func (r *Runner) due(ctx context.Context, t Conversation) bool {
	return r.cfg.Pace.due(t, r.lastOf(ctx, t.Session))
}

// maxSessions bounds the sessions whose last review is known without the book.
const maxSessions = 1000

func (r *Runner) note(s hermes.SessionRef) {
	r.rate.Lock()
	defer r.rate.Unlock()
	if len(r.last) >= maxSessions {
		clear(r.last)
	}
	r.last[s.ID] = s.Turn
}

// lastOf is the turn at which a session was last looked at, 0 if it never was:
// as it was begun in this process, or as the book has it.
func (r *Runner) lastOf(ctx context.Context, s hermes.SessionRef) int64 {
	r.rate.Lock()
	last, ok := r.last[s.ID]
	r.rate.Unlock()
	if ok {
		return last
	}
	if last = r.booked(ctx, s); last > 0 {
		r.note(hermes.SessionRef{ID: s.ID, Turn: last})
	}
	return last
}

// booked is the turn of the last review that was finished, as the book has it.
func (r *Runner) booked(ctx context.Context, s hermes.SessionRef) int64 {
	b, err := r.queue(ctx)
	if err != nil || b == nil {
		return 0
	}
	last, err := b.Reviewed(ctx, s.ID)
	if err != nil || last > s.Turn { // taken back since
		return 0
	}
	return last
}
