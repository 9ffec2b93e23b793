package browser

import (
	"net/url"
	"slices"
	"strings"
)

// line is a line of a snapshot.
type line struct {
	parent int // index of its line above; -1: none
	depth  int
	role   string
	name   string // what a person reads
	ref    int    // 0: it cannot be acted on
	more   string // state
	end    int    // index behind the last line below it
}

func (l *line) text() string {
	var b strings.Builder
	for range l.depth {
		b.WriteString("  ")
	}
	b.WriteString(l.role)
	if l.name != "" {
		b.WriteString(" " + quoted(l.name))
	}
	if l.ref != 0 {
		b.WriteString(" " + refName(l.ref))
	}
	b.WriteString(l.more)
	return b.String()
}

// quoted keeps text of a page apart from what is ours.
func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `'`) + `"` }

// Bounds of one line, in runes.
const (
	maxName    = 300
	maxText    = 4000
	maxOptions = 40
	maxDepth   = 100
)

// Roles of the accessibility tree.
var (
	// acting roles are of what a person can use.
	acting = set("button link textbox searchbox combobox checkbox radio switch slider spinbutton menuitem menuitemcheckbox " +
		"menuitemradio tab treeitem option listbox Date DateTime InputTime ColorWell DisclosureTriangle PopUpButton")
	// silent roles are no lines: what is in them is shown in their place.
	silent = set("none generic presentation RootWebArea WebArea paragraph LayoutTable LayoutTableRow LayoutTableCell rowgroup " +
		"LabelText MenuListPopup Abbr strong emphasis mark superscript subscript time FigureCaption insertion deletion")
	// dropped roles are not shown.
	dropped = set("InlineTextBox LineBreak ListMarker StaticTextMarker Ruby RubyAnnotation")
	cells   = set("cell gridcell columnheader rowheader")
	// named roles have their content as their name.
	named = set("button link heading tab option menuitem menuitemcheckbox menuitemradio treeitem cell gridcell columnheader " +
		"rowheader checkbox radio switch DisclosureTriangle caption legend tooltip")
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// outline makes lines of the trees of a page.
type outline struct {
	lines     []line
	clickable map[string]map[int64]bool // by session
	ref       func(f *frame, node int64) int
	base      *url.URL
}

// tree adds the lines of a frame.
func (o *outline) tree(t *axTree, parent, depth int) {
	if t.lost != nil {
		o.add(line{parent: parent, depth: depth, role: "note", name: t.lost.Error()})
		return
	}
	for i := range t.nodes {
		if t.nodes[i].ParentID == "" {
			o.node(t, &t.nodes[i], parent, depth)
		}
	}
}

func (o *outline) add(l line) int {
	o.lines = append(o.lines, l)
	i := len(o.lines) - 1
	o.lines[i].end = i + 1
	return i
}

func (o *outline) children(t *axTree, n *axNode, parent, depth int) {
	for _, id := range n.ChildIDs {
		if c := t.node(id); c != nil {
			o.node(t, c, parent, depth)
		}
	}
}

// node adds the lines of a node and of what is below it.
func (o *outline) node(t *axTree, n *axNode, parent, depth int) {
	role := n.Role.text()
	if dropped[role] || depth > maxDepth {
		return
	}
	clickable := n.Node != 0 && role != "LabelText" && o.clickable[t.frame.session][n.Node]
	editable := n.property("editable") == "richtext" && n.property("focusable") == "true"
	uses := acting[role] || editable || (clickable || n.property("focusable") == "true") && role != "RootWebArea"
	name := clean(n.Name.text(), maxName)
	shown := t.frames[n.Node]
	switch {
	case n.Ignored && !(clickable && len(n.ChildIDs) > 0), silent[role] && !uses && shown == nil,
		role == "group" && name == "" && !uses:
		o.children(t, n, parent, depth)
		return
	case role == "StaticText":
		o.words(clean(n.Name.text(), maxText), parent, depth)
		return
	case shown != nil || role == "Iframe" || role == "IframePresentational":
		i := o.add(line{parent: parent, depth: depth, role: "frame", name: name})
		if shown != nil {
			o.tree(shown, i, depth+1)
		}
		o.lines[i].end = len(o.lines)
		return
	}
	l := line{parent: parent, depth: depth, role: plainRole(role, editable), name: name, more: o.states(n, role)}
	if uses && n.Node != 0 {
		l.ref = o.ref(&t.frame, n.Node)
	}
	i := o.add(l)
	switch {
	case role == "combobox" || role == "listbox" || role == "PopUpButton":
		if options, whole := optionsOf(t, n); whole {
			o.lines[i].more += options
			break
		}
		o.children(t, n, i, depth+1)
	case role == "textbox" || role == "searchbox" || role == "spinbutton" || role == "image" || role == "slider":
		if editable {
			o.children(t, n, i, depth+1)
		}
	default:
		o.children(t, n, i, depth+1)
	}
	o.close(i)
}

// close simplifies a line whose lines below are known.
func (o *outline) close(i int) {
	l := &o.lines[i]
	if l.role == "clickable" && l.name == "" && slices.ContainsFunc(o.lines[i+1:], func(below line) bool { return below.ref != 0 }) && !o.hasWords(i) {
		o.dissolve(i) // a label, or a box of what is used by itself
		return
	}
	words, plain := "", true
	for _, below := range o.lines[i+1:] {
		if below.role != "text" && below.role != "image" || below.ref != 0 {
			plain = false
			break
		}
		if len(words) <= 4*maxName { // in bytes; more is not shown
			words += below.name + " "
		}
	}
	switch {
	case plain && l.role == "clickable" && l.name == "":
		l.name = clean(words, maxName)
		o.lines = o.lines[:i+1]
	case plain && l.name != "" && (named[l.role] || l.ref != 0):
		o.lines = o.lines[:i+1]
	case cells[l.role] && l.ref == 0 && len(o.lines) == i+2 && o.lines[i+1].name == l.name:
		o.dissolve(i)
		return
	case l.role == "row":
		o.joinCells(i)
	case l.ref == 0 && l.name == "" && (l.role == "listitem" || l.role == "clickable") && len(o.lines) > i+1 && o.lines[i+1].parent == i && o.onlyChild(i):
		o.dissolve(i)
		return
	case l.ref == 0 && l.name == "" && len(o.lines) == i+1 && l.more == "" && l.role != "image":
		o.lines = o.lines[:i] // nothing to see
		return
	}
	if i < len(o.lines) {
		o.lines[i].end = len(o.lines)
	}
}

// hasWords reports whether there is text directly below a line.
func (o *outline) hasWords(i int) bool {
	return slices.ContainsFunc(o.lines[i+1:], func(l line) bool { return l.parent == i && l.role == "text" })
}

// dissolve replaces a line by all that are below it.
func (o *outline) dissolve(i int) {
	parent := o.lines[i].parent
	o.lines = append(o.lines[:i], o.lines[i+1:]...)
	for j := i; j < len(o.lines); j++ {
		l := &o.lines[j]
		l.depth--
		l.end--
		if l.parent == i {
			l.parent = parent
		} else {
			l.parent--
		}
	}
}

func (o *outline) onlyChild(i int) bool {
	for _, l := range o.lines[i+2:] {
		if l.parent == i {
			return false
		}
	}
	return true
}

// joinCells writes a row of words in one line. Cells with more in them stay below it.
func (o *outline) joinCells(i int) {
	var names []string
	rest := o.lines[i+1:]
	var kept []line
	shift := make([]int, len(rest))
	for j, l := range rest {
		cell := l.parent == i && l.ref == 0 && cells[l.role]
		if cell && l.end == i+1+j+1 {
			names = append(names, l.name)
			shift[j] = -1
			continue
		}
		shift[j] = len(kept)
		kept = append(kept, l)
	}
	for k := range kept {
		if kept[k].parent > i {
			kept[k].parent = i + 1 + shift[kept[k].parent-i-1]
		}
	}
	removed := len(rest) - len(kept)
	for k := range kept { // ends are found again from the depths
		kept[k].end = i + 1 + k + 1
		for m := k + 1; m < len(kept) && kept[m].depth > kept[k].depth; m++ {
			kept[k].end++
		}
	}
	o.lines = append(o.lines[:i+1], kept...)
	if removed > 0 {
		o.lines[i].name = clean(strings.Join(names, " | "), maxText)
	}
}

// words adds text, to the line before if that is text, too.
func (o *outline) words(s string, parent, depth int) {
	if s == "" {
		return
	}
	if i := len(o.lines) - 1; i >= 0 {
		if l := &o.lines[i]; l.role == "text" && l.parent == parent && len(l.name)+len(s) < maxText {
			l.name += " " + s
			return
		}
	}
	o.add(line{parent: parent, depth: depth, role: "text", name: s})
}
