// Package transcript reads the conversations that other agents keep on disk:
// the session files of Claude Code and the rollout files of Codex, both JSON
// lines.
//
// What is read becomes a session and its messages in our own form: open calls
// are answered, orphaned results dropped, and lines that cannot be read, such
// as the last one of a file that was cut, are left out and counted. The
// package does no I/O beyond its reader and stores nothing. Start at Read.
package transcript
