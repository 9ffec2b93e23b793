package hermes

import (
	"context"
	"time"
)

// Activity is implemented by stores that can report what happened in a period.
type Activity interface {
	// Activity sums up the sessions that were active at or after since; an
	// empty source means all platforms.
	Activity(ctx context.Context, since time.Time, source string) (Active, error)
}

// Active is what happened in a period. Sums cover whole sessions; Tools counts
// only calls within the period.
type Active struct {
	Sessions, Messages, Calls int
	Turns                     int64
	Usage                     Usage
	ByPlatform                map[string]int // sessions
	ByModel                   map[string]ModelActivity
	Tools                     []ToolActivity // most used first
}

// ModelActivity is the usage of all sessions of one model.
type ModelActivity struct {
	Sessions int
	Usage    Usage
}

// ToolActivity counts the calls of one tool.
type ToolActivity struct {
	Name          string
	Calls, Failed int
}
