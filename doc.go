// Package hermes is the core of the Hermes agent: the types that its packages
// share and the interfaces between them.
//
// A conversation is a [Session] with a transcript of [Message] values that
// only grows. A [Model] answers a [Request] with a stream of [Delta] values. A
// [Tool] does something for the model: it gets a [Host] from the running
// session and works in an [Environment], where commands run and files are. A
// [Store] keeps sessions and messages. Frontends (the terminal, a gateway, an
// API) follow a session through its [Event] values only.
//
// The package does no I/O and starts no goroutine. It imports no other
// package of this module. It holds types, interfaces with the contract that
// implementers must keep, and small pure methods. Start reading at message.go,
// then model.go, tool.go, event.go and store.go.
package hermes
