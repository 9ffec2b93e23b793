package hermes

import (
	"context"
	"time"
)

// Activity is implemented by stores that can report what happened in a period.
type Activity interface {
	// Activity sums up what happened at or after since; an empty source means
	// all platforms.
	Activity(ctx context.Context, since time.Time, source string) (Active, error)
}

// Active is what happened in a period, and nothing that happened before it in the
// same sessions. Messages, Calls and Turns include what compactions have hidden,
// but not what was undone; Usage is what was paid for, side tasks too.
type Active struct {
	Sessions, Messages, Calls int
	Turns                     int64
	Usage                     Usage
	ByPlatform                map[string]int // sessions
	ByModel                   map[string]ModelActivity
	Tools                     []ToolActivity // most used first
}

// ModelActivity is the usage of one model, and the number of sessions that have it
// as theirs.
type ModelActivity struct {
	Sessions int
	Usage    Usage
}

// ToolActivity counts the calls of one tool.
type ToolActivity struct {
	Name          string
	Calls, Failed int
}
