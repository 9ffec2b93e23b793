package hermes

import "context"

// ContextEngine decides what of a transcript is sent. One value serves one
// session: it may remember what it did.
type ContextEngine interface {
	Name() string
	// Fit returns the transcript to send, which is the one given unless it is
	// pressed. It never parts a call from its result, and the last words of
	// the person always survive. It does not change its argument. What it
	// changed is stored before it is used, and is the transcript from then
	// on; with an error the transcript stays as it was.
	Fit(ctx context.Context, transcript []Message, p ContextUsage) (CompactResult, error)
}

// ContextUsage tells a ContextEngine how full the window is.
type ContextUsage struct {
	// Used is the size of the last request and its answer as the provider
	// counted them, and Counted how many messages of the transcript they
	// cover. Window is the model's context length. Sizes are in tokens; 0 is
	// unknown.
	Used, Counted, Window int
	// Overflow is set when the provider refused the transcript as too long.
	Overflow bool
	// Demand is set when the person asked to compress, with Focus as the
	// topic to keep and Keep as the number of exchanges to leave as they are.
	Demand bool
	Focus  string
	Keep   int
}

// CompactResult is what a ContextEngine made of a transcript.
type CompactResult struct {
	Messages []Message
	// From says of each message where it comes from; nil means that the
	// transcript was not changed.
	From []Origin
	// Note tells the person what was done; empty tells nothing.
	Note string
}

// Origin says which message of the old transcript a message is, or, where it
// is not the Same, whose place it takes in the order.
type Origin struct {
	Index int
	Same  bool
}
