// Package contextengine is the default [hermes.ContextEngine]: it keeps a
// conversation within the model's window without losing the current task.
//
// When the transcript reaches its threshold, it works in five phases: it
// shortens old tool results to one line; it keeps a head, a tail and the user's
// last message; a model summarizes the middle in fixed sections and updates the
// earlier summary; the parts are joined so that roles alternate; and calls
// without results, or results without calls, are removed. The user's requests,
// the changed files and the open items are copied without a model, so that a
// bad summary cannot lose them. In a turn that is too long, the message stays
// and the first steps are summarized.
//
// If a summary fails, the transcript stays as it is. Only if the provider
// refuses its length, a fixed note replaces the summary. The package stores
// nothing; the session stores hidden messages.
//
// Start at engine.go; then budget.go, prune.go, cut.go, summary.go, anchor.go,
// request.go, assemble.go and squeeze.go.
package contextengine
