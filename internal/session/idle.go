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

// alarm fires once, a given time after start. Its zero value is stopped. Only
// one goroutine may use it.
type alarm struct{ timer *time.Timer }

func (a *alarm) C() <-chan time.Time {
	if a.timer == nil {
		return nil
	}
	return a.timer.C
}

// start sets the alarm, or resets it if it is set.
func (a *alarm) start(after time.Duration) {
	if a.timer == nil {
		a.timer = time.NewTimer(after)
		return
	}
	a.timer.Reset(after)
}

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
