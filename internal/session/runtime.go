package session

import (
	"context"
	"log/slog"
	"time"

	"hermes"
)

// Config is what all sessions of a manager share.
type Config struct {
	Store  hermes.Store
	Models hermes.Models
	// NewRuntime is called once for each session that comes to life.
	NewRuntime NewRuntime
	// Owner names this process in leases; it must be unique among processes.
	Owner string
	// Steps is how many model calls a turn may make; 0 or less is no limit.
	Steps int
	// Busy is the mode for messages that come while a turn runs; empty is
	// BusyInterrupt.
	Busy Busy
	// Effort is how hard a model is asked to think; nil leaves it to the model.
	Effort    func(model string) hermes.Effort
	MaxTokens int
	// AskTimeout ends the wait for leave, QuestionTimeout the one for the
	// answer to a question; 0 waits on.
	AskTimeout, QuestionTimeout time.Duration
	// IdleAfter closes a session that nobody listens to; 0 keeps it.
	IdleAfter time.Duration
	Now       func() time.Time // nil is time.Now
	Log       *slog.Logger     // nil discards
}

// NewRuntime makes what a session works with. wake speaks to the session from
// outside a turn, such as when a background process has ended; it never
// waits.
type NewRuntime func(ctx context.Context, row hermes.Session, wake func(text string)) (*Runtime, error)

// Runtime is what a session works with. The session closes it.
type Runtime struct {
	Environment hermes.Environment
	Tools       Toolbox
	// System builds the system prompt. It is asked once in the life of a
	// session, before its first turn.
	System func(ctx context.Context, model string, specs []hermes.Spec) (hermes.SystemPrompt, error)
	// Restore tells parts that keep state what an earlier process left in the
	// transcript; nil does nothing.
	Restore func(transcript []hermes.Message)
	// Context decides what of the transcript is sent; nil sends all.
	Context hermes.ContextEngine
	// Compacted is told when the transcript was made shorter; nil is not.
	Compacted func()
	// Prefix tells where the last request that did not begin with the one
	// before it was broken, and how many there were; nil does not watch.
	Prefix func() (last *hermes.PrefixBreak, count int)
	// Window is the model's context length in tokens, 0 if unknown.
	Window func(model string) int
	// Title finds a title for a session that has had its first exchange; nil
	// finds none. It is called beside the session, with the reference of its
	// model, and its context ends with the session. Empty is no title.
	Title func(ctx context.Context, model string, transcript []hermes.Message) (string, error)
	// Recall finds what is known that bears on a message of the person; nil
	// knows nothing. What it returns is fenced and sent with the message, but
	// not shown. It has two seconds; its context ends then.
	Recall func(ctx context.Context, q hermes.RecallQuery) (hermes.Recalled, error)
	// Surroundings tells what changed around the session since it last told: files,
	// the state of the repository. It is sent in brackets below a message of
	// the person, at the tail and never in the prefix, and not shown; nil or
	// an empty text tells nothing. It must be quick: its context ends after half a second.
	Surroundings func(ctx context.Context) string
	// Observe is told of each turn that ended well, one after another, beside
	// the session, which waits for it when it ends; nil is not.
	Observe func(ctx context.Context, t hermes.MemoryTurn) error
	// SumUp is told of a session in which a person had a longer talk, when it
	// has ended; nil is not. Nobody waits for it but the end of the program,
	// and that for a few seconds.
	SumUp func(ctx context.Context, model string, transcript []hermes.Message) error
	// Review looks back at the work for what is worth keeping, and returns what
	// the person is told, "" for nothing; nil does not. It is called beside the
	// session when Due says so, and when the person asks. Its context ends with
	// the session.
	Review func(ctx context.Context, ref hermes.SessionRef, model string, transcript []hermes.Message, op Review) (string, error)
	// Due decides after each turn that ended well whether Review is called; nil
	// says so each time. It must be quick: the session waits for it.
	Due func(ctx context.Context, ref hermes.SessionRef, transcript []hermes.Message) bool
	// Defer says when a review that is due begins.
	Defer Defer
	// Save looks back at a session that has ended, for what was not looked at
	// yet; nil does not. cut says that a review was due or under way. Nobody
	// waits for it but the end of the program, and that for a second; where
	// the program ends with the session, the context has ended already, and
	// Save can only note what there is to do.
	Save func(ctx context.Context, ref hermes.SessionRef, model string, transcript []hermes.Message, cut bool) error
	// StopProcesses ends all background processes; nil has none.
	StopProcesses func()
	Close         func() error
}

// Defer puts a review off until the person pauses, so that it takes nothing
// from the conversation. Its zero value begins it at once.
type Defer struct {
	// Quiet is how long no turn must have run.
	Quiet time.Duration
	// MaxAge is how long a review that is due waits at most: then it begins
	// after the next turn; 0 is without end.
	MaxAge time.Duration
}

// Toolbox is the tools of a session behind the tool chain. Its methods are
// called concurrently.
type Toolbox interface {
	// Specs are the tools to offer, sorted by name.
	Specs() []hermes.Spec
	Spec(name string) (hermes.Spec, bool)
	Preview(c hermes.ToolCall) string
	// Run never fails: an error is a result that says so.
	Run(ctx context.Context, c *hermes.Call) hermes.Result
	// TurnStarted is told before each turn.
	TurnStarted()
}

// BatchFinisher is implemented by a Toolbox that looks at all results of a batch
// before they are appended. It may change their texts.
type BatchFinisher interface {
	FinishBatch(ctx context.Context, calls []*hermes.Call, results []*hermes.Result)
}
