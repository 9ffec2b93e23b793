package todo

import (
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/text"
)

const (
	// forgottenAfter is how many calls without a look at the list remind of it.
	forgottenAfter = 10
	// shownItem limits an item in a line, in characters.
	shownItem = 120
)

// Remind counts a finished call of a session and returns what to add below its
// result: one line if the list was not read or written for ten calls and has open
// items, once for each ten, and one if the call failed while an item is in
// progress. It is "" for calls of the tool itself. Call it for all calls of a
// session in their order.
func (t *Toolset) Remind(session, tool string, failed bool) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	h, ok := t.lists.Get(session)
	if !ok {
		return ""
	}
	if tool == name || tool == alias {
		if !failed {
			h.unseen = 0
		}
		return ""
	}
	passed := h.unseen
	h.unseen++
	h.sinceUpdate++
	var lines []string
	if n := h.list.openItems(); n > 0 && passed > 0 && passed%forgottenAfter == 0 {
		lines = append(lines, fmt.Sprintf("[%d calls since the task list was read or updated; %s open. Update it with todo if it is out of date.]", passed, text.Plural(n, "item is", "items are")))
	}
	if current := h.list.inProgress(); failed && current != "" {
		lines = append(lines, "[In progress in the task list: "+current+". If this failure changes the plan, update it with todo.]")
	}
	return strings.Join(lines, "\n")
}

func (l List) openItems() int {
	n := 0
	for _, item := range l.Items {
		if item.Status.open() {
			n++
		}
	}
	return n
}

// inProgress returns the first item in progress on one line, "" if there is none.
func (l List) inProgress() string {
	for _, item := range l.Items {
		if item.Status != InProgress {
			continue
		}
		return text.Line(item.ID+". "+item.Content, shownItem)
	}
	return ""
}

// passedSince counts the calls of other tools after the newest list of a
// transcript was reported, and after it was last changed.
func passedSince(transcript []hermes.Message, revision int) (unseen, sinceUpdate int) {
	seen, calls := false, 0
	for i := len(transcript) - 1; i >= 0; i-- {
		m := transcript[i]
		if m.Role != hermes.RoleTool {
			continue
		}
		if m.ToolName != name && m.ToolName != alias {
			calls++
			continue
		}
		list, ok := fromResult(m)
		if ok && list.Revision != revision {
			break
		}
		if ok && !seen {
			seen, unseen = true, calls
		}
		if ok {
			sinceUpdate = calls
		}
	}
	if !seen { // the list is from a summary
		return calls, calls
	}
	return unseen, sinceUpdate
}
