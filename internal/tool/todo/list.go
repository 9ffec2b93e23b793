package todo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hermes"
)

const (
	// maxContent limits an item's text, in characters.
	maxContent = 4000
	// maxItems limits a list.
	maxItems = 256
	// maxReplayed limits the results that a list is restored from, in bytes.
	maxReplayed = 512_000
	cutMark     = "… [cut]"
)

// Status is the state of an item.
type Status string

// The states of an item.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Cancelled  Status = "cancelled"
)

func (s Status) open() bool { return s == Pending || s == InProgress }

// mark is the sign for a state in a text.
func (s Status) mark() string {
	switch s {
	case InProgress:
		return "[>]"
	case Completed:
		return "[x]"
	case Cancelled:
		return "[~]"
	}
	return "[ ]"
}

// Item is one task.
type Item struct {
	ID      string `json:"id"`
	Content string `json:"content,omitempty"`
	Status  Status `json:"status,omitempty" enum:"pending,in_progress,completed,cancelled"`
	Parent  string `json:"parent,omitempty"`
}

// UnmarshalJSON also accepts numbers as ids.
func (i *Item) UnmarshalJSON(data []byte) error {
	var in struct {
		ID, Parent json.RawMessage
		Content    string
		Status     Status
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*i = Item{ID: plainID(in.ID), Content: in.Content, Status: in.Status, Parent: plainID(in.Parent)}
	return nil
}

func plainID(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return strings.TrimSpace(text)
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// List is a task list and the number of times it was written. A List is a value:
// its methods do not change it.
type List struct {
	Items    []Item
	Revision int
}

func (l List) clone() List { return List{slices.Clone(l.Items), l.Revision} }

// write returns the list after a call: replaced, or merged by id. Of items with
// equal ids the last one counts, at its position. The note says what was dropped.
func (l List) write(in []Item, merge bool) (List, string) {
	next := List{Revision: l.Revision + 1}
	in = unique(numberIDs(in))
	if merge {
		next.Items = slices.Clone(l.Items)
	}
	for _, item := range in {
		at := slices.IndexFunc(next.Items, func(have Item) bool { return have.ID == item.ID })
		if at < 0 {
			next.Items = append(next.Items, item.complete(Item{}))
			continue
		}
		next.Items[at] = item.complete(next.Items[at])
	}
	var note string
	if n := len(next.Items) - maxItems; n > 0 {
		next.Items = next.Items[:maxItems]
		note = fmt.Sprintf("a list holds at most %d items: the last %d were dropped", maxItems, n)
	}
	next.Items = lift(next.Items)
	return next, note
}

// numberIDs gives items without an id their position as id.
func numberIDs(in []Item) []Item {
	in = slices.Clone(in)
	for i := range in {
		in[i].ID = cmp.Or(in[i].ID, strconv.Itoa(i+1))
	}
	return in
}

func unique(in []Item) []Item {
	last := map[string]int{}
	for i, item := range in {
		last[item.ID] = i
	}
	var out []Item
	for i, item := range in {
		if last[item.ID] == i {
			out = append(out, item)
		}
	}
	return out
}

// complete fills the missing fields of an item from its earlier version and
// applies the limits.
func (i Item) complete(before Item) Item {
	i.Content = cmp.Or(strings.TrimSpace(i.Content), before.Content, "(no description)")
	i.Parent = cmp.Or(i.Parent, before.Parent)
	switch i.Status = Status(strings.ToLower(strings.TrimSpace(string(i.Status)))); i.Status {
	case Pending, InProgress, Completed, Cancelled:
	default:
		i.Status = cmp.Or(before.Status, Pending)
	}
	if text := []rune(i.Content); len(text) > maxContent {
		i.Content = string(text[:maxContent-len([]rune(cutMark))]) + cutMark
	}
	return i
}

// lift moves items in progress above pending ones that come before them.
func lift(items []Item) []Item {
	out := make([]Item, 0, len(items))
	for _, item := range items {
		at := len(out)
		if item.Status == InProgress {
			if first := slices.IndexFunc(out, func(have Item) bool { return have.Status == Pending }); first >= 0 {
				at = first
			}
		}
		out = slices.Insert(out, at, item)
	}
	return out
}

// report is a result of the tool: the whole list and its counts.
type report struct {
	Todos    []Item  `json:"todos"`
	Revision int     `json:"revision"`
	Summary  summary `json:"summary"`
	Passed   int     `json:"calls_since_update,omitempty"` // calls of other tools
	Note     string  `json:"note,omitempty"`
}

type summary struct {
	Total      int `json:"total"`
	Pending    int `json:"pending"`
	InProgress int `json:"in_progress"`
	Completed  int `json:"completed"`
	Cancelled  int `json:"cancelled"`
}

func (l List) report(note string) report {
	r := report{Todos: append([]Item{}, l.Items...), Revision: l.Revision, Note: note}
	r.Summary.Total = len(l.Items)
	for _, item := range l.Items {
		switch item.Status {
		case Pending:
			r.Summary.Pending++
		case InProgress:
			r.Summary.InProgress++
		case Completed:
			r.Summary.Completed++
		case Cancelled:
			r.Summary.Cancelled++
		}
	}
	return r
}

// openHeader begins the text of the open items and says why it is there. It is
// looked for in stored transcripts, so it must not change.
const openHeader = "[Your task list, kept because the conversation before this point was compressed]"

// Open returns the unfinished items and their parents as a text for a compressed
// context. It is "" if nothing is unfinished.
func (l List) Open() string {
	wanted := map[string]bool{}
	byID := map[string]Item{}
	for _, item := range l.Items {
		byID[item.ID] = item
	}
	for _, item := range l.Items {
		for at, ok := item, item.Status.open(); ok && !wanted[at.ID]; at, ok = byID[at.Parent] {
			wanted[at.ID] = true
		}
	}
	if len(wanted) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString(openHeader)
	for _, item := range l.Items {
		if !wanted[item.ID] {
			continue
		}
		fmt.Fprintf(&out, "\n- %s %s. %s", item.Status.mark(), item.ID, strings.Join(strings.Fields(item.Content), " "))
		if wanted[item.Parent] {
			fmt.Fprintf(&out, " (part of %s)", item.Parent)
		}
	}
	return out.String()
}

// Last finds the newest list in a transcript: the last result of the tool, or the
// open items of a later summary. What the user or the model writes in the form of
// a list is text. ok is false if there is none.
func Last(transcript []hermes.Message) (list List, ok bool) {
	for _, m := range slices.Backward(transcript) {
		if m.Role == hermes.RoleTool {
			if list, ok := fromResult(m); ok {
				return list, true
			}
			continue
		}
		for _, p := range slices.Backward(m.Parts) {
			if p.Anchors != nil && len(p.Anchors.Open) > 0 {
				return fromAnchors(p.Anchors.Open), true
			}
			if p.Anchors == nil && (m.Synthetic || p.Hidden) { // stored without anchors
				if list, ok := fromText(p.Text); ok {
					return list, true
				}
			}
		}
	}
	return List{}, false
}

func fromResult(m hermes.Message) (List, bool) {
	if m.ToolName != name && m.ToolName != alias || m.Failed {
		return List{}, false
	}
	text := m.Text()
	if len(text) > maxReplayed {
		return List{}, false
	}
	// The result may be followed by a note to the model, which is not JSON.
	var r report
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&r); err != nil || r.Todos == nil {
		return List{}, false
	}
	items := r.Todos[:min(len(r.Todos), maxItems)]
	for i := range items {
		items[i] = items[i].complete(Item{})
	}
	return List{Items: unique(numberIDs(items)), Revision: r.Revision}, true
}

// fromAnchors returns the list of a summary.
func fromAnchors(open []hermes.PlanItem) List {
	list := List{Revision: 1}
	for _, p := range open[:min(len(open), maxItems)] {
		list.Items = append(list.Items, Item{ID: p.ID, Content: p.Content, Status: Status(p.Status), Parent: p.Parent}.complete(Item{}))
	}
	list.Items = unique(numberIDs(list.Items))
	return list
}

// fromText parses a text written by Open, as in summaries that were stored
// without anchors.
func fromText(text string) (List, bool) {
	_, body, ok := strings.Cut(text, openHeader+"\n")
	if !ok || len(text) > maxReplayed {
		return List{}, false
	}
	list := List{Revision: 1}
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		rest, ok := strings.CutPrefix(line, "- ")
		if !ok || len(rest) < 4 || len(list.Items) >= maxItems {
			break
		}
		id, content, ok := strings.Cut(rest[4:], ". ")
		if !ok {
			break
		}
		item := Item{ID: id, Content: content, Status: Pending}
		for _, s := range [...]Status{InProgress, Completed, Cancelled} {
			if s.mark() == rest[:3] {
				item.Status = s
			}
		}
		if i := strings.LastIndex(content, " (part of "); i >= 0 && strings.HasSuffix(content, ")") {
			item.Content, item.Parent = content[:i], strings.TrimSuffix(content[i+len(" (part of "):], ")")
		}
		list.Items = append(list.Items, item)
	}
	return list, len(list.Items) > 0
}
