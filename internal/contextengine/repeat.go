package contextengine

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"hermes"
)

// repeatNote is added to the line of a shortened result if a later result has the
// same text and is whole. The short hash of the text follows, so that the note can
// be checked when the later one is shortened or summarized in turn.
const repeatNote = "; the same result appears again below, #"

// Notes of earlier versions begin and end so, in two wordings. They do not say
// which text they mean.
const oldRepeatHead, oldRepeatTail = ": the same result ", " again below]"

// textMark is a short hash of a text.
func textMark(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// withRepeat adds the note to a line in brackets.
func withRepeat(line, mark string) string {
	return strings.TrimSuffix(line, "]") + repeatNote + mark + "]"
}

// splitRepeat splits a line that has the note. Notes of earlier versions have no
// mark.
func splitRepeat(m hermes.Message) (line, mark string, ok bool) {
	text := m.Text()
	if m.Role != hermes.RoleTool || !strings.HasPrefix(text, "[") || !strings.HasSuffix(text, "]") || len(text) > 2*prunedFrom {
		return "", "", false
	}
	if head, verb, ok := cutLast(text, oldRepeatHead); ok && strings.HasSuffix(verb, oldRepeatTail) {
		return head + ": the result was shortened]", "", true
	}
	line, mark, ok = cutLast(strings.TrimSuffix(text, "]"), repeatNote)
	return line + "]", mark, ok
}

// checkRepeats removes the notes that are no longer true.
func (w *work) checkRepeats() {
	below := map[string]bool{}
	for i := len(w.entries) - 1; i >= 0; i-- {
		m := w.entries[i].m
		if m.Role != hermes.RoleTool {
			continue
		}
		line, mark, ok := splitRepeat(m)
		if ok && !below[mark] {
			m.Parts = []hermes.Part{{Text: line}}
			w.replace(i, m)
		}
		if text := m.Text(); !ok && len(text) >= prunedFrom {
			below[textMark(text)] = true
		}
	}
}
