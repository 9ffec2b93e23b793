package session

import "time"

// idleTimer fires when it was not touched for a while. If after is 0, it never
// fires.
type idleTimer struct {
	after time.Duration
	timer *time.Timer
}

func newIdleTimer(after time.Duration) *idleTimer {
	t := &idleTimer{after: after}
	if after > 0 {
		t.timer = time.NewTimer(after)
	}
	return t
}

func (t *idleTimer) C() <-chan time.Time {
	if t.timer == nil {
		return nil
	}
	return t.timer.C
}

func (t *idleTimer) touch() {
	if t.timer != nil {
		t.timer.Reset(t.after)
	}
}

func (t *idleTimer) stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}
