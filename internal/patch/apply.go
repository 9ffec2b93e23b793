package patch

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

// A Change is the net effect of a patch on one path.
type Change struct {
	Path            string
	Action          Action
	From            string // the old path, if Action is Move
	Before, After   string // content; "" where the file does not exist
	Existed, Exists bool
}

// An Outcome is what a patch does.
type Outcome struct {
	// Changes come in the order in which paths are first named. A path whose
	// content does not change is left out.
	Changes []Change
	// Notes say what was skipped or placed in spite of a doubt, for the model.
	Notes []string
}

// Apply computes what the patch does, without doing it. read returns a file's
// content, or exists false; it is called at most once per path. All sections
// are checked: if any does not apply, the error lists every failure and the
// outcome is empty.
func (p Patch) Apply(read func(path string) (content string, exists bool, err error)) (Outcome, error) {
	v := &virtual{read: read, files: map[string]*Change{}}
	var failed []error
	for _, s := range p.sections {
		if err := v.apply(s); err != nil {
			failed = append(failed, fmt.Errorf("%s %s: %w", s.action, s.path, err))
		}
	}
	if len(failed) > 0 {
		return Outcome{}, fmt.Errorf("the patch does not apply, no file was changed:\n%w", errors.Join(failed...))
	}
	var changes []Change
	for _, path := range v.order {
		c := *v.files[path]
		if c.Existed == c.Exists && c.Before == c.After {
			continue
		}
		changes = append(changes, c)
	}
	return Outcome{changes, v.notes}, nil
}

// virtual is the state of the files after the sections applied so far.
type virtual struct {
	read  func(string) (string, bool, error)
	files map[string]*Change
	order []string
	notes []string
}

func (v *virtual) file(path string) (*Change, error) {
	if c := v.files[path]; c != nil {
		return c, nil
	}
	content, exists, err := v.read(path)
	if err != nil {
		return nil, err
	}
	c := &Change{Path: path, Action: Update, Before: content, After: content, Existed: exists, Exists: exists}
	if !exists {
		c.Action, c.Before, c.After = Add, "", ""
	}
	v.files[path] = c
	v.order = append(v.order, path)
	return c, nil
}

func (v *virtual) apply(s section) error {
	c, err := v.file(s.path)
	if err != nil {
		return err
	}
	if s.action == Add {
		if c.Exists {
			return errors.New("the file already exists: use *** Update File, or delete it in an earlier section")
		}
		c.After, c.Exists = s.text, true
		if c.Existed {
			c.Action = Update
		}
		return nil
	}
	if !c.Exists {
		return errors.New("file not found")
	}
	switch s.action {
	case Delete:
		c.After, c.Exists, c.Action = "", false, Delete
		return nil
	case Update:
		after, notes, err := update(c.After, s.hunks)
		if err != nil {
			return err
		}
		c.After = after
		for _, n := range notes {
			v.notes = append(v.notes, s.path+": "+n)
		}
	}
	if s.to == "" {
		return nil
	}
	return v.move(c, s.to)
}

func (v *virtual) move(c *Change, to string) error {
	target, err := v.file(to)
	if err != nil {
		return err
	}
	if target.Exists {
		return fmt.Errorf("cannot move to %s: it already exists", to)
	}
	target.After, target.Exists, target.Action, target.From = c.After, true, Move, c.Path
	c.After, c.Exists, c.Action = "", false, Delete
	return nil
}

// maxFailed bounds the hunks of a file that are reported, and so the time that
// a hopeless patch takes.
const maxFailed = 10

// update applies the hunks of a section to a file one after another. Hunks are
// expected in file order: if several places match, the one after the previous
// hunk is used, provided it is the only one there.
func update(content string, hunks []hunkText) (after string, notes []string, err error) {
	cursor := 0 // offset in content after which the next hunk is expected
	var failed []error
	for i, h := range hunks {
		done, err := h.apply(content, cursor)
		if err != nil {
			failed = append(failed, fmt.Errorf("hunk %d (patch line %d): %w", i+1, h.line, err))
			if rest := len(hunks) - i - 1; len(failed) == maxFailed && rest > 0 {
				failed = append(failed, fmt.Errorf("the other %d hunks of this file were not checked", rest))
				break
			}
			continue
		}
		if done.note != "" {
			notes = append(notes, fmt.Sprintf("hunk %d %s", i+1, done.note))
		}
		content, cursor = done.content, done.end
	}
	return content, notes, errors.Join(failed...)
}

// An applied hunk.
type applied struct {
	content string // the whole new text
	end     int    // the offset after the hunk in it
	note    string // what the model needs to know, as the predicate of a sentence
}

// apply returns the content with the hunk applied.
func (h hunkText) apply(content string, cursor int) (applied, error) {
	doc := newDocument(content)
	from := doc.fromOriginal(cursor)
	hinted, err := h.hinted(doc, from)
	if err != nil {
		return applied{}, err
	}
	if len(h.old) == 0 {
		return h.insert(doc, hinted), nil
	}
	old, new := strings.Join(h.old, "\n"), strings.Join(h.new, "\n")
	if strings.TrimSpace(old) == "" {
		return applied{}, errors.New("its context is only blank lines: add a line of text near the change")
	}
	found := find(doc, old, new, false, doc.onWholeLines)
	s, err := h.choose(doc, found, from, hinted, old, new)
	if err != nil {
		return applied{}, err
	}
	if found.applied {
		return h.skipped(doc, s, cursor), nil
	}
	text, err := found.renderer(doc, old, new).render(s)
	if err != nil {
		return applied{}, err
	}
	if len(h.new) == 0 {
		s = withLineBreak(doc, s)
	}
	next := doc.apply([]edit{{s, text}})
	if next == content {
		return h.skipped(doc, s, cursor), nil
	}
	return applied{content: next, end: len(next) - (len(content) - doc.original(s.end))}, nil
}

// skipped is the outcome of a hunk that was applied before, at s.
func (h hunkText) skipped(doc *document, s span, cursor int) applied {
	return applied{doc.raw, max(cursor, doc.original(s.end)), fmt.Sprintf("was skipped, it was applied before: line %d and the lines around it already read like that", doc.lineAt(s.start)+1)}
}

// onWholeLines reports whether a span begins and ends with a line (whitespace at
// either side does not count).
func (d *document) onWholeLines(s span) bool {
	before := d.text[d.lineOf(s.start).start:s.start]
	if strings.TrimSpace(before) != "" {
		return false
	}
	return strings.TrimSpace(d.text[s.end:d.lineOf(s.end).end]) == ""
}

// withLineBreak extends the span of deleted lines by their line break.
func withLineBreak(doc *document, s span) span {
	switch {
	case s.end < len(doc.text) && doc.text[s.end] == '\n':
		s.end++
	case s.end == len(doc.text) && s.start > 0 && doc.text[s.start-1] == '\n':
		s.start--
	}
	return s
}

// choose returns the place that a hunk means.
func (h hunkText) choose(doc *document, f finding, from, hinted int, old, new string) (span, error) {
	switch {
	case f.count == 0, f.applied && f.spans[0].start < hinted:
		return span{}, notFound(doc, old, new)
	case f.count == 1:
		return f.spans[0], nil
	}
	if h.atEnd {
		return f.spans[len(f.spans)-1], nil
	}
	var after []span
	for _, s := range f.spans {
		if s.start >= max(from, hinted) {
			after = append(after, s)
		}
	}
	if hinted >= 0 && len(after) > 0 || len(after) == 1 {
		return after[0], nil
	}
	return span{}, fmt.Errorf("its lines match %d places, nothing was changed: add context lines, or write @@ with a line above the right place", f.count)
}

// hinted finds the place the hints lead to: the offset where the last hint's
// line begins, or -1 without hints. The first hint is searched from the cursor
// on and then from the top, each next one below the previous.
func (h hunkText) hinted(doc *document, from int) (int, error) {
	at := -1
	for i, hint := range h.hints {
		start := max(at, 0)
		if i == 0 {
			start = from
		}
		next := doc.lineWith(hint, start)
		if next < 0 && i == 0 {
			next = doc.lineWith(hint, 0)
		}
		if next < 0 {
			return 0, fmt.Errorf("its hint @@ %s @@ is not in the file", clip(hint, 120))
		}
		at = next
	}
	return at, nil
}

// lineWith returns the start of the first line from an offset on that equals
// the hint, else of the first that contains it, else -1.
func (d *document) lineWith(hint string, from int) int {
	from = d.lineOf(from).start
	want := plainTrimmed(hint)
	for line := range d.linesFrom(from) {
		if readsPlain(d.at(line), want) {
			return line.start
		}
	}
	at := -1
	findForm(d.text[from:], want, typographies[0], func(s span) bool {
		if at < 0 {
			at = d.lineOf(from + s.start).start
		}
		return false
	})
	return at
}

// insert adds a hunk without old lines below the line of its hint, or at the end.
func (h hunkText) insert(doc *document, hinted int) applied {
	text := strings.Join(h.new, "\n") + "\n"
	at := len(doc.text)
	if hinted >= 0 {
		at = min(doc.lineOf(hinted).end+1, len(doc.text))
	}
	if at > 0 && doc.text[at-1] != '\n' {
		text = "\n" + strings.TrimSuffix(text, "\n")
	}
	next := doc.apply([]edit{{span{at, at}, text}})
	return applied{content: next, end: len(next) - (len(doc.raw) - doc.original(at))}
}

// fromOriginal returns the offset in text for one in raw.
func (d *document) fromOriginal(raw int) int {
	passed := sort.Search(len(d.crlf), func(i int) bool { return d.skip+int(d.crlf[i])+i >= raw })
	return max(raw-d.skip-passed, 0)
}
