// Package agent is the loop: ask the model, run the batch of calls it wants,
// repeat until it answers in words.
//
// The loop knows interfaces only. It does not know which model it asks, how a
// failed call to one is retried, what stands between a call and its tool, or
// where messages are stored: it yields [hermes.Event] values, and whoever
// iterates them stores each [hermes.Appended] before the loop goes on. It
// keeps these promises: no call of the transcript stays open, results stand
// in the order asked, and a partial answer is never a finished one.
//
// Start at loop.go; then stream.go (one answer), batch.go (one batch),
// budget.go (how many steps) and call.go (what a model wrote as a call).
package agent
