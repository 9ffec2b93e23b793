package hermes

import (
	"strings"
	"time"
)

// Role says who wrote a Message.
type Role string

// The roles of a transcript. The system prompt is not a message: it is in
// [Request.System] and [Session.System].
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of a transcript. A stored message is never changed;
// code that needs another form copies it.
type Message struct {
	// ID is set by the store and grows within a session; 0 means not stored.
	ID    int64  `json:"id,omitempty"`
	Role  Role   `json:"role"`
	Turn  int64  `json:"turn,omitempty"` // the turn it belongs to, counted from 1 in its session
	Parts []Part `json:"parts,omitempty"`

	// Calls are the tool calls of an assistant message, in the model's order.
	Calls []ToolCall `json:"calls,omitempty"`
	// Reasoning holds the blocks that the provider must get back, in order.
	Reasoning []Reasoning `json:"reasoning,omitempty"`
	// Finish says why an assistant message ended.
	Finish Finish `json:"finish,omitempty"`
	// Usage is the usage that the provider reported for an assistant message.
	Usage *Usage `json:"usage,omitempty"`
	// Model is the reference of the model that wrote an assistant message.
	Model string `json:"model,omitempty"`

	// CallID and ToolName name the call that a tool message answers.
	CallID   string `json:"call_id,omitempty"`
	ToolName string `json:"tool_name,omitempty"`
	// Failed marks a tool message whose call did not succeed.
	Failed bool `json:"failed,omitempty"`

	// Provenance names the sources of untrusted text in the message, such as
	// "read_file notes.md". Untrusted is what neither the user, the model nor
	// this program wrote: web pages, files, command output. Empty means that
	// there is none. Sources that the user chose are marked, see
	// [OutsideProvenance].
	Provenance string `json:"outside,omitempty"`

	// Synthetic marks a user message that the program wrote, such as the
	// notice of a finished background process.
	Synthetic bool      `json:"synthetic,omitempty"`
	Time      time.Time `json:"time,omitzero"`
}

// Part is a piece of a message: a text or an image, never both.
type Part struct {
	Text  string `json:"text,omitempty"`
	Image *Image `json:"image,omitempty"`
	// Hidden parts are stored and sent but not shown to the user, such as
	// recalled memory.
	Hidden bool `json:"hidden,omitempty"`
	// Anchors are set on a part that a ContextEngine wrote in place of earlier
	// messages. They are stored but not sent, and nothing else may set them: a
	// text in the form of a summary has none.
	Anchors *Anchors `json:"anchors,omitempty"`
	// Provenance names the sources of untrusted text in a part of a new
	// message. The session moves it to the message before storing it.
	Provenance string `json:"provenance,omitempty"`
}

// Image is a picture: a URL (http or https), or bytes with their media type.
// If both are set, the bytes are used.
type Image struct {
	URL       string `json:"url,omitempty"`
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"`
}

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is a JSON object. It is stored and sent again byte for byte; in
	// a stored message it is always valid JSON.
	Arguments string `json:"arguments"`
	// Signature is an opaque token that some providers must get back with the
	// call.
	Signature string `json:"signature,omitempty"`
}

// Reasoning is one block of a model's thinking, kept so that it can be sent
// back to the provider that wrote it.
type Reasoning struct {
	Text string `json:"text,omitempty"`
	// Protocol names the protocol that the block belongs to ("anthropic", "chat",
	// "responses"); other protocols ignore the opaque fields.
	Protocol string `json:"wire,omitempty"`
	// Signature proves a block's origin; Opaque is its encrypted or otherwise
	// unreadable form. Both are sent back unchanged.
	Signature string `json:"signature,omitempty"`
	Opaque    string `json:"opaque,omitempty"`
	ID        string `json:"id,omitempty"`
}

// Finish says why an answer ended.
type Finish string

// The reasons, the same for all providers.
const (
	FinishStop    Finish = "stop"
	FinishCalls   Finish = "tool_calls"
	FinishLength  Finish = "length"
	FinishFilter  Finish = "content_filter"
	FinishUnknown Finish = ""
	// FinishRepetition means that we stopped an answer that repeated itself
	// without end.
	FinishRepetition Finish = "repetition"
)

// Cut reports whether the answer ended before the model was done, so that its last
// words or calls may not be whole.
func (f Finish) Cut() bool { return f == FinishLength || f == FinishFilter || f == FinishRepetition }

// Usage counts the tokens of one or more model calls. Input excludes tokens
// read from or written to the provider's cache.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	// Reasoning is the part of Output spent on thinking, 0 if unknown.
	Reasoning int64 `json:"reasoning,omitempty"`
	// Calls is the number of answered requests.
	Calls int64 `json:"calls,omitempty"`
}

// Total returns the number of tokens sent and received.
func (u Usage) Total() int64 { return add(u.Prompt(), u.Output) }

// Prompt returns the number of tokens sent, cached or not.
func (u Usage) Prompt() int64 { return add(add(u.Input, u.CacheRead), u.CacheWrite) }

// Add returns the sum of two usages. A sum beyond the range becomes its limit.
func (u Usage) Add(o Usage) Usage {
	return Usage{
		Input:      add(u.Input, o.Input),
		Output:     add(u.Output, o.Output),
		CacheRead:  add(u.CacheRead, o.CacheRead),
		CacheWrite: add(u.CacheWrite, o.CacheWrite),
		Reasoning:  add(u.Reasoning, o.Reasoning),
		Calls:      add(u.Calls, o.Calls),
	}
}

// UserText returns a user message with one text part.
func UserText(text string) Message {
	return Message{Role: RoleUser, Parts: []Part{{Text: text}}}
}

// Text returns all text parts, hidden ones too, joined by line breaks.
func (m Message) Text() string { return m.join(true) }

// Visible returns the text parts that are shown to the user, joined by line
// breaks.
func (m Message) Visible() string { return m.join(false) }

func (m Message) join(hidden bool) string {
	if len(m.Parts) == 1 && (hidden || !m.Parts[0].Hidden) {
		return m.Parts[0].Text
	}
	var texts []string
	for _, p := range m.Parts {
		if p.Text == "" || p.Hidden && !hidden {
			continue
		}
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n")
}

// CutCalls reports whether the calls of the last assistant message are those of an
// answer that was cut.
func CutCalls(transcript []Message) bool {
	for i := len(transcript) - 1; i >= 0; i-- {
		if m := transcript[i]; m.Role != RoleTool {
			return len(m.Calls) > 0 && m.Finish.Cut()
		}
	}
	return false
}

// OpenCalls returns the calls of the last assistant message that have no
// result yet. A transcript with open calls must not be sent to a model.
func OpenCalls(transcript []Message) []ToolCall {
	answered := map[string]bool{}
	for i := len(transcript) - 1; i >= 0; i-- {
		m := transcript[i]
		if m.Role == RoleTool {
			answered[m.CallID] = true
			continue
		}
		if len(m.Calls) == 0 {
			return nil
		}
		var open []ToolCall
		for _, c := range m.Calls {
			if !answered[c.ID] {
				open = append(open, c)
			}
		}
		return open
	}
	return nil
}
