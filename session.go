package hermes

import (
	"encoding/json"
	"time"
)

// SystemPrompt is a finished system prompt and the pieces that it is made of.
type SystemPrompt struct {
	Text   string
	Layers []PromptLayer
	// Provenance says what of it neither the person nor this program wrote, as in
	// [Message].
	Provenance string
}

// PromptLayer is one piece of a system prompt, as it is kept for reports.
type PromptLayer struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"` // with what parts it from the next one
	// Tokens is an estimate.
	Tokens int `json:"tokens"`
	// Was is its size before it was shortened, 0 if it is whole, and Why the
	// reason in words for a person.
	Was int    `json:"was,omitempty"`
	Why string `json:"why,omitempty"`
}

// Session is the row of a conversation.
type Session struct {
	ID       string
	Platform string // cli, oneshot, tui, a platform, subagent, …
	User     string // who speaks on a platform, by its id; "" is the owner of this home
	Title    string // empty until it has one; unique otherwise
	Parent   string // the session it was branched or compacted from
	Model    string // reference of the model
	Dir      string // working folder in which it began
	Branch   string // git branch of that folder, if any

	// System and Tools are built once and never change: every request of the
	// session begins with them.
	System string
	Tools  json.RawMessage
	// Layers are the pieces of System in their order, empty where they are not
	// known. Nothing that is sent depends on them.
	Layers []PromptLayer

	Started   time.Time
	Active    time.Time // when its last message was stored
	Ended     time.Time // zero while it is open
	EndReason string

	Messages int // stored messages that are part of the transcript
	Calls    int // tool calls among them
	Turns    int64
	Usage    Usage
	Archived bool
	Pinned   bool

	// Provenance says what text from outside the session began with, as in
	// [Message]: files of the project in its prompt, what its parent had seen.
	Provenance string
	// Tainted reports whether its prompt or a message that was not taken back
	// holds text from outside. Stores tell it; it is not stored.
	Tainted bool
	// Asking says that a question of the session waits for the person, in this
	// process or since an earlier one. Stores tell it; it is not stored.
	Asking bool
}
