package contextengine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hermes"
)

// Bounds of what is carried along without a model.
const (
	maxRequests  = 12
	maxRules     = 12
	requestBytes = 600
	maxFiles     = 40
)

// anchors are what a summary must not lose. They are gathered from the
// messages that go and from the summary before, and stand word for word in
// the new one.
type anchors struct {
	requests []string // what the person said, oldest first
	files    []string // files written, newest last
	open     []string // open items of the last plan
	before   string   // the model's part of the summary before
}

// gather reads the anchors of what is cut.
func gather(w *work, c cut) anchors {
	var a anchors
	for _, e := range w.entries[c.head:c.tail] {
		a.add(e.m)
	}
	// A plan may have been made in the part that stays; then it is there.
	for _, e := range w.entries[c.tail:] {
		for _, tc := range e.m.Calls {
			if isTodo(tc.Name) && strings.Contains(tc.Arguments, "todos") {
				a.open = nil
			}
		}
	}
	a.requests = mostTelling(a.requests)
	if n := len(a.files); n > maxFiles {
		a.files = a.files[n-maxFiles:]
	}
	return a
}

// mostTelling keeps the first request, which often names the whole task, the
// newest ones, and those that lay down rules.
func mostTelling(requests []string) []string {
	n := len(requests)
	if n <= maxRequests {
		return requests
	}
	newest := n - maxRequests/2
	rules := 0
	var out []string
	for i := n - 1; i >= 0; i-- {
		switch {
		case i == 0, i >= newest:
		case laysDown(requests[i]) && rules < maxRules:
			rules++
		default:
			continue
		}
		out = append(out, requests[i])
	}
	slices.Reverse(out)
	return out
}

// ruleWords begin what holds for the rest of the work, in the languages that
// we meet most.
var ruleWords = []string{
	"always", "never", "must", "don't", "do not", "only ", "prefer", "make sure", "from now on", "remember", "without ",
	"immer", "niemals", "nie ", "nicht ", "siempre", "nunca", "toujours", "jamais", "必须", "不要", "总是", "永远", "しないで", "必ず",
}

func laysDown(request string) bool {
	lower := strings.ToLower(request)
	return slices.ContainsFunc(ruleWords, func(w string) bool { return strings.Contains(lower, w) })
}

func (a *anchors) add(m hermes.Message) {
	if earlier, rest, ok := splitSummary(m); ok {
		a.takeOver(earlier)
		if rest != "" && m.Role == hermes.RoleUser {
			a.request(rest)
		}
		return
	}
	switch {
	case m.Role == hermes.RoleUser && !m.Synthetic:
		a.request(m.Visible())
	case m.Role == hermes.RoleAssistant:
		for _, c := range m.Calls {
			a.call(c)
		}
	case m.Role == hermes.RoleTool && isTodo(m.ToolName):
		a.plan(m.Text())
	}
}

func (a *anchors) request(text string) {
	if text = strings.TrimSpace(text); text != "" {
		a.requests = append(a.requests, clip(strings.Join(strings.Fields(text), " "), requestBytes))
	}
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
	for line := range strings.Lines(in.Patch) {
		for _, head := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: "} {
			if path, ok := strings.CutPrefix(strings.TrimSpace(line), head); ok {
				a.file(path)
			}
		}
	}
}

func (a *anchors) file(path string) {
	if path == "" {
		return
	}
	a.files = slices.DeleteFunc(a.files, func(f string) bool { return f == path })
	a.files = append(a.files, path)
}

func isTodo(name string) bool { return name == "todo" || name == "todo_list" }

// plan reads the open items of a todo result.
func (a *anchors) plan(text string) {
	var r struct {
		Todos []struct{ Content, Status string } `json:"todos"`
	}
	if json.Unmarshal([]byte(text), &r) != nil || r.Todos == nil {
		return
	}
	a.open = nil
	for _, t := range r.Todos {
		switch t.Status {
		case "in_progress":
			a.open = append(a.open, "[>] "+clip(t.Content, 300))
		case "pending":
			a.open = append(a.open, "[ ] "+clip(t.Content, 300))
		}
	}
}

// takeOver reads the anchors of an earlier summary back.
func (a *anchors) takeOver(s parsed) {
	a.before = s.words
	a.requests = append(s.requests, a.requests...)
	for _, f := range s.files {
		a.file(f)
	}
	if a.open == nil {
		a.open = s.open
	}
}

// staticSummary is the summary that needs no model.
func staticSummary(a anchors) string {
	if a.before != "" {
		return a.before + "\n\n(Turns after this were dropped without a summary; search the session for their text.)"
	}
	if len(a.requests) == 0 {
		return "(Earlier turns were dropped without a summary; search the session for their text.)"
	}
	return fmt.Sprintf("Active task: %s\n\n(Earlier turns were dropped without a summary; search the session for their text.)", a.requests[len(a.requests)-1])
}
