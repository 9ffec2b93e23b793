package hermes

import (
	"context"
	"encoding/json"
	"fmt"
)

// Tool does one thing for a model.
type Tool interface {
	// Spec describes the tool; it returns the same value at every call.
	Spec() Spec
	// Run does the work of one call and returns when it is done or ctx ends.
	// A returned error is text for the model: it says what is wrong and what
	// to try. Run may be called concurrently as far as its Spec's Mode says.
	// It must not keep the call or its host after it returned.
	Run(ctx context.Context, c *Call) (Result, error)
}

// Call is one call of a tool.
type Call struct {
	ID   string
	Name string
	// Arguments is a JSON object, already repaired and coerced to the schema.
	Arguments json.RawMessage
	Host      Host
	// Propose asks a tool whose Spec Stages to lay its change aside for the
	// person instead of making it: nobody is there who could be asked.
	Propose bool
}

// Result is what a call gives back to the model.
type Result struct {
	// Text is what the model reads, JSON by custom.
	Text string
	// Images go beside the text where the model can see them.
	Images []Image
	// Failed marks a call that did not reach its aim though it ran, such as
	// a non-zero exit status. It shows on faces and counts for guardrails.
	Failed bool
	// RefundStep gives the step back to the budget when every call of the batch
	// asks for it.
	RefundStep bool
	// StopReason, where set, says why no more tools are run in this turn: the model
	// is asked to answer in words. The tool chain sets it, tools leave it.
	StopReason string
	// Shown is a short text for the person instead of Text, such as a diff.
	Shown string
	// Provenance says where the text comes from that others wrote, as in
	// [Message]. The tool chain sets it for tools that are not Inside.
	Provenance string
}

// RiskAssessor is implemented by tools whose calls may need the person's leave.
type RiskAssessor interface {
	// AssessRisk judges a call before it runs and does nothing else. No reviews
	// mean that it may run.
	AssessRisk(ctx context.Context, c *Call) []Risk
}

// Risk is one concern about a call.
type Risk struct {
	// Key names the pattern that was found, so that consent to one pattern
	// says nothing about another.
	Key string
	// Reason says in plain words what is dangerous.
	Reason string
	// Deny marks what no mode and no consent allows.
	Deny bool
	// NoRemember marks what the person alone may allow, and for a session at most:
	// no model judges it, and no consent is kept beyond the session.
	NoRemember bool
}

// Host is what a running session lends to a tool for one call. It is valid
// until Run returns, and its methods may be called concurrently.
type Host interface {
	// Session tells whose call this is.
	Session() SessionRef
	// Environment is where the session's commands and files live.
	Environment() Environment
	// Approve asks for leave to do what the approval shows and waits for the
	// answer. A face that cannot ask answers with a refusal.
	Approve(ctx context.Context, a ApprovalRequest) (Decision, error)
	// Ask puts a question to the person and waits for the answer.
	Ask(ctx context.Context, q Question) (Answer, error)
	// Spawn runs a task in a child session and waits for its report.
	Spawn(ctx context.Context, t Task) (Report, error)
	// Invoke runs another tool of the session through the whole tool chain.
	Invoke(ctx context.Context, name string, arguments json.RawMessage) (Result, error)
	// Progress tells the person what the call is doing; it never waits. An
	// empty text takes back what was told last.
	Progress(text string)
}

// SessionRef names the session that a call belongs to.
type SessionRef struct {
	ID       string
	Turn     int64
	Platform string // the face: "cli", "telegram", …
	User     string // who speaks on it, by the platform's id; "" is the owner of this home
	Dir      string // the working folder in which the session began
	Depth    int    // 0 for a conversation, 1 for its children, and so on
	// Provenance says what text from outside the session has seen until now, as
	// in [Message]; empty is none.
	Provenance string
}

// ApprovalRequest is what a person is asked to allow, whole.
type ApprovalRequest struct {
	CallID  string
	Tool    string
	Subject string // the full command or path, never shortened
	Dir     string
	Risks   []Risk
}

// Decision is the answer to an ApprovalRequest.
type Decision string

// The answers. Anything else counts as a refusal.
const (
	AllowOnce    Decision = "once"
	AllowSession Decision = "session"
	AllowAlways  Decision = "always"
	Deny         Decision = "denied"
	TimedOut     Decision = "timeout"
	Unattended   Decision = "absent" // nobody is there to be asked
)

// Allowed reports whether the call may run.
func (c Decision) Allowed() bool {
	return c == AllowOnce || c == AllowSession || c == AllowAlways
}

// Question is put to the person. Without choices the answer is free text.
type Question struct {
	CallID  string   `json:"call_id,omitempty"`
	Text    string   `json:"text"`
	Choices []string `json:"choices,omitempty"`
	// Multiple allows more than one choice.
	Multiple bool `json:"multiple,omitempty"`
	// Secret hides what is typed, as for a password.
	Secret bool `json:"secret,omitempty"`
	// Number and Of say which of several questions in a row this is, counted
	// from 1; both are 0 for one that stands alone.
	Number int `json:"number,omitempty"`
	Of     int `json:"of,omitempty"`
}

// Answer is what the person said. TimedOut means nobody answered, Dismissed
// that the person does not want to.
type Answer struct {
	Texts     []string `json:"texts,omitempty"`
	TimedOut  bool     `json:"timed_out,omitempty"`
	Dismissed bool     `json:"dismissed,omitempty"`
}

// Task is work for a child session.
type Task struct {
	Goal     string
	Context  string
	Toolsets []string // narrows the parent's; empty inherits
	Model    string
	MaxSteps int
}

// Report is what a child session leaves behind.
type Report struct {
	Session    string
	Summary    string
	Status     string // completed, failed, interrupted, timeout
	Steps      int
	Usage      Usage
	Provenance string // what text from outside the child has seen, as in SessionRef
}

// Toolset is a group of tools that is on or off as one.
type Toolset interface {
	Name() string
	// Tools returns the tools of the group. A remote toolset may ask its
	// server here.
	Tools(ctx context.Context) ([]Tool, error)
	// Available returns an empty text, or why the group cannot be used now,
	// in words for the person. It must be quick.
	Available(ctx context.Context) string
}

// NewTool makes a tool from a function whose argument struct is its schema:
// see [SchemaOf] for the tags. A spec with a Schema of its own keeps it.
// NewTool panics if In cannot be a schema, since that is a mistake in the
// program.
func NewTool[In any](spec Spec, run func(ctx context.Context, c *Call, in In) (Result, error)) Tool {
	if spec.Schema == nil {
		spec.Schema = SchemaOf[In]()
	}
	return &typedTool[In]{spec: spec, run: run}
}

type typedTool[In any] struct {
	spec Spec
	run  func(context.Context, *Call, In) (Result, error)
}

func (t *typedTool[In]) Spec() Spec { return t.spec }

func (t *typedTool[In]) Run(ctx context.Context, c *Call) (Result, error) {
	var in In
	if err := json.Unmarshal(c.Arguments, &in); err != nil {
		return Result{}, fmt.Errorf("the arguments of %s do not fit its schema (%w); send them again as the schema says", c.Name, err)
	}
	return t.run(ctx, c, in)
}

// JSONResult marshals v as the text of a result, without HTML escaping.
func JSONResult(v any) (Result, error) {
	text, err := marshalPlain(v)
	if err != nil {
		return Result{}, err
	}
	return Result{Text: string(text)}, nil
}
