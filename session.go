package hermes

import (
	"encoding/json"
	"time"
)

// SystemPrompt is a complete system prompt and the layers that it is made of.
type SystemPrompt struct {
	Text   string
	Layers []PromptLayer
	// Provenance names the sources of untrusted text in it, as in [Message].
	Provenance string
	// Warnings tell the user what was left out of it.
	Warnings []string
}

// PromptLayer describes one piece of a system prompt, for reports.
type PromptLayer struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"` // with the separator to the next one
	// Tokens is an estimate.
	Tokens int `json:"tokens"`
	// Was is its size before it was shortened, 0 if it was not. Why is the
	// reason, for the user.
	Was int    `json:"was,omitempty"`
	Why string `json:"why,omitempty"`
}

// Session is a stored conversation, without its messages.
type Session struct {
	ID       string
	Platform string // cli, oneshot, tui, a platform, subagent, …
	User     string // the platform's id of the user; "" is the owner of this home
	Title    string // empty until it has one; unique otherwise
	Parent   string // the session it was branched or compacted from
	Model    string // reference of the model
	Dir      string // working folder at its start
	Branch   string // git branch of that folder, if any

	// System and Tools are built once and never change: every request of the
	// session begins with them.
	System string
	Tools  json.RawMessage
	// Layers describe the pieces of System in order; empty if unknown. Nothing
	// that is sent depends on them.
	Layers []PromptLayer

	Started   time.Time
	Active    time.Time // when its last message was stored
	Ended     time.Time // zero while it is open
	EndReason string

	Messages int // stored messages that are part of the transcript
	Calls    int // tool calls in these messages
	Turns    int64
	Usage    Usage
	Archived bool
	Pinned   bool

	// Provenance names the sources of untrusted text that the session began
	// with, as in [Message]: project files in its prompt, and what its parent
	// had read.
	Provenance string
	// Tainted reports whether its prompt or a message that was not undone holds
	// untrusted text. Stores compute it; it is not stored.
	Tainted bool
	// Asking says that a question of the session waits for the user, asked by
	// this process or an earlier one. Stores compute it; it is not stored.
	Asking bool
	// Run is the part of the session's RunSpec that holds for its life. It is the zero value
	// if an earlier version stored the session, and in rows of lists.
	Run StoredRun
}
