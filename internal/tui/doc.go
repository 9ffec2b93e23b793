// Package tui is the chat in a terminal, and the printers for a single question
// and answer. It reaches sessions only through a [protocol.Client], so it works the
// same whichever process runs the session. Of the package command it uses the names of
// slash commands; the process of the session runs them.
//
// The chat is inline. Finished output is printed once into the terminal's
// scrollback. Below it a small live region is redrawn as things change: the
// unfinished end of the answer, running calls, queued messages, the input and
// a status line.
//
// A [model] is the whole state of the chat. Messages (a key, an event of the
// session, a tick) change it. It returns the actions to carry out and the
// frame of the live region. It starts nothing and waits for nothing, so that
// tests can drive it. The loop in run.go carries out its actions, and a
// [screen] draws.
//
// Start at run.go, the loop, which draws (draw.go), watches the session (attached.go)
// and gives slow work away (background.go). catchup.go makes events of what was missed
// while the session was out of reach. Then update.go, with the parts of the
// model: input.Line is what the user types into, conversation.go what is known of
// the session, and question.go what it asks. renderer.go, with step.go, turns events
// into lines for the chat and the printers.
package tui
