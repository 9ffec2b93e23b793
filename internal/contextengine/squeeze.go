package contextengine

import (
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/tokens"
)

// leastResult is the minimum size of a cut result, in tokens.
const leastResult = 100

// squeeze cuts results, and then arguments, that are too long for a window. It
// is the last resort and also cuts in the head and the tail, but never what the
// user or the model said. It reports whether it changed anything.
func (w *work) squeeze(window int) bool {
	if window <= 0 {
		window = defaultWindow
	}
	for limit := window / 8; limit >= leastResult; limit /= 2 {
		if w.cutResults(limit) && w.size(0, len(w.entries)) <= window/2 {
			break
		}
	}
	if w.size(0, len(w.entries)) > window/2 {
		for i := range w.entries {
			w.pruneArguments(i, w.entries[i].m)
		}
	}
	return w.changed()
}

// cutResults removes the middle of results over a limit in tokens, except for
// the newest plan.
func (w *work) cutResults(limit int) bool {
	changed, planned := false, false
	for i := len(w.entries) - 1; i >= 0; i-- {
		m := w.entries[i].m
		if m.Role != hermes.RoleTool {
			continue
		}
		if _, plan := planOf(m); plan && !planned {
			planned = true
			continue
		}
		text := m.Text()
		if tokens.Text(text) <= limit {
			continue
		}
		m.Parts = append([]hermes.Part{{Text: cutMiddle(text, limit)}}, slices.DeleteFunc(slices.Clone(m.Parts), func(p hermes.Part) bool { return p.Image == nil })...)
		w.replace(i, m)
		changed = true
	}
	return changed
}

// cutMiddle removes the middle of a text and keeps about three quarters of the
// limit.
func cutMiddle(text string, limit int) string {
	n := len(text) * limit / tokens.Text(text) * 3 / 4
	head, tail := strings.ToValidUTF8(text[:n*2/3], ""), strings.ToValidUTF8(text[len(text)-n/3:], "")
	return head + fmt.Sprintf("\n[%d bytes were cut out here: too long for the model's window; ask for a smaller part]\n", len(text)-n) + tail
}
