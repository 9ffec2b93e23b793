package session

import (
	"context"
	"log/slog"
	"time"

	"hermes"
	"hermes/internal/hook"
	"hermes/internal/session/jobs"
)

// Config is what all sessions of a manager share.
type Config struct {
	Store  hermes.Store
	Models Models
	// NewRuntime is called once for each session when it becomes live.
	NewRuntime NewRuntime
	// Owner is this process in leases; its name must be unique among processes.
	Owner hermes.Owner
	// Steps is how many model calls a turn may make; 0 or less means no limit.
	Steps int
	// MaxResume is how many messages the transcript of a stored session may have
	// to be resumed; 0 means any number.
	MaxResume int
	// Busy is the mode for messages that arrive while a turn runs; empty means
	// BusyInterrupt.
	Busy hermes.Busy
	// Effort returns the configured effort for a model; nil means the model's
	// default.
	Effort    func(model string) hermes.Effort
	MaxTokens int
	Bounds
	Ask      AskTimes
	Children Children
	// IdleAfter closes a session without subscribers after this time without
	// work; 0 never closes it.
	IdleAfter time.Duration
	Now       func() time.Time // nil is time.Now
	Log       *slog.Logger     // nil discards
}

// Bounds says what sessions may do at all. The funcs may be called concurrently.
type Bounds struct {
	// Mode returns the mode in which a conversation with these rights begins; nil means
	// that of the rights, or hermes.ModeAsk.
	Mode func(hermes.Rights) hermes.RightsMode
	// Workspace returns where a new conversation works, of what its opener asks for; an error says
	// why it cannot. Nil takes what is asked for.
	Workspace func(run hermes.RunSpec) (hermes.Workspace, error)
	// KnownHost reports whether the user knows a host, so that links to it stay links whatever is in
	// them; nil knows none.
	KnownHost func(host string) bool
	// Halted is asked before a turn, a child, a job or a call of a call begins: an error, which
	// wraps hermes.ErrHalted, refuses it; nil refuses nothing.
	Halted func() error
	// EndLeft ends what commands of any session left running, at a halt, and says what still runs;
	// nil ends nothing.
	EndLeft func() error
	// RecordMode is told that a user changes the mode of a session, before it is changed. If it fails,
	// the mode does not become wider. Nil records nothing.
	RecordMode func(ctx context.Context, session string, m hermes.RightsMode, by hermes.From) error
}

// AskTimes says how long the user is waited for; 0 means no limit.
type AskTimes struct {
	Approval time.Duration // for an approval
	Question time.Duration // for an answer to a question
	// Escalate is how long a question may wait without a user who begins to answer it until it
	// is marked as escalated, which starts its time again; 0 marks none.
	Escalate time.Duration
}

// Models finds the model that a run asks for. It may be used concurrently.
type Models interface {
	// Model returns the model that a choice names, or the default one.
	Model(ctx context.Context, c hermes.ModelChoice) (hermes.Model, error)
}

// ErrNoReview means that this session has no background review.
var ErrNoReview = jobs.ErrNoReview

// NewRuntime builds the runtime of a session, whose id is in the spec. It is not called in a
// session's goroutine and may take its time.
type NewRuntime func(ctx context.Context, run hermes.RunSpec) (*Runtime, error)

// Runtime is what a session works with. Tools and Prompt must be set; the other parts may be
// nil.
type Runtime struct {
	Environment hermes.Environment
	Tools       hermes.Tools
	Hooks       *hook.Hooks
	Prompt      Prompter
	Memory      Recaller
	Follower    Follower
	// Context decides which part of the transcript is sent; nil sends all.
	Context hermes.ContextEngine
	// Window returns the model's context length in tokens as it is known now, 0
	// if unknown. It may be called concurrently.
	Window func(model string) int
	// Unattended reports whether a call with this risk may run where no user
	// can be asked; nil allows none. Child sessions do not ask it: everything is
	// refused there.
	Unattended func(hermes.Risk) bool
	// Confirm returns what the answer of a turn claims, although nothing that was done supports it. It
	// is called before the turn ends, and may ask a model. Nil confirms everything.
	Confirm func(ctx context.Context, s hermes.SessionRef, answer string, transcript []hermes.Message) []hermes.Unconfirmed
	// Jobs are what goes on beside and after the turns.
	Jobs []jobs.Job
	// EndLeft ends what commands of this session left running, at a halt, and says what still runs;
	// nil ends nothing. It may be called beside everything else.
	EndLeft func() error
	// Close frees what belongs to this session only. It is called once, when the
	// session ends.
	Close func() error
}

// Prompter builds the system prompt of a session.
type Prompter interface {
	// Prompt builds it for the model of the row. It is called once in the life of
	// a session, before its first turn.
	Prompt(ctx context.Context, row hermes.Session, specs []hermes.Spec) (hermes.SystemPrompt, error)
}

// Recaller is a memory that is asked about each message of the user.
type Recaller interface {
	// Recall returns what it knows about a message. That is sent with the message
	// in a recall block but not shown. The context ends after two seconds.
	Recall(ctx context.Context, q hermes.RecallQuery) (hermes.Recalled, error)
}

// Follower knows what is around a session, and follows what becomes of its transcript. Its
// methods are called one after another, Prefix and Stop also beside the others.
type Follower interface {
	// Restore rebuilds the state that tools keep from a stored transcript.
	Restore(transcript []hermes.Message)
	// Surroundings returns what changed around the session since its last call:
	// files, the state of the repository. It is sent in brackets at the end of
	// a user message and not shown; "" adds nothing. The context ends after half
	// a second.
	Surroundings(ctx context.Context) string
	// Rewritten is called after messages were removed from the transcript; why is
	// the reason, such as undo.
	Rewritten(why string)
	// Prefix returns the last request that did not begin with the one before
	// it, and how many there were.
	Prefix() (last *hermes.PrefixBreak, count int)
	// Stop ends all background processes.
	Stop()
}
