package shell

// Limits of everything that the analysis expands. What is longer or more is
// unknown, and an unknown command asks.
const (
	maxNesting      = 2000     // brackets that a line may open; the parser's stack grows with them
	maxDepth        = 16       // shells, functions, substitutions and wrappers inside each other
	maxSteps        = 10_000   // commands that are judged; loops and functions multiply them
	maxWork         = 1 << 20  // bytes and words that are expanded for one line
	maxText         = 64 << 10 // bytes of a word, a here-document or an output
	maxValue        = 8 << 10  // bytes of a variable or of an array
	maxWords        = 1024     // words of a command, elements of an array
	maxBraces       = 256      // words that one word with braces becomes
	maxVariables    = 64       // variables that are remembered
	maxAlternatives = 8        // values that a variable may have after a branch
	maxFunction     = 16 << 10 // bytes of a function that is followed
	maxIterations   = 32       // words of a loop that are followed one by one
	maxPositions    = 256      // words of an unknown program that may begin a command
	maxTexts        = 256      // arguments of a program that may be the text of one
	maxFiles        = 64       // files that are remembered as written
)

// step counts a command. It reports false once there are too many of them.
func (j *judge) step() bool {
	if j.steps++; j.steps > maxSteps || j.work > maxWork {
		j.exhausted()
		return false
	}
	return true
}

// spend counts expanded bytes. It reports false once there are too many of them;
// then everything that is expanded is unknown.
func (j *judge) spend(bytes int) bool {
	if j.work += bytes + 1; j.work > maxWork {
		j.exhausted()
		return false
	}
	return true
}

// exhausted asks, since the rest of the line is not judged.
func (j *judge) exhausted() { j.ask("too-deep", "there is too much to check in this command") }
