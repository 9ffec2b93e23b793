package hermes

import (
	"context"
	"time"
)

// Hook is a set of optional functions that a session calls around its work; nil
// functions are skipped. All hooks of a program are called one after another, in
// one order. The functions of different sessions and calls run concurrently.
//
// A function must not change what it is given and must not use it after it
// returns, except where its comment says so. One that panics or takes longer than
// Timeout is logged and skipped, and what it returns later is dropped; if Guard is
// set and the function can refuse, that is a refusal.
type Hook struct {
	Name string
	// Timeout bounds each call of a function; 0 is 30 s.
	Timeout time.Duration
	// Guard makes a panic or a timeout of a function that can refuse a refusal.
	Guard bool

	// SessionStart is called when a session that was opened has its tools, before
	// its first turn. An error, worded for the user, refuses the session.
	SessionStart func(ctx context.Context, s SessionRef) error
	// TurnStart is called with a message of the user, or of the program, before it
	// is stored. It returns what the model shall read below the message; users do
	// not see it. An error, worded for the user, refuses the message.
	TurnStart func(ctx context.Context, s SessionRef, m Message) ([]Part, error)
	// BeforeCompaction is called with the messages that a ContextEngine is about to
	// remove from the transcript. They stay stored. The turn waits for it.
	BeforeCompaction func(ctx context.Context, s SessionRef, leaving []Message)
	// Compacted is called when the shortened transcript is stored, and after an
	// undo. The session waits for it: it must be fast.
	Compacted func(ctx context.Context, s SessionRef)
	// BeforeModel is called with each request of a turn, once a step, however often
	// the model chain then sends it. An error ends the turn with this text.
	BeforeModel func(ctx context.Context, s SessionRef, r Request) error
	// AfterModel is called with the answer to a request, or with what had arrived
	// when the call failed with err.
	AfterModel func(ctx context.Context, s SessionRef, answer Message, err error)
	// BeforeTool is called before a call is judged. It may change the call's
	// arguments, set why the user has to be asked, return a result to use instead of
	// running the tool, or return an error for the model to refuse the call. It is
	// called again if the arguments in the end are not those that it agreed to.
	BeforeTool func(ctx context.Context, c *Call) (*Result, error)
	// BeforeAsk is called before the user is asked to approve a call, who waits for it. A
	// result refuses the call; nothing that the function does approves it. It must not
	// change the call.
	BeforeAsk func(ctx context.Context, c *Call, a ApprovalRequest) *Result
	// BeforeRun is called when a call is approved and about to run. An error for
	// the model refuses the call.
	BeforeRun func(ctx context.Context, c *Call) error
	// AfterTool is called when a call has run or was refused. It may change the
	// result.
	AfterTool func(ctx context.Context, c *Call, r *Result)
	// Asked is called when a question or an approval waits for the user, and Answered
	// when that has its answer or its time is over, but not when its turn has ended. The
	// decision of a question is "" if it was answered. Nothing waits for either.
	Asked    func(ctx context.Context, s SessionRef, a Asked)
	Answered func(ctx context.Context, s SessionRef, a Asked, d Decision)
	// TurnEnd is called with the messages of a turn that has its outcome. A turn
	// that is done goes on once with the text that the hook returns, as if the user
	// had said it; "" ends it.
	TurnEnd func(ctx context.Context, s SessionRef, o Outcome, turn []Message) (goOn string)
	// ChildStart is called before a child session begins a task. An error for the
	// model refuses it.
	ChildStart func(ctx context.Context, parent SessionRef, t Task) error
	// ChildEnd is called with the report of a child session.
	ChildEnd func(ctx context.Context, parent SessionRef, r Report)
	// SessionEnd is called when a session that was opened is closed. It may come
	// back later.
	SessionEnd func(ctx context.Context, s SessionRef)
}
