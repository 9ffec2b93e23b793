package hermes

import (
	"encoding/json"
	"time"
)

// Session is the row of a conversation.
type Session struct {
	ID     string
	Source string // cli, oneshot, tui, a platform, subagent, …
	Title  string // empty until it has one; unique otherwise
	Parent string // the session it was branched or compacted from
	Model  string // reference of the model
	Dir    string // working folder in which it began
	Branch string // git branch of that folder, if any

	// System and Tools are built once and never change: every request of the
	// session begins with them.
	System string
	Tools  json.RawMessage

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
}
