// Package policy judges what an agent is about to read or write: a file path, or
// a text that will enter a prompt. It uses no disk, network or state, and knows
// nothing of the agent. The caller supplies the facts, such as a path with its
// links followed, and acts on the verdict: a denial applies in every mode, a
// question goes to the user.
//
// One table of protected paths (path_table.go) serves file tools, commands and
// uploads. Start reading at path.go for files and inject.go for prompt text.
// Package internal/policy/shell judges command lines. All functions may be called
// concurrently.
package policy
