package hermes

import (
	"context"
	"time"
)

// ContextEngine decides which part of a transcript is sent to the model. One
// value serves one session and may keep state about it.
type ContextEngine interface {
	Name() string
	// Fit returns the transcript to send: the one given, unless it is too
	// long. It never separates a call from its result, always keeps the last
	// message of the user, and does not change its argument. The caller stores
	// a changed transcript before using it; it is the transcript from then on.
	// After an error the transcript stays as it was.
	Fit(ctx context.Context, transcript []Message, p ContextUsage) (CompactResult, error)
}

// Anchors are what a summary of earlier messages must not lose, as data beside
// its text. The next summary and the task list take them over from here, never
// from the text.
type Anchors struct {
	Words    string     `json:"words,omitempty"`    // what the model wrote
	Requests []string   `json:"requests,omitempty"` // what the user said, oldest first
	Files    []string   `json:"files,omitempty"`    // files written, newest last
	Open     []PlanItem `json:"open,omitempty"`     // open tasks of the plan, with their parents
}

// PlanItem is a task of the plan. Status is pending, in_progress, completed or
// cancelled; Parent is the id of the task that it is a part of, or empty.
type PlanItem struct {
	ID      string `json:"id"`
	Content string `json:"content,omitempty"`
	Status  string `json:"status,omitempty"`
	Parent  string `json:"parent,omitempty"`
}

// ContextUsage says how full the context window is.
type ContextUsage struct {
	// Model is the reference of the model that gets the request.
	Model string
	// Used is the size of the last request and its answer, as counted by the
	// provider; Counted is how many messages of the transcript they cover.
	// Window is the model's context length. Sizes are in tokens; 0 is unknown.
	Used, Counted, Window int
	// Overflow is set when the provider refused the transcript as too long.
	Overflow bool
	// Idle is set when the session has been idle for a while: shorten the
	// transcript also below its limit if that saves much, and leave it as it is
	// if anything fails.
	Idle bool
	// Demand is set when the user asked to compress. Focus is then the topic
	// to keep, and Keep the number of last exchanges to keep unchanged.
	Demand bool
	Focus  string
	Keep   int
}

// CompactResult is the transcript that a ContextEngine returns.
type CompactResult struct {
	Messages []Message
	// From has one entry for each message and says where it comes from; nil
	// means that the transcript was not changed.
	From []MessageOrigin
	// Note says for the user what was done, or why nothing was; empty means no notice.
	Note string
}

// MessageOrigin is the message of the old transcript that a message comes from. If
// Same is false, the message is new and takes the place of the one at Index.
type MessageOrigin struct {
	Index int
	Same  bool
}

// PrefixBreak reports that a request of a session did not begin with the
// request before it, so that the provider's cache was lost from there on.
// Bytes are counted over tools, system prompt and messages, in that order,
// without the protocol around them.
type PrefixBreak struct {
	At      time.Time
	Request int // number in this session and process, counted from 1
	// Section is the first part that changed: "model", "tool read_file",
	// "system prompt", "message 12 (tool result)".
	Section string
	// From and To are the offsets in the section, in the new request, between
	// which it changed; To is the end of the section if all the rest differs.
	From, To int
	// Kept is how many bytes of the request before are still a prefix, and
	// Lost how many are not.
	Kept, Lost int
	// Cause is the reason, if known: "compression", "another model".
	Cause string
}
