// Package demo shows Hermes at work without a key and without a network. It owns a
// sample project with two mistakes in it, a written scenario that mends them, and a
// small model server on the loopback that plays the scenario over the real Chat
// Completions protocol.
//
// The server remembers nothing: it finds its next move in the messages of the
// request alone, so it plays on after an interruption, a crash or a resume, and for
// any client that offers the same tools. The agent is not here: Run hands it the task
// through Runner and shows what became of it.
//
// Start reading at scenario.go, which is the script; model.go decides which of its
// steps comes next.
package demo
