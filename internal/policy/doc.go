// Package policy judges what an agent is about to touch: a file path, or a
// text that will enter a prompt. Its verdicts are pure: no disk, no network, no
// state, and nothing of the agent is known here. Whoever asks must bring the
// facts, such as a path with its links followed, and must act on the answer: a
// denial holds in every mode, a question goes to the person.
//
// Start reading at path.go for files and inject.go for prompt text; command
// lines have a package of their own, internal/policy/shell. Everything may be
// called from several goroutines.
package policy
