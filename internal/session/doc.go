// Package session runs conversations, each in a goroutine of its own.
//
// A [Session] is an actor. It owns the transcript, the queue of waiting
// messages, the open questions and the running turn. Everything that changes
// it (a message, a note, a stop, an answer) is an [Op] in its inbox, so its
// state needs no lock. It stores every message before acting on it, keeps the
// lease that excludes other processes, and repairs a turn that a crash cut off
// so that the model can continue.
//
// It gets models, tools and prompts from its [Config] and does not know
// frontends: they submit ops and subscribe to events.
//
// A turn is prepared and run in goroutines of its own: package turn. What goes on
// beside and after turns is in package jobs.
//
// Start at session.go (the actor), then op.go (what it accepts), exchange.go
// (what it does with messages), begin.go and prepare.go (how a turn begins and
// ends), question.go and manager.go.
package session
