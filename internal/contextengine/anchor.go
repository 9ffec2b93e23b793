package contextengine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/text"
)

// Limits of the anchors. Their total size also depends on the window.
const (
	maxRequests  = 60
	maxRules     = 16
	newest       = 3 // the newest requests always stay
	requestBytes = 600
	maxFiles     = 200
	itemBytes    = 300
	maxOpen      = 60
)

// anchors are what a summary must not lose. They come from the removed messages
// and from the earlier summary, and are copied word for word into the new one.
type anchors struct {
	requests []string          // what the user said, oldest first
	files    []string          // files written, newest last
	open     []hermes.PlanItem // open items of the last plan, with their parents
	more     bool              // there are more open items
	before   string            // the model's part of the earlier summary
	within   bool              // the user's last message is below the summary, which covers work on it
}

// gather returns the anchors of the removed messages, read before pruning, of
// at most so many tokens. A plan anywhere counts, because the kept messages may
// have an older one; a plan in the tail needs no copy.
func gather(w *work, c cut, most int) anchors {
	var a anchors
	for i := range w.old[:c.tail] {
		switch m := w.old[i]; {
		case i >= c.head && i != c.last:
			a.add(m)
		case m.Role == hermes.RoleTool:
			a.plan(m)
		}
	}
	for i := range w.old[c.tail:] {
		if _, ok := planOf(w.old[c.tail+i]); ok {
			a.open = nil
		}
	}
	a.within = c.last >= 0 || w.lastUser(1) < c.head
	a.limit(most)
	return a
}

// limit keeps what tells most, of at most so many tokens.
func (a *anchors) limit(most int) {
	a.requests = mostTelling(a.requests, most/2)
	a.files = lastOf(a.files, maxFiles, most/4)
	n := fits(openLines(a.open), maxOpen, most/4)
	a.open, a.more = a.open[:n:n], n < len(a.open)
}

func (a *anchors) add(m hermes.Message) {
	text := m.Visible()
	if earlier, rest, ok := splitSummary(m); ok {
		a.addEarlier(earlier)
		text = rest
	}
	switch m.Role {
	case hermes.RoleUser:
		if !m.Synthetic {
			a.request(text)
		}
	case hermes.RoleAssistant:
		for _, c := range m.Calls {
			a.call(c)
		}
	case hermes.RoleTool:
		a.plan(m)
	}
}

func (a *anchors) request(text string) {
	if text = strings.TrimSpace(text); text != "" {
		a.requests = append(a.requests, clipEnds(oneSpaced(text), requestBytes))
	}
}

func oneSpaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// clipEnds removes the middle of a long text: the request is often at the end
// of pasted text.
func clipEnds(s string, n int) string {
	if len(s) <= n {
		return s
	}
	tail := s[len(s)-n/3:]
	return text.Clip(s[:n-n/3], n-n/3-1) + " " + strings.ToValidUTF8(tail, "")
}

func (a *anchors) call(c hermes.ToolCall) {
	if c.Name != "write_file" && c.Name != "patch" {
		return
	}
	var in struct{ Path, Patch string }
	if json.Unmarshal([]byte(c.Arguments), &in) != nil {
		return
	}
	a.file(in.Path)
	for _, head := range patchHeads(in.Patch) {
		_, path, _ := strings.Cut(head, " File: ")
		a.file(path)
	}
}

// patchHeads returns the lines of a V4A patch that name files.
func patchHeads(patch string) []string {
	var out []string
	for line := range strings.Lines(patch) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "*** "); ok && strings.Contains(rest, " File: ") {
			out = append(out, line)
		}
	}
	return out
}

func (a *anchors) file(path string) {
	if path = oneSpaced(path); path == "" {
		return
	}
	a.files = slices.DeleteFunc(a.files, func(f string) bool { return f == path })
	a.files = append(a.files, path)
}

// planOf reads the plan in a todo result. A note to the model may follow it.
func planOf(m hermes.Message) ([]hermes.PlanItem, bool) {
	if m.Role != hermes.RoleTool || m.ToolName != "todo" && m.ToolName != "todo_list" || m.Failed {
		return nil, false
	}
	var r struct{ Todos []hermes.PlanItem }
	if json.NewDecoder(strings.NewReader(m.Text())).Decode(&r) != nil || r.Todos == nil {
		return nil, false
	}
	return r.Todos, true
}

// moreItems ends a list of open items that was too long. Stored summaries have
// it, so it must not change.
const moreItems = "[ ] … and more: the todo tool tells the whole list"

var marks = map[string]string{"pending": "[ ] ", "in_progress": "[>] ", "completed": "[x] ", "cancelled": "[~] "}

// plan sets the open items from a todo result, with their parents.
func (a *anchors) plan(m hermes.Message) {
	items, ok := planOf(m)
	if !ok {
		return
	}
	parent := map[string]string{}
	for _, t := range items {
		parent[t.ID] = t.Parent
	}
	wanted := map[string]bool{}
	for _, t := range items {
		open := t.Status == "pending" || t.Status == "in_progress"
		for id := t.ID; open && id != "" && !wanted[id]; id = parent[id] {
			wanted[id] = true
		}
	}
	a.open = nil
	for _, t := range items {
		if !wanted[t.ID] {
			continue
		}
		t.ID, t.Content = oneSpaced(t.ID), text.Clip(oneSpaced(t.Content), itemBytes)
		if !wanted[t.Parent] {
			t.Parent = ""
		}
		a.open = append(a.open, t)
	}
}

// openLines returns open items as the model reads them.
func openLines(items []hermes.PlanItem) []string {
	out := make([]string, len(items))
	for i, t := range items {
		out[i] = marks[t.Status] + t.ID + ". " + t.Content
		if t.Parent != "" {
			out[i] += " (part of " + t.Parent + ")"
		}
	}
	return out
}

// openItem reads a line of openLines, as stored summaries without anchors have it.
func openItem(line string) (hermes.PlanItem, bool) {
	for status, mark := range marks {
		rest, ok := strings.CutPrefix(line, mark)
		if !ok || line == moreItems {
			continue
		}
		t := hermes.PlanItem{Status: status}
		t.ID, t.Content, ok = strings.Cut(rest, ". ")
		if i := strings.LastIndex(t.Content, " (part of "); i >= 0 && strings.HasSuffix(t.Content, ")") {
			t.Content, t.Parent = t.Content[:i], strings.TrimSuffix(t.Content[i+len(" (part of "):], ")")
		}
		return t, ok
	}
	return hermes.PlanItem{}, false
}

// addEarlier adds the anchors of an earlier summary. They are older than all
// others except a plan in the head.
func (a *anchors) addEarlier(s hermes.Anchors) {
	a.before = s.Words
	a.requests = append(slices.Clone(s.Requests), a.requests...)
	for _, f := range s.Files {
		a.file(f)
	}
	a.open = slices.Clone(s.Open)
}

// dropped replaces turns that have no summary. Stored summaries have it, so it
// must not change.
const dropped = "(Turns were dropped here without a summary; search the session for their text.)"

// staticSummary returns a summary made without a model.
func staticSummary(a anchors) string {
	switch {
	case a.before != "":
		return strings.TrimSpace(strings.ReplaceAll(a.before, dropped, "")) + "\n\n" + dropped
	case len(a.requests) == 0 || a.within:
		return dropped
	}
	return fmt.Sprintf("Active task: %s\n\n%s", a.requests[len(a.requests)-1], dropped)
}
