// Package command is the registry of slash commands: their names, which
// frontends offer them, their help and what they do. Every frontend finds,
// completes and runs slash commands through this package.
//
// A command acts on a session through the session's ops and returns Markdown
// text. The package knows no frontend. For what only a frontend can do (quit,
// clear the screen, start another session) a command returns an [Action].
//
// Start at table.go; [Run] finds the command of a line and runs it.
package command
