package tui

import "time"

// runningTurn is the turn that runs, if one does.
type runningTurn struct {
	busy     bool
	stopping bool // the user has stopped it
	began    time.Time
	spin     int // ticks of the spinner
}

func (t *runningTurn) start(now time.Time) { t.busy, t.stopping, t.began = true, false, now }

func (t *runningTurn) end() { t.busy, t.stopping = false, false }
