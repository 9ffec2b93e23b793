// Package command is the one registry of slash commands: what they are called,
// who may use them, what they say of themselves and what they do. Every face
// finds, completes and runs them here.
//
// A command acts on the session it is given, through the session's ops, and
// answers with text in Markdown. What only a face can do (leave, clear the
// screen, begin another session) it names as an [Action] for the face to do.
//
// Start at table.go; [Run] finds a command in a line and runs it.
package command
