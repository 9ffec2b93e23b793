// Package hermes is the vocabulary of the Hermes agent: every noun that two
// rooms of the house share, and every seam between them.
//
// A conversation is a [Session]: a list of [Message] values that only grows.
// A [Model] answers a [Request] with a stream of [Delta] values. A [Tool]
// does something for the model, through the [Host] that a running session
// lends it, in the [Environment] where commands and files live. A [Store]
// keeps what was said. What happens meanwhile is told as [Event] values, and
// faces (the terminal, a gateway, an API) know nothing else.
//
// The package does no I/O and starts no goroutine. It holds types, the
// interfaces with the promises their implementers make, and small pure
// methods. Start reading at message.go, then model.go, tool.go, event.go.
package hermes
