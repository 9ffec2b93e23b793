// Package contextengine is the default hermes.ContextEngine: it keeps a
// conversation inside the model's window without losing the task in hand.
//
// When the transcript reaches its threshold it works in five phases: old tool
// results become one line each; a head, a tail and the last words of the
// person are set aside; a model sums up the middle in fixed sections, on top
// of the summary before; the pieces are put together so that speakers keep
// taking turns; and calls without results, or results without calls, go. What
// the person asked for, the files that were touched and the open items are
// also kept without any model's help, so that a bad summary cannot lose them.
// A turn that is itself too long is cut within: its message stays, and its
// first steps are summed up.
//
// A summary that fails leaves the transcript as it is; only when the provider
// refuses its length does a note without a model take the summary's place.
// The package stores nothing: the session keeps what is hidden.
//
// Start at engine.go; then budget.go, prune.go, cut.go, summary.go, anchor.go,
// request.go, assemble.go and squeeze.go.
package contextengine
