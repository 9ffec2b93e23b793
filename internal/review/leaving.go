package review

import (
	"context"
	"slices"

	"hermes"
)

// maxLeft is how much is kept of what left the transcript of one session, in bytes.
const maxLeft = 4 * defaultInput

// Hook returns the hook by which the runner sees what a compaction removes from a
// transcript. The summary in its place says less, so the next review of the session
// reads it as it was.
func (r *Runner) Hook() hermes.Hook {
	return hermes.Hook{Name: "review", BeforeCompaction: r.leaving}
}

// leaving keeps what was not reviewed yet.
func (r *Runner) leaving(ctx context.Context, s hermes.SessionRef, leaving []hermes.Message) {
	if r.cfg.Pace.off() || !s.Attended || s.Depth > 0 {
		return
	}
	last := r.lastOf(ctx, s)
	var lines []string
	for _, m := range leaving {
		if text := describe(m); m.Turn > last && text != "" {
			lines = append(lines, text)
		}
	}
	r.putLeft(s.ID, lines)
}

// putLeft adds lines to those of a session. The oldest beyond the limit are dropped.
func (r *Runner) putLeft(session string, lines []string) {
	r.rate.Lock()
	defer r.rate.Unlock()
	was, _ := r.left.Get(session)
	lines = append(slices.Clip(was), lines...)
	size := 0
	for i, text := range slices.Backward(lines) {
		if size += len(text); size > maxLeft {
			lines = lines[i+1:]
			break
		}
	}
	if len(lines) > 0 {
		r.left.Put(session, lines)
	}
}

// takeLeft returns what left the transcript since the last review, and forgets it.
func (r *Runner) takeLeft(session string) []string {
	r.rate.Lock()
	defer r.rate.Unlock()
	lines, _ := r.left.Get(session)
	r.left.Delete(session)
	return lines
}

// hasLeft reports whether something left the transcript that should be reviewed. As at
// the end of a session, that takes a few turns without review, so that a session whose
// window is small is not reviewed after each turn.
func (r *Runner) hasLeft(t Conversation, last int64) bool {
	r.rate.Lock()
	_, ok := r.left.Get(t.Session.ID)
	r.rate.Unlock()
	return ok && r.cfg.Pace.ends(t, last)
}
