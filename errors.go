package hermes

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors that callers check for with errors.Is.
var (
	// ErrNotFound means that the named thing does not exist.
	ErrNotFound = errors.New("not found")
	// ErrStaleLease means that another process took the session over. The
	// caller must stop writing to the session at once.
	ErrStaleLease = errors.New("the session was taken over by another process")
	// ErrLeased means that another process is running the session.
	ErrLeased = errors.New("the session is open in another process")
	// ErrTitleTaken means that another session has the title.
	ErrTitleTaken = errors.New("another session has this title")
	// ErrAmbiguous means that a reference matches more than one thing.
	ErrAmbiguous = errors.New("the reference matches more than one")
	// ErrNoModel means that no model is configured and none was found. The
	// error that wraps it says what to set.
	ErrNoModel = errors.New("no model is configured")
	// ErrInterrupted is the cause of a turn's context when the user stopped it.
	ErrInterrupted = errors.New("interrupted")
	// ErrHalted means that `hermes panic` has stopped all work of the home.
	ErrHalted = errors.New("`hermes panic` has stopped everything")
	// ErrClosed means that the session is not live, or has ended; open it.
	ErrClosed = errors.New("the session is closed")
)

// ErrAnswered is the error of answering a question that was answered before.
type ErrAnswered struct {
	By From
}

func (e ErrAnswered) Error() string { return "already answered by " + e.By.String() }

// ErrFixed is the error of opening a session with other tools, another prompt or another backend
// than it has: they hold for its life.
type ErrFixed struct {
	Session string
	// Parts names the fields of [RunSpec] that differ, such as Tools.Enabled.
	Parts []string
}

func (e ErrFixed) Error() string {
	return fmt.Sprintf("session %s keeps its tools, its prompt and its backend for its life; resume it without changing them, or start a new session", e.Session)
}

// Failure is why a turn or a command failed, in a form that travels to any frontend.
type Failure struct {
	Class Class  `json:"class"`
	Text  string `json:"text"`           // for the user
	Hint  string `json:"hint,omitempty"` // what to do next, if something helps
}

// FailureOf returns an error as a Failure, or nil for nil.
func FailureOf(err error) *Failure {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	f := &Failure{Class: ClassOf(err), Text: err.Error()}
	if e, ok := errors.AsType[*ModelError](err); ok {
		if advice := e.advice(); advice != "" {
			if text, ok := strings.CutSuffix(f.Text, advice); ok {
				f.Text, f.Hint = text, strings.TrimPrefix(advice, "; ")
			}
		}
	}
	switch {
	case errors.Is(err, ErrStaleLease):
		f.Class = ClassTakenOver
	case errors.Is(err, ErrInterrupted):
		f.Class = ClassInterrupted
	}
	return f
}

// Is makes a failure that has travelled match the error that it was made of, for
// [ErrStaleLease] and [ErrInterrupted].
func (f *Failure) Is(target error) bool {
	return target == ErrStaleLease && f.Class == ClassTakenOver || target == ErrInterrupted && f.Class == ClassInterrupted
}

// Error says what failed and what to do next.
func (f *Failure) Error() string {
	if f.Hint == "" {
		return f.Text
	}
	return f.Text + "; " + f.Hint
}

// Class is the kind of failure of a model call: what went wrong, not what to
// do about it. A transport's classifier sets it; layers read the flags of
// [ModelError] and this name, never the text.
type Class string

// The classes. The values are part of the product's specification.
const (
	ClassAuth              Class = "auth"
	ClassAuthPermanent     Class = "auth_permanent"
	ClassBilling           Class = "billing"
	ClassRateLimit         Class = "rate_limit"
	ClassUpstreamRateLimit Class = "upstream_rate_limit"
	ClassOverloaded        Class = "overloaded"
	ClassServerError       Class = "server_error"
	ClassTimeout           Class = "timeout"
	ClassCertificate       Class = "ssl_cert_verification"
	ClassOverflow          Class = "context_overflow"
	ClassPayloadTooLarge   Class = "payload_too_large"
	ClassImageTooLarge     Class = "image_too_large"
	ClassModelNotFound     Class = "model_not_found"
	ClassProviderPolicy    Class = "provider_policy_blocked"
	ClassContentPolicy     Class = "content_policy_blocked"
	ClassFormat            Class = "format_error"
	ClassEncryptedContent  Class = "invalid_encrypted_content"
	ClassThinkingSignature Class = "thinking_signature"
	ClassLongContextTier   Class = "long_context_tier"
	ClassOAuthLongContext  Class = "oauth_long_context_beta_forbidden"
	ClassGrammar           Class = "llama_cpp_grammar_pattern"
	ClassMultimodalTool    Class = "multimodal_tool_content_unsupported"
	ClassReasoningRequired Class = "reasoning_mandatory"
	ClassBudget            Class = "budget" // our own cap, not the provider's
	// ClassRepetition means that an answer repeated itself without end and was
	// stopped. What came before the error is a part of an answer.
	ClassRepetition Class = "endless_repetition"
	ClassUnknown    Class = "unknown"
	// ClassTakenOver means that another process took the session over.
	ClassTakenOver Class = "taken_over"
	// ClassInterrupted means that the user stopped it.
	ClassInterrupted Class = "interrupted"
)

// ModelError is a failed model call. Its flags say what may help; several may
// be set.
type ModelError struct {
	Class    Class
	Status   int    // HTTP status, 0 if no answer came
	Message  string // the service's own words, without secrets
	Provider string
	Model    string
	// RetryAfter is how long the service asks to wait; 0 if it does not say.
	RetryAfter time.Duration

	Retry    bool // the same call may succeed later
	Compress bool // a smaller transcript may succeed
	Rotate   bool // another credential may succeed
	Fallback bool // another model may succeed

	Err error // the cause, for the log
}

// Error says which service failed, how, and what the user can do.
func (e *ModelError) Error() string {
	if e.Class == ClassBudget && e.Message != "" {
		return e.Message // our own cap: no service was called
	}
	who := e.Provider
	if e.Model != "" && who != "" {
		who += " (" + e.Model + ")"
	}
	if who == "" {
		who = "the model service"
	}
	what := e.Message
	if what == "" && e.Err != nil {
		what = e.Err.Error()
	}
	what = strings.TrimRight(what, ". ") // more text follows
	if e.Status > 0 {
		return fmt.Sprintf("%s answered with status %d: %s%s", who, e.Status, what, e.advice())
	}
	return fmt.Sprintf("%s: %s%s", who, what, e.advice())
}

// advice returns the next step for the user, or "" if there is none.
func (e *ModelError) advice() string {
	switch e.Class {
	case ClassAuth, ClassAuthPermanent:
		return "; check the key with `hermes auth`, or choose another model with `hermes model`"
	case ClassBilling:
		return "; top up the account, or choose another model with `hermes model`"
	case ClassModelNotFound:
		return "; list the models with `hermes model list`"
	case ClassRateLimit, ClassUpstreamRateLimit:
		if e.RetryAfter > 0 {
			return fmt.Sprintf("; try again in %s", e.RetryAfter.Round(time.Second))
		}
	}
	return ""
}

// Unwrap returns the cause.
func (e *ModelError) Unwrap() error { return e.Err }

// ClassOf returns the class of a model error anywhere in the chain, or
// ClassUnknown.
func ClassOf(err error) Class {
	if e, ok := errors.AsType[*ModelError](err); ok {
		return e.Class
	}
	return ClassUnknown
}
