package hermes

import (
	"context"
	"time"
)

// Activity is implemented by stores that can tell what happened in a time.
type Activity interface {
	// Activity sums up the sessions that were active at or after a time; an
	// empty source is all of them.
	Activity(ctx context.Context, since time.Time, source string) (Active, error)
}

// Active is what happened in a time. Sums are over whole sessions; the counts
// of tools are of the time alone.
type Active struct {
	Sessions, Messages, Calls int
	Turns                     int64
	Usage                     Usage
	ByPlatform                map[string]int // sessions
	ByModel                   map[string]ModelActivity
	Tools                     []ToolActivity // most used first
}

// ModelActivity is what the sessions of a model used.
type ModelActivity struct {
	Sessions int
	Usage    Usage
}

// ToolActivity is how often a tool was used.
type ToolActivity struct {
	Name          string
	Calls, Failed int
}
