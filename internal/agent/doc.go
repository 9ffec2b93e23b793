// Package agent runs one turn: it calls the model, runs the batch of tool
// calls that the model asks for, and repeats until the model answers in words.
//
// The loop uses interfaces only. It does not know which model answers, how
// failed model calls are retried, what the tool chain does, or where messages
// are stored. It yields [hermes.Event] values; the consumer stores each
// [hermes.Appended] before the loop goes on. The loop guarantees that every
// call in the transcript gets a result, that results are in the order of the
// calls, and that a partial answer never counts as finished.
//
// Start at loop.go; then stream.go (one answer), batch.go (one batch),
// budget.go (the step limit) and call.go (checks of a model's calls).
package agent
