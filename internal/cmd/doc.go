// Package cmd is the root of the command line: the global flags, the explicit
// list of commands, and the exit status of what they return.
//
// Commands live in folders of their own, a folder a noun and a file a verb;
// this package knows only how to make them. Nothing is read, opened or probed
// before a command runs that needs it: the flags fill an app.Options, and the
// commands are given a func that makes the app.
package cmd
