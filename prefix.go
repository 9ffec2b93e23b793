package hermes

import "time"

// PrefixBreak tells how a request of a session failed to begin with the one
// before it, so that the provider's cache was lost from there on. Bytes are
// counted over what a request is made of, in the order tools, system prompt,
// messages, without the protocol round it.
type PrefixBreak struct {
	At      time.Time
	Request int // of the session in this process, counted from 1
	// Section is the first part that changed: "model", "tool read_file",
	// "system prompt", "message 12 (tool result)".
	Section string
	// From and To are the bytes within the section that changed, as they stand
	// in the new request; To is its end where the rest differs.
	From, To int
	// Kept is how many bytes of the request before are still its beginning,
	// and Lost how many are not.
	Kept, Lost int
	// Cause is why, where it is known: "compression", "another model".
	Cause string
}
