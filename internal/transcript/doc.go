// Package transcript reads the conversations that other agents keep on disk:
// the session files of Claude Code and the rollout files of Codex, both JSON
// lines.
//
// It converts a file to a session and its messages. Open calls get a result,
// orphaned results are dropped, and unreadable lines, such as a truncated last
// line, are skipped and counted. Start at File, which only reads; Store makes it a
// session that the user can continue.
package transcript
