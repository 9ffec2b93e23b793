package hermes

import (
	"context"
	"time"
)

// Hook is a set of optional functions that are called round the work of a
// session. The zero value takes no interest. A function that panics or takes
// longer than Timeout is logged and skipped; one of a Guard then refuses.
type Hook struct {
	Name string
	// Timeout bounds each call of a function; 0 is 30 s.
	Timeout time.Duration
	// Guard makes a failure of BeforeTool a refusal.
	Guard bool

	SessionStart func(ctx context.Context, s SessionRef) error
	// BeforeTool may change the call's arguments, or answer in its place by
	// returning a result, or refuse by returning an error for the model.
	BeforeTool func(ctx context.Context, c *Call) (*Result, error)
	// AfterTool may change the result.
	AfterTool  func(ctx context.Context, c *Call, r *Result)
	TurnEnd    func(ctx context.Context, s SessionRef, turn []Message)
	SessionEnd func(ctx context.Context, s SessionRef)
}
