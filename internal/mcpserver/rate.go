package mcpserver

import (
	"sync"
	"time"
)

// rate allows so many events a second, and twice as many at once after a pause. Its methods may
// be called concurrently.
type rate struct {
	perSecond float64
	now       func() time.Time

	mu   sync.Mutex
	left float64
	at   time.Time
}

func newRate(perSecond float64, now func() time.Time) *rate {
	return &rate{perSecond: perSecond, now: now, left: 2 * perSecond, at: now()}
}

// allow reports whether one more is allowed now, and counts it.
func (r *rate) allow() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.left = min(2*r.perSecond, r.left+max(now.Sub(r.at), 0).Seconds()*r.perSecond)
	r.at = now
	if r.left < 1 {
		return false
	}
	r.left--
	return true
}
