// Package demo shows Hermes at work without a key and without a network. It owns a
// sample project with two mistakes in it, a written scenario of two sessions, and a
// small model server on the loopback that plays the scenario over the real Chat
// Completions protocol. The first session mends the project and keeps a note and a
// skill; the second is asked what was wrong, and answers from memory, skill and search.
//
// The server remembers nothing: it finds its next move in the messages of the
// request alone, so it plays on after an interruption, a crash or a resume, and for
// any client that offers the same tools. The agent is not here: Run hands it the task
// through Runner and shows what became of it.
//
// What the second session says is taken from what it is sent: where the prompt or a
// tool lacks a fact, the model says so, and Run fails.
//
// Start reading at scenario.go and recall.go, which are the script; model.go decides
// which of its steps comes next, facts.go fills in what the request tells.
package demo
