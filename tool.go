package hermes

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Tool does one thing for a model.
type Tool interface {
	// Spec describes the tool. It always returns the same value.
	Spec() Spec
	// Run does the work of one call and returns when it is done or ctx ends.
	// The model reads a returned error: it says what is wrong and what to try.
	// Run may be called concurrently as far as the Spec's Mode allows. It must
	// not use the call or its host after it returns.
	Run(ctx context.Context, c *Call) (Result, error)
}

// Call is one call of a tool.
type Call struct {
	ID   string
	Name string
	// Arguments is a JSON object, already repaired and coerced to the schema.
	Arguments json.RawMessage
	Host      Host
	// Propose asks a tool with Spec.CanPropose to store a pending change for
	// the user instead of making it, because the session is unattended.
	Propose bool
	// Approved is what the user agreed to, or nil if the user was not asked. A tool that would
	// do anything else by now must refuse.
	Approved *Subject
	// To lists whom the call was judged to send something to; see [Spec.Sends]. A tool that would send
	// it to others by now must refuse. Only the tool chain sets it.
	To []string
	// Asks says in the words of a hook why the user has to be asked before the call runs, in every mode but
	// yolo, each time; "" is no such reason. Only hooks set it.
	Asks string
	// Omits reports whether a rule forbids to read a file, of whose absolute path all links
	// are followed. A tool that finds files by itself shows nothing of such a file. Nil omits none.
	// Only the tool chain sets it, for tools with Spec.CanOmit.
	Omits func(path string) bool
}

// Invoked reports whether another call made this one by [Host.Invoke], and not the model.
// Its result is not part of the conversation.
func (c *Call) Invoked() bool {
	i, ok := c.Host.(interface{ Invoked() bool })
	return ok && i.Invoked()
}

// Result is what a call returns to the model.
type Result struct {
	// Text is what the model reads, usually JSON.
	Text string
	// Images are sent with the text if the model supports images.
	Images []Image
	// Failed marks a call that ran without success, such as a command with a
	// non-zero exit status. Frontends show it and guardrails count it.
	Failed bool
	// RefundStep does not count the step if every call of the batch sets it.
	RefundStep bool
	// StopReason, if set, says why no more tools run in this turn: the model is
	// asked to answer in words. Only the tool chain sets it.
	StopReason string
	// Shown is a short text for the user instead of Text, such as a diff.
	Shown string
	// Provenance names the sources of untrusted text in the result, as in
	// [Message]. The tool chain sets it for tools without Spec.Trusted.
	Provenance string
}

// Host is what a tool may use of its running session during one call. It is
// valid until Run returns. Its methods may be called concurrently.
type Host interface {
	// Session returns the session that the call belongs to.
	Session() SessionRef
	// Environment returns the session's environment. The tool must not close
	// it.
	Environment() Environment
	// Approve asks the user to allow the call that a describes and waits for
	// the answer. If the frontend cannot ask, the answer is a refusal.
	Approve(ctx context.Context, a ApprovalRequest) (ApprovalAnswer, error)
	// Ask asks the user a question and waits for the answer.
	Ask(ctx context.Context, q Question) (Answer, error)
	// Spawn runs a task in a child session and waits for its report.
	Spawn(ctx context.Context, t Task) (Report, error)
	// Invoke runs another tool of the session through the whole tool chain.
	Invoke(ctx context.Context, name string, arguments json.RawMessage) (Result, error)
	// Progress shows the user what the call is doing. It never blocks. An empty
	// text clears the last one.
	Progress(text string)
}

// CallJournal is implemented by a Host whose session keeps a journal of calls, so
// that no call runs twice unnoticed after a crash. The tool chain calls it for calls
// that may change something, with the arguments that are judged and run.
type CallJournal interface {
	// BeginCall stores that a call begins. If it fails, the call does not run.
	BeginCall(ctx context.Context, c ToolCall) error
	// EndCall stores the result of a call that began. It stores none of a call that
	// only asks if ctx has ended before the user answered: its question stays open.
	EndCall(ctx context.Context, c ToolCall, r Result) error
}

// ToolLister is implemented by a Host that knows which tools the session has.
type ToolLister interface {
	// Tools returns the tools that Invoke can run, sorted by name.
	Tools() []Spec
}

// Waiter is implemented by a Host that knows whether its call waits for the user.
type Waiter interface {
	// Waiting reports whether the call, or one that it invoked, waits for an answer of the
	// user now.
	Waiting() bool
}

// HostKnower is implemented by a Host whose session knows to which hosts the user does not mind that
// links with data in them lead.
type HostKnower interface {
	// KnowsHost reports whether the user named a host, in its plain form, or a setting does.
	KnowsHost(name string) bool
}

// TurnHost is implemented by a Host that knows which message its turn answers.
type TurnHost interface {
	// Answers returns the id of the newest message of the user when the turn began; 0 is unknown.
	Answers() int64
}

// Notifier is implemented by a Host whose session has users who can be told something.
type Notifier interface {
	// Notify shows a notice to whoever attends the session, or one above it. It does not wait.
	Notify(n Notice)
}

// SessionRef names the session that a call belongs to.
type SessionRef struct {
	ID       string
	Turn     int64
	Platform string      // "cli", "telegram", …
	User     string      // the platform's id of the user; "" is the owner of this home
	Chat     string      // the kind of chat, such as private or group; "" is unknown, or no chat
	Root     SessionRoot // the outermost session above this one; the zero value if there is none
	Dir      string      // the working folder at the start of the session
	Depth    int         // 0 for a conversation, 1 for its children, and so on
	Model    string      // the reference of its model now; "" is unknown
	// Started is when the session began; zero is unknown.
	Started time.Time
	// Mode says how risky calls of the session are treated now. It is never wider than that of a
	// session above; empty is what the tool chain was made with.
	Mode RightsMode
	// Attended says that a user is there now who can be asked.
	Attended bool
	// IgnoreRules says that the session leaves out the user's rules and memory, as in
	// [PromptChoice].
	IgnoreRules bool
	// MemoryScope says whose memory the session has, as in [PromptChoice].
	MemoryScope string
	// Provenance names the sources of untrusted text that the session has read
	// so far, as in [Message]; empty means none.
	Provenance string
}

// SessionRoot is the outermost session above a child session.
type SessionRoot struct {
	ID       string // "" is unknown
	Platform string
}

// Outermost returns the id of the outermost session that a session belongs to: its own, if there is
// none above it. What all sessions of a tree share, such as a browser, is kept under this id.
func (r SessionRef) Outermost() string { return cmp.Or(r.Root.ID, r.ID) }

// OnlyUserAllows reports whether no model and no setting may allow a risky call for the user: in a child
// session, and in a turn that a client asked for.
func (r SessionRef) OnlyUserAllows() bool {
	return r.Depth > 0 || r.Mode == ModeAskUser || r.Mode == ModePlan && FromClient(r.Provenance)
}

// Question is a question for the user. Without choices the answer is free text.
type Question struct {
	CallID  string   `json:"call_id,omitempty"`
	Text    string   `json:"text"`
	Choices []string `json:"choices,omitempty"`
	// Multiple allows more than one choice.
	Multiple bool `json:"multiple,omitempty"`
	// Secret hides what the user types, such as a password.
	Secret bool `json:"secret,omitempty"`
	// Number and Of say which of several questions this is, counted from 1;
	// both are 0 for a single question.
	Number int `json:"number,omitempty"`
	Of     int `json:"of,omitempty"`
}

// Answer is the user's answer. TimedOut means that no answer came in time,
// Dismissed that the user refused to answer.
type Answer struct {
	Texts     []string `json:"texts,omitempty"`
	TimedOut  bool     `json:"timed_out,omitempty"`
	Dismissed bool     `json:"dismissed,omitempty"`
}

// Toolset is a group of tools that is turned on or off as a whole.
type Toolset interface {
	Name() string
	// Tools returns the tools of the group. A remote toolset may call its
	// server here.
	Tools(ctx context.Context) ([]Tool, error)
	// Available returns "", or why the group cannot be used now, worded for
	// the user. It must be fast.
	Available(ctx context.Context) string
}

// Tools is a selection of tools that can be listed and called. Its methods may
// be called concurrently.
type Tools interface {
	// Specs returns the tools to offer, sorted by name.
	Specs() []Spec
	// Spec returns the spec of a tool, or false if there is no such tool.
	Spec(name string) (Spec, bool)
	// Preview returns the main argument of a call, shortened for the user; "" if
	// there is nothing to show.
	Preview(c ToolCall) string
	// Canonical returns the arguments of a call in the one form in which they
	// are stored, assessed, shown and run. Those that cannot be fitted to the
	// schema are returned as they are; Run refuses them.
	Canonical(c ToolCall) string
	// Run runs a call. It has no error: a failure is a result that says so.
	Run(ctx context.Context, c *Call) Result
}

// TurnStarter is implemented by Tools that count something per turn.
type TurnStarter interface {
	// TurnStarted is called when a turn begins, before its first call.
	TurnStarted()
}

// BatchFinisher is implemented by Tools that process all results of a batch
// before they are appended, for example to limit their total size.
type BatchFinisher interface {
	// FinishBatch may change the texts of results. They are in the order of
	// calls.
	FinishBatch(ctx context.Context, calls []*Call, results []*Result)
}

// Optional methods of a [Toolset]. A toolset exists once in the program and learns the session
// from [Call.Host]; one that holds a connection or a process is also an io.Closer, which is
// called once, after the last session.
type (
	// Restorer rebuilds the state of a session that is resumed from its stored transcript,
	// before the session runs.
	Restorer interface {
		Restore(s SessionRef, transcript []Message)
	}
	// Stopper ends what runs for a session in the background. It returns when that is gone.
	Stopper interface {
		Stop(s SessionRef)
	}
	// Changer reports that its list of tools, or whether it is available, has changed.
	Changer interface {
		// Changes returns the same channel each time. A value on it means any number of
		// changes.
		Changes() <-chan struct{}
	}
	// Deferrable is a toolset whose tools come late and change while sessions run, such as those
	// of a server. Its Tools are those that a session which begins may be offered, for example
	// from a list that was kept. Both methods answer at once, without asking the server.
	Deferrable interface {
		Toolset
		// Live returns the tools that can be called now. It returns false while that is not
		// known, because the server has not answered so far: then Tools says what there may be.
		// It may be called concurrently.
		Live() (tools []Tool, known bool)
	}
)

// ToolGroup is what a session has of a [Deferrable] toolset now.
type ToolGroup struct {
	Toolset string
	// Known is false while the toolset does not know its tools. Then they are those that it
	// had when the session began.
	Known bool
	Tools []Spec // that can be called, sorted by name
	// Own says that the tools are of Hermes itself, so that their texts are trusted. Hint says in a few words
	// what they are for.
	Own  bool
	Hint string
}

// Title names the group for a model, with the number of its tools, such as "github (30 tools)".
func (g ToolGroup) Title() string {
	name := strings.TrimPrefix(g.Toolset, "mcp-")
	switch len(g.Tools) {
	case 0:
		return name + " (not known so far)"
	case 1:
		return name + " (1 tool)"
	}
	return fmt.Sprintf("%s (%d tools)", name, len(g.Tools))
}

// GroupedTools is implemented by Tools with deferrable toolsets: calls of their tools run although
// Specs may not list them.
type GroupedTools interface {
	// Groups returns the deferrable toolsets that the selection has, sorted by name, also those
	// without tools.
	Groups() []ToolGroup
	// Forwards reports whether [ForwardTool] may call a tool: one of a deferrable toolset, or one
	// that is not there, whose call says so. All others the model calls by themselves.
	Forwards(tool string) bool
}

// RenewableTools is implemented by Tools whose list can be made again while the session lives.
type RenewableTools interface {
	// Renew makes the list again. It is called while no turn runs; after an error the list is
	// the one before.
	Renew(ctx context.Context) error
}

// DeferringHost is implemented by a Host of a session with deferrable toolsets.
type DeferringHost interface {
	// Deferred returns the tools of them that Invoke can run, and that the session's model is not
	// offered as they are now. Groups without such tools are left out, unless they are not known.
	Deferred() []ToolGroup
}

// NewTool returns a tool that runs a function. The schema comes from the
// argument struct In; see [SchemaOf] for the tags. If spec has a Schema, that
// is used instead. NewTool panics if In has no schema, because that is a
// mistake in the program.
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
		return Result{}, fmt.Errorf("the arguments do not match the schema of %s (%w); correct them and call it again", c.Name, err)
	}
	return t.run(ctx, c, in)
}

// SearchTool is the name of the tool with which a model finds tools that it is not offered.
const SearchTool = "tool_search"

// ForwardTool is the name of the tool with which a model calls a tool that it is not offered: its
// arguments are the name and the arguments of the other.
const ForwardTool = "tool_call"

// Forwarded returns the call that a call of [ForwardTool] makes, with its id: that is what is
// judged, shown, journaled and run, if [GroupedTools] forwards to its tool. Other calls, and one that
// names no tool, are returned as they are.
func (c ToolCall) Forwarded() ToolCall {
	var in struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if c.Name != ForwardTool || json.Unmarshal([]byte(c.Arguments), &in) != nil || strings.TrimSpace(in.Name) == "" {
		return c
	}
	arguments := string(in.Arguments)
	var inner string // some models send the object as a JSON string
	if json.Unmarshal(in.Arguments, &inner) == nil {
		arguments = strings.TrimSpace(inner)
	}
	return ToolCall{ID: c.ID, Name: strings.TrimSpace(in.Name), Arguments: cmp.Or(arguments, "{}")}
}

// ToolMessage returns the message that answers a call with its result.
func ToolMessage(c ToolCall, r Result) Message {
	m := Message{
		Role: RoleTool, CallID: c.ID, ToolName: c.Name, Failed: r.Failed, Provenance: r.Provenance,
		Parts: []Part{{Text: r.Text}},
	}
	for i := range r.Images {
		m.Parts = append(m.Parts, Part{Image: &r.Images[i]})
	}
	return m
}

// ErrorResult returns the result of a call that failed or did not run. The model
// reads the text: it says what is wrong and what to try.
func ErrorResult(text string) Result {
	r, err := JSONResult(map[string]string{"error": text})
	if err != nil { // a map of strings always has a JSON form
		r.Text = text
	}
	r.Failed = true
	return r
}

// JSONResult returns a result whose text is v as JSON, without HTML escaping.
func JSONResult(v any) (Result, error) {
	text, err := marshalPlain(v)
	if err != nil {
		return Result{}, err
	}
	return Result{Text: string(text)}, nil
}
