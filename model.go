package hermes

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
)

// Model answers requests. Everything that differs between services is
// settled below this line.
type Model interface {
	// ID is the reference of the model, "provider:name" where it is served
	// by a known provider.
	ID() string
	// Stream sends the request and returns its answer as deltas. Nothing is
	// sent before the iteration begins; a sequence can be iterated once. At
	// most one error is yielded and it is the last item; if the service
	// answered, it is (or wraps) a *ModelError. An answer that broke off is
	// an error, never a finished answer. Stopping the iteration or ending ctx
	// ends the call. Implementations may be called concurrently and must not
	// change the request.
	Stream(ctx context.Context, r *Request) iter.Seq2[Delta, error]
}

// Request is one call to a model. Within a session the system prompt, the
// tools and the messages of a request begin the next request unchanged.
type Request struct {
	System   string
	Messages []Message
	Tools    []Spec // sorted by name
	// WordsOnly asks for an answer without tool calls. The tools are sent all
	// the same, so that the provider's cache stays valid.
	WordsOnly bool
	// MaxTokens bounds the answer; 0 leaves it to the model's own limit.
	MaxTokens int
	// Temperature is sent only where the model takes one; nil is the default.
	Temperature *float64
	Effort      Effort
	// Session is a stable id that providers may use to route to a warm cache.
	Session string
	// Purpose names an auxiliary task ("compression", "title", …); empty for
	// the conversation itself.
	Purpose string
	// Scope tells on whose account the call is made.
	Scope Scope
}

// Effort is how hard a reasoning model should think; the empty value leaves
// it to the model.
type Effort string

// The levels of effort, lowest first. A transport clamps to what its model
// can do.
const (
	EffortNone    Effort = "none"
	EffortMinimal Effort = "minimal"
	EffortLow     Effort = "low"
	EffortMedium  Effort = "medium"
	EffortHigh    Effort = "high"
	EffortXHigh   Effort = "xhigh"
	EffortMax     Effort = "max"
)

// Delta is a piece of an answer. Exactly one field is set.
type Delta struct {
	Text      string
	Reasoning string
	// Block completes a reasoning block that must be replayed.
	Block  *Reasoning
	Call   *CallDelta
	Usage  *Usage // the whole answer's usage so far; the last one holds
	Finish Finish
	// Reset takes back all text, reasoning and calls yielded so far: the
	// layer below starts over. Its text says why, for the person.
	Reset string
	// Notice tells the person what is being waited for.
	Notice string
	// Model names the model that answers from here on, where a layer chose
	// another one than was asked.
	Model string
}

// CallDelta is a piece of the tool call with this index. ID and Name are set
// once; Arguments are appended.
type CallDelta struct {
	Index     int
	ID        string
	Name      string
	Arguments string
	Signature string
}

// Assembly folds deltas into the message they spell. The zero value is ready.
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

// Add takes the next delta.
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

// Empty reports whether neither text nor a call has come.
func (a *Assembly) Empty() bool { return a.text.Len() == 0 && len(a.calls) == 0 }

// Message is the assistant message so far. Call arguments are as the model
// wrote them: they may be broken JSON.
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

// Collect iterates an answer to its end and returns the message it spells.
// With an error it returns what had come until then.
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

// Models resolves references such as "openrouter:vendor/name", a bare model
// name or an alias. The empty reference is the configured default.
type Models interface {
	Model(ctx context.Context, ref string) (Model, error)
}

// Provider serves models under one account.
type Provider interface {
	Name() string
	// Model returns the named model of this provider. It does no I/O.
	Model(name string) (Model, error)
	// List asks the service which models it has.
	List(ctx context.Context) ([]ModelInfo, error)
}

// ModelInfo is what is known of a model. Zero numbers are unknown.
type ModelInfo struct {
	ID            string
	Name          string
	ContextLength int
	OutputLimit   int
	Vision        bool
	Reasoning     bool
	Tools         bool
	// Price is nil where it is not known.
	Price *Price
}

// Spec describes a tool to a model and to the tool chain. It is a value that
// never changes while a session lives.
type Spec struct {
	Name        string
	Description string
	// Schema is the canonical JSON Schema of the arguments: an object.
	Schema json.RawMessage
	// Mode says what may run beside a call.
	Mode Mode
	// Paths names the files a call touches, so that calls which touch the same
	// ones do not run together. It gets a JSON object that may not fit the
	// schema, and must not do I/O.
	Paths func(arguments json.RawMessage) []string
	// Effect says whether a call may be repeated after a crash.
	Effect Effect
	// ReadsOnly says of one call that it certainly only reads, though its
	// tool may do more: it then counts as EffectNone, and may run beside
	// calls that touch no files or only read. Nil says it of none. It gets a
	// JSON object that may not fit the schema, and must not do I/O.
	ReadsOnly func(arguments json.RawMessage) bool
	// Trusted says that results hold only what the person, the model or this
	// program wrote, unless a result says otherwise in its Provenance. The careful
	// zero value takes every result for text from outside.
	Trusted bool
	// Persists names what a call changes that outlives the conversation: "memory",
	// "skill", …; "" is nothing. Nil says it of all calls. In a session that has
	// seen text from outside such a call needs the person's leave, and consent
	// to one name says nothing about another. It gets a JSON object that may
	// not fit the schema.
	Persists func(arguments json.RawMessage) string
	// CanPropose says that the tool heeds [Call.Propose].
	CanPropose bool
	// ResultLimit is the size in bytes above which a result is stored outside
	// the context; 0 is the default limit, negative means never.
	ResultLimit int
}

// EffectOf is the effect of one call.
func (s Spec) EffectOf(arguments json.RawMessage) Effect {
	if s.ReadsOnly != nil && s.ReadsOnly(arguments) {
		return EffectNone
	}
	return s.Effect
}

// Mode says what may run at the same time as a call.
type Mode int

// The modes. The zero value is the careful one.
const (
	// ModeSequential calls run alone, in their place in the batch.
	ModeSequential Mode = iota
	// ModeParallel calls run beside any other parallel call.
	ModeParallel
	// ModePaths calls run beside others unless their paths overlap.
	ModePaths
	// ModeExclusive calls keep every other call of the batch from running in
	// parallel, such as a question to the person.
	ModeExclusive
)

// Effect says what running a call twice would do.
type Effect int

// The effects. The zero value is the careful one.
const (
	// EffectUnknown calls change something; a repeat may do it twice.
	EffectUnknown Effect = iota
	// EffectNone calls only read.
	EffectNone
	// EffectIdempotent calls lead to the same state when repeated.
	EffectIdempotent
	// EffectAsk calls put questions to the person and do nothing else, always
	// the same ones in the same order for the same arguments. A question that
	// is open when a process ends stays open: the call is run again when the
	// session comes back, and asks only what was not answered.
	EffectAsk
)
