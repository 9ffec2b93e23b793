package hermes

import "time"

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
