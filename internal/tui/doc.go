// Package tui is the chat in a terminal: inline, in the terminal's own
// scrollback, and the printers of a single question and answer.
//
// What is finished is printed once and belongs to the terminal; below it a
// small live region is drawn anew as things change: the open end of the
// answer, calls that run, what waits, the input and a line of status.
//
// A [model] is the whole state of the chat. It is changed by messages (a key,
// an event of the session, a tick), gives back what is to be done, and says
// how the live region looks; it starts nothing and waits for nothing, so that
// tests can drive it. The loop in run.go does what it asks for, and a [screen]
// draws. The agent is reached through the session's ops and events alone.
//
// Start at run.go, then update.go (with send.go and question.go), view.go and
// teller.go, which turns events into lines for the chat and the printers alike.
package tui
