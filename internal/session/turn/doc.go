// Package turn is what a turn of a session does: it stores what happens, lends each
// call its host, adds to a message what the model should read with it, and runs the
// loop.
//
// A [Record] is what is stored of a session: its row, its lease and its transcript. A
// [Turn] is a running loop whose events the session takes one after another. [Calls]
// are the hosts of its calls, which the goroutines of the turn use.
//
// The package does not know what else a session does: its queue, its questions and
// its frontends are the session's. Start at turn.go, then record.go and calls.go.
package turn
