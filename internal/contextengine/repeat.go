package contextengine

import (
	"strings"

	"hermes"
)

// Versions before added to the line of a shortened result that a later result has
// the same text, in three wordings. /undo and a branch may take that one away, so
// no line says it any more.
const (
	repeatNote                   = "; the same result appears again below, #"
	oldRepeatHead, oldRepeatTail = ": the same result ", " again below]"
)

// withoutRepeat returns a line without such a note, and whether it had one.
func withoutRepeat(m hermes.Message) (line string, had bool) {
	text := m.Text()
	if m.Role != hermes.RoleTool || !strings.HasPrefix(text, "[") || !strings.HasSuffix(text, "]") || len(text) > 2*prunedFrom {
		return "", false
	}
	if head, verb, ok := cutLast(text, oldRepeatHead); ok && strings.HasSuffix(verb, oldRepeatTail) {
		return head + ": the result was shortened]", true
	}
	line, _, had = cutLast(text, repeatNote)
	return line + "]", had
}

// dropRepeats removes the notes of versions before.
func (w *work) dropRepeats() {
	for i := range w.entries {
		m := w.entries[i].m
		if line, ok := withoutRepeat(m); ok {
			m.Parts = []hermes.Part{{Text: line}}
			w.replace(i, m)
		}
	}
}
