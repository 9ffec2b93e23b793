package contextengine

import (
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/tokens"
)

// leastResult is how short a result may become when nothing else helps, in
// tokens.
const leastResult = 100

// squeeze cuts what is too long for a window in messages that stay: results,
// and then arguments. It is the last resort, so it spares neither head nor
// tail, but what a person or the model said stays. It reports whether it
// changed anything.
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

// cutResults cuts the middle out of results over a limit in tokens, but for the
// newest plan.
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

// cutMiddle leaves about three quarters of so many tokens.
func cutMiddle(text string, limit int) string {
	n := len(text) * limit / tokens.Text(text) * 3 / 4
	head, tail := strings.ToValidUTF8(text[:n*2/3], ""), strings.ToValidUTF8(text[len(text)-n/3:], "")
	return head + fmt.Sprintf("\n[%d bytes were cut out here: too long for the model's window; ask for a smaller part]\n", len(text)-n) + tail
}
