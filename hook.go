package hermes

import (
	"context"
	"time"
)

// Hook is a set of optional functions that a session calls around its work;
// nil functions are skipped. A function that panics or takes longer than
// Timeout is logged and skipped; if Guard is set, BeforeTool refuses the call.
type Hook struct {
	Name string
	// Timeout bounds each call of a function; 0 is 30 s.
	Timeout time.Duration
	// Guard makes a panic or timeout of BeforeTool a refusal.
	Guard bool

	SessionStart func(ctx context.Context, s SessionRef) error
	// BeforeTool may change the call's arguments, return a result to use
	// instead of running the tool, or return an error for the model to refuse
	// the call.
	BeforeTool func(ctx context.Context, c *Call) (*Result, error)
	// AfterTool may change the result.
	AfterTool  func(ctx context.Context, c *Call, r *Result)
	TurnEnd    func(ctx context.Context, s SessionRef, turn []Message)
	SessionEnd func(ctx context.Context, s SessionRef)
}
