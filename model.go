package hermes

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
)

// Model answers requests. Implementations hide everything that differs between
// services.
type Model interface {
	// ID returns the reference of the model: "provider:name" if a known
	// provider serves it.
	ID() string
	// Stream sends the request and returns the answer as deltas. Nothing is
	// sent before the iteration begins; the sequence can be iterated only
	// once. It yields at most one error, as the last item; if the service
	// answered, the error is or wraps a *ModelError. An answer that breaks off
	// is an error. Stopping the iteration or ending ctx ends the call. Stream
	// may be called concurrently and must not change the request.
	Stream(ctx context.Context, r *Request) iter.Seq2[Delta, error]
}

// Request is one call to a model. Within a session, each request begins with
// the system prompt, tools and messages of the one before, unchanged.
type Request struct {
	System   string
	Messages []Message
	Tools    []Spec // sorted by name
	// WordsOnly asks for an answer without tool calls. The tools are sent
	// anyway, so that the provider's cache stays valid.
	WordsOnly bool
	// MaxTokens limits the answer; 0 means the model's own limit.
	MaxTokens int
	// Ceiling limits the answer together with its thinking, for which a
	// transport may otherwise add room to MaxTokens; 0 is none. The meter sets
	// it below a spending cap.
	Ceiling int
	// Temperature is sent only if the model accepts one; nil is the default.
	Temperature *float64
	Effort      Effort
	// Session is a stable id that providers may use to find their cache.
	Session string
	// Purpose names an auxiliary task ("compression", "title", …); empty means
	// the conversation itself.
	Purpose string
	// Scope says which accounts the call is booked on.
	Scope Scope
	// Attended says that a user waits for the answer. Their next message comes late and is long
	// in coming, so the provider's cache is kept for longer; without one, a late answer is
	// better than none.
	Attended bool
}

// CacheTTL returns how long the provider should keep the request in its cache, "5m" or "1h".
// set is what is configured: one of them, or "auto", by whether a user waits.
func (r *Request) CacheTTL(set string) string {
	switch {
	case set == "1h", set == "auto" && r.Attended:
		return "1h"
	}
	return "5m"
}

// Delta is a piece of an answer. Exactly one field is set.
type Delta struct {
	Text      string
	Reasoning string
	// Block completes a reasoning block that later requests must send back.
	Block *Reasoning
	Call  *CallDelta
	Usage *Usage // of the whole answer so far; the last one counts
	// Cost is what the service says that the whole answer costs; the last one
	// counts. The meter takes it; it does not reach the caller.
	Cost   *Money
	Finish Finish
	// Reset discards all text, reasoning and calls yielded so far: the answer
	// starts again. Its text tells the user why.
	Reset string
	// Notice tells the user what the call is waiting for.
	Notice string
	// Warning tells the user what is wrong, although the call goes on.
	Warning string
	// Model names the model that answers from here on, if it is not the
	// requested one.
	Model string
}

// CallDelta is a piece of the tool call with this index. ID and Name come
// once; pieces of Arguments are appended.
type CallDelta struct {
	Index     int
	ID        string
	Name      string
	Arguments string
	Signature string
}

// Assembly builds a message from deltas. The zero value is ready to use. It
// must not be used concurrently.
type Assembly struct {
	text      strings.Builder
	reasoning strings.Builder
	blocks    []Reasoning
	calls     []*assembledCall // by index
	usage     *Usage
	finish    Finish
	model     string
}

type assembledCall struct {
	index     int
	id, name  string
	signature string
	arguments strings.Builder
}

// Add adds the next delta.
func (a *Assembly) Add(d Delta) {
	switch {
	case d.Text != "":
		a.text.WriteString(d.Text)
	case d.Reasoning != "":
		a.reasoning.WriteString(d.Reasoning)
	case d.Call != nil:
		a.addCall(d.Call)
	case d.Block != nil:
		a.blocks = append(a.blocks, *d.Block)
	case d.Usage != nil:
		a.usage = d.Usage
	case d.Finish != "":
		a.finish = d.Finish
	case d.Model != "":
		a.model = d.Model
	case d.Reset != "":
		*a = Assembly{usage: a.usage, model: a.model}
	}
}

func (a *Assembly) addCall(d *CallDelta) {
	i, known := slices.BinarySearchFunc(a.calls, d.Index, func(c *assembledCall, index int) int { return c.index - index })
	if !known {
		a.calls = slices.Insert(a.calls, i, &assembledCall{index: d.Index})
	}
	c := a.calls[i]
	if c.id == "" {
		c.id = d.ID
	}
	if c.name == "" {
		c.name = d.Name
	}
	if d.Signature != "" {
		c.signature = d.Signature
	}
	c.arguments.WriteString(d.Arguments)
}

// Empty reports whether there is neither text nor a call yet.
func (a *Assembly) Empty() bool { return a.text.Len() == 0 && len(a.calls) == 0 }

// Message returns the assistant message so far. Call arguments are as the
// model wrote them and may be invalid JSON.
func (a *Assembly) Message() Message {
	m := Message{Role: RoleAssistant, Finish: a.finish, Usage: a.usage, Model: a.model, Reasoning: a.blocks}
	if a.text.Len() > 0 {
		m.Parts = []Part{{Text: a.text.String()}}
	}
	if len(m.Reasoning) == 0 && a.reasoning.Len() > 0 {
		m.Reasoning = []Reasoning{{Text: a.reasoning.String()}}
	}
	for _, c := range a.calls {
		m.Calls = append(m.Calls, ToolCall{ID: c.id, Name: c.name, Arguments: c.arguments.String(), Signature: c.signature})
	}
	return m
}

// Collect reads an answer until it ends and returns the message. With an
// error, it returns what had arrived until then.
func Collect(answer iter.Seq2[Delta, error]) (Message, error) {
	var a Assembly
	for d, err := range answer {
		if err != nil {
			return a.Message(), err
		}
		a.Add(d)
	}
	return a.Message(), nil
}

// Models finds a model by reference: "openrouter:vendor/name", a bare model
// name or an alias. The empty reference means the configured default; without
// one the error wraps ErrNoModel.
type Models interface {
	Model(ctx context.Context, ref string) (Model, error)
}

// Provider gives access to the models of one service.
type Provider interface {
	Name() string
	// Model returns the named model of this provider. It does no I/O.
	Model(name string) (Model, error)
	// List gets the list of models from the service.
	List(ctx context.Context) ([]ModelInfo, error)
}

// ModelInfo is what is known about a model. Zero numbers mean unknown.
type ModelInfo struct {
	ID            string
	Name          string
	ContextLength int
	OutputLimit   int
	Vision        bool
	Reasoning     bool
	Tools         bool
	// Price is nil if unknown.
	Price *Price
}

// Spec describes a tool to the model and to the tool chain. It does not change
// during a session.
type Spec struct {
	Name        string
	Description string
	// Schema is the canonical JSON Schema of the arguments: an object.
	Schema json.RawMessage
	// Mode says what may run at the same time as a call.
	Mode Mode
	// Paths returns the files that a call touches: calls that touch the same
	// files do not run at the same time. Its argument is a JSON object that may
	// not match the schema. It must not do I/O.
	Paths func(arguments json.RawMessage) []string
	// Effect says whether a call may be repeated after a crash.
	Effect Effect
	// ReadsOnly reports that a call certainly only reads, although other calls
	// of the tool do more. Such a call has EffectNone and may run at the same
	// time as calls that touch no files or only read. Nil means false for every
	// call. Its argument is a JSON object that may not match the schema. It
	// must not do I/O.
	ReadsOnly func(arguments json.RawMessage) bool
	// Trusted says that results hold only text of the user, the model or this
	// program, unless a result names other sources in its Provenance. If
	// Trusted is false, every result counts as untrusted text.
	Trusted bool
	// Persists names what a call changes for later sessions: "memory",
	// "skill", …; "" means nothing. Nil means "" for every call. In a session
	// that has read untrusted text, such a call needs the user's approval;
	// approval of one name does not cover another. Its argument is a JSON
	// object that may not match the schema.
	Persists func(arguments json.RawMessage) string
	// Sends returns what a call takes out of this machine and to whom. Nil means nothing, for
	// every call. Its argument is a JSON object that may not match the schema. It must not do I/O.
	Sends func(arguments json.RawMessage) Outgoing
	// PlansOnly says that a call changes only what the session itself plans, such as its list of
	// steps. It runs in [ModePlan], too.
	PlansOnly bool
	// CanPropose says that the tool obeys [Call.Propose].
	CanPropose bool
	// CanOmit says that the tool obeys [Call.Omits].
	CanOmit bool
	// ResultLimit is the size in bytes above which a result is stored outside
	// the context; 0 means the default limit, negative means no limit.
	ResultLimit int
}

// Outgoing is what a call takes out of this machine.
type Outgoing struct {
	// To are those who get it, each in the one form that tells them from others, such as
	// "telegram:12345". The user is asked about each in every mode, until a grant allows the
	// tool to write to this one. Only a call that answers where the session is need not name anyone.
	To []string
	// Texts are what they get. After untrusted text, the user is asked if a link in them may
	// carry data to an unknown host.
	Texts []string
	// Opens are addresses that the call itself opens. They are judged as links in a text are, and one that is not
	// one link from its beginning to its end may carry data.
	Opens []string
}

// EffectOf returns the effect of a call with these arguments.
func (s Spec) EffectOf(arguments json.RawMessage) Effect {
	if s.ReadsOnly != nil && s.ReadsOnly(arguments) {
		return EffectNone
	}
	return s.Effect
}

// Mode says what may run at the same time as a call.
type Mode int

// The modes. The zero value is the safest one.
const (
	// ModeSequential calls run one at a time, in the order of the batch.
	ModeSequential Mode = iota
	// ModeParallel calls run at the same time as any other parallel call.
	ModeParallel
	// ModePaths calls run at the same time as others unless their paths
	// overlap.
	ModePaths
	// ModeExclusive calls, such as a question to the user, make the whole
	// batch run one call at a time.
	ModeExclusive
)

// Effect says what running a call twice would do.
type Effect int

// The effects. The zero value is the safest one.
const (
	// EffectUnknown calls change something; a repeat may do it twice.
	EffectUnknown Effect = iota
	// EffectNone calls only read.
	EffectNone
	// EffectIdempotent calls lead to the same state when repeated.
	EffectIdempotent
	// EffectAsk calls only ask the user questions: for the same arguments,
	// always the same ones in the same order. A question that is open when the
	// process ends stays open. When the session is opened again, the call runs
	// again and asks only what was not answered.
	EffectAsk
	// EffectResumes calls keep what they have done by the id of the call. One that a crash cut
	// off stays open until the user continues the turn; then it runs again and goes on where it was.
	EffectResumes
)
