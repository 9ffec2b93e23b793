package hermes

import "context"

// Messenger sends messages to people and chats of messaging platforms, for the tool send_message.
// Its methods may be called concurrently.
type Messenger interface {
	// Targets returns those that messages can be sent to now. It answers at once, without asking a
	// service.
	Targets() []MessageTarget
	// Resolve returns the id of the target that a text names, false if there is none, such as
	// "telegram:12345" for "telegram" or "telegram:#news". It answers at once. As long as the program
	// runs, a text that names a target names the same one.
	Resolve(target string) (id string, ok bool)
	// Send sends a text to the target with an id and returns when its platform has taken it. An
	// error is worded for a model.
	Send(ctx context.Context, from SessionRef, id, text string) (Delivery, error)
}

// MessageTarget is someone that messages can be sent to.
type MessageTarget struct {
	// ID is the one form that tells the target from others.
	ID string
	// Name is what its platform calls it, which anyone may have written.
	Name string
}

// Delivery is what became of a message.
type Delivery struct {
	MessageID string // of the platform; "" is unknown
	// Note says what else is worth knowing, such as that a picture was left out; it may be empty.
	Note string
	// Mirrored says that the session of the target has the text, too.
	Mirrored bool
}
