// Package demo shows Hermes at work without a key or a network. It owns a sample
// project with two bugs, a script of two sessions, and a small model server on
// localhost that plays the script over the real Chat Completions protocol. The first
// session fixes the project and keeps a note and a skill. The second is asked what was
// wrong, and answers from memory, skill and search.
//
// The server keeps no state. It finds its next step only from the messages of the
// request, so it works after an interruption, a crash or a resume, and for any client
// with the same tools. The package does not know the agent: Run passes it the task
// through Runner.
//
// The second session takes all facts from its request. If the prompt or a tool result
// lacks one, the model says so and Run fails.
//
// Start at scenario.go and recall.go, which are the script. model.go chooses the next
// step, and facts.go fills in the facts of the request.
package demo
