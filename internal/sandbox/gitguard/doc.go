// Package gitguard finds what git and the user's other tools would run or obey in a
// folder, compares it before and after a command, and restores it. Walls cannot
// protect a path below a folder that may be written on every host, so this is what
// keeps a command from leaving a hook behind.
//
// [Find] looks for repositories and files that tools run. [Take] remembers them with
// their content, and what git's configuration names: hooks, programs, more configuration
// (named.go). [Snapshot.Compare] lists what changed, [Restore] writes it back.
// [Change.Usual] knows what git itself writes when worktrees and submodules come and go.
// [Judge] tells harmless keys of git's configuration from those that run a program, and
// from those that send what the user pushes elsewhere (remotes.go).
// [NeedsConfig] says which git commands write the configuration.
//
// The package does not know who runs commands, and asks no one. The folder belongs to
// a hostile program: nothing here follows a link out of it, waits for a pipe, or reads
// without a limit. Only the configuration that git itself would read is read outside.
// Start reading at find.go.
package gitguard
