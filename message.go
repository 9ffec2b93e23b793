package hermes

import (
	"strings"
	"time"
)

// Role says who speaks in a Message.
type Role string

// The roles of a transcript. The system prompt is no message: it stands in
// [Request.System] and on the session row.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of a transcript. A stored message is never changed;
// code that needs another form makes a copy.
type Message struct {
	// ID is the store's number of the message, growing within a session; 0
	// before it is stored.
	ID    int64  `json:"id,omitempty"`
	Role  Role   `json:"role"`
	Turn  int64  `json:"turn,omitempty"` // the turn it belongs to, counted from 1 in its session
	Parts []Part `json:"parts,omitempty"`

	// Calls are the tool calls of an assistant message, in the order asked.
	Calls []ToolCall `json:"calls,omitempty"`
	// Reasoning holds the blocks that a provider wants back, in order.
	Reasoning []Reasoning `json:"reasoning,omitempty"`
	// Finish says why an assistant message ended.
	Finish Finish `json:"finish,omitempty"`
	// Usage is what the provider charged for an assistant message.
	Usage *Usage `json:"usage,omitempty"`
	// Model is the reference of the model that wrote an assistant message.
	Model string `json:"model,omitempty"`

	// CallID and ToolName tie a tool message to its call.
	CallID   string `json:"call_id,omitempty"`
	ToolName string `json:"tool_name,omitempty"`
	// Failed marks a tool message whose call did not succeed.
	Failed bool `json:"failed,omitempty"`

	// Provenance says where text of the message comes from that neither the person
	// nor the model wrote, such as "read_file notes.md"; empty is nowhere. See
	// [AddProvenance].
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
	// Hidden parts are sent and stored but not shown to the person, such as
	// recalled memory.
	Hidden bool `json:"hidden,omitempty"`
	// Provenance says where the text of a part comes from that is about to be said,
	// as in [Message]. The session notes it on the message and takes it off the
	// part.
	Provenance string `json:"-"`
}

// Image is a picture as a URL (http, https) or as bytes with their media
// type. Bytes win where both are set.
type Image struct {
	URL       string `json:"url,omitempty"`
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"`
}

// ToolCall is what a model asks to have run.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is the JSON object as it is stored and sent again, byte for
	// byte. In a stored message it is always valid JSON.
	Arguments string `json:"arguments"`
	// Signature is an opaque mark some providers want back with the call.
	Signature string `json:"signature,omitempty"`
}

// Reasoning is one block of a model's thinking, kept so that it can be sent
// back to the provider that wrote it.
type Reasoning struct {
	Text string `json:"text,omitempty"`
	// Wire names the protocol whose block this is ("anthropic", "chat",
	// "responses"); another wire ignores the opaque fields.
	Wire string `json:"wire,omitempty"`
	// Signature proves a block's origin; Opaque is an encrypted or otherwise
	// unreadable form of it. Both go back unchanged.
	Signature string `json:"signature,omitempty"`
	Opaque    string `json:"opaque,omitempty"`
	ID        string `json:"id,omitempty"`
}

// Finish says why a model stopped.
type Finish string

// The reasons to stop, whatever a provider calls them.
const (
	FinishStop    Finish = "stop"
	FinishCalls   Finish = "tool_calls"
	FinishLength  Finish = "length"
	FinishFilter  Finish = "content_filter"
	FinishUnknown Finish = ""
)

// Usage counts tokens of one or more model calls. Input excludes what was
// read from or written to the provider's cache.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	// Reasoning is the part of Output spent on thinking, where it is known.
	Reasoning int64 `json:"reasoning,omitempty"`
	// Calls is the number of requests that were answered.
	Calls int64 `json:"calls,omitempty"`
}

// Total is every token sent or received.
func (u Usage) Total() int64 { return u.Prompt() + u.Output }

// Prompt is every token that was sent, cached or not.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// Add returns the sum of two usages.
func (u Usage) Add(o Usage) Usage {
	return Usage{
		Input:      u.Input + o.Input,
		Output:     u.Output + o.Output,
		CacheRead:  u.CacheRead + o.CacheRead,
		CacheWrite: u.CacheWrite + o.CacheWrite,
		Reasoning:  u.Reasoning + o.Reasoning,
		Calls:      u.Calls + o.Calls,
	}
}

// UserText is a message of the person with one text part.
func UserText(text string) Message {
	return Message{Role: RoleUser, Parts: []Part{{Text: text}}}
}

// Text joins all text parts, hidden ones included, with line breaks between.
func (m Message) Text() string { return m.join(true) }

// Visible joins the text parts that a person may see.
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

// OpenCalls returns the calls of the last assistant message that no later
// message answers. A transcript with open calls must not be sent to a model.
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
