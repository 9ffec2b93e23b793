package review

import "hermes"

const (
	manyCalls = 8  // calls make a turn hard
	someFails = 2  // or failures do, that were overcome
	pause     = 10 // turns between two reviews of a session
)

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

// mayAgain reports whether the last review of a session is long enough ago.
func (r *Room) mayAgain(s hermes.SessionRef) bool {
	r.rate.Lock()
	defer r.rate.Unlock()
	last, ok := r.last[s.ID]
	return !ok || s.Turn-last >= pause
}

// maxSessions bounds the sessions whose last review is known.
const maxSessions = 1000

func (r *Room) note(s hermes.SessionRef) {
	r.rate.Lock()
	defer r.rate.Unlock()
	if len(r.last) >= maxSessions {
		clear(r.last)
	}
	r.last[s.ID] = s.Turn
}
