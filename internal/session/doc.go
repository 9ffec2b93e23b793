// Package session runs conversations: one goroutine for each that is live.
//
// A [Session] is an actor. It owns the transcript, the queue of messages that
// wait, the open questions and the turn that runs; everything that is to
// happen to it (a message, a note, a stop, an answer) is an [Op] in one inbox,
// so there is one guard and not two. It stores every message before anyone
// acts on it, holds the lease that keeps other processes away, and brings a
// turn that a crash cut off back to a state a model can go on from.
//
// It reaches models, tools and prompts through what its [Config] lends it and
// knows no face: whoever wants to see what happens subscribes to its events.
//
// Start at session.go (the actor), then op.go (what it can be asked), exchange.go
// (what it does with messages), turn.go, host.go, recover.go and manager.go.
package session
