package patch

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"hermes/internal/text"
)

// maxFailed bounds the hunks of a file that are reported, and so the time that
// a hopeless patch takes.
const maxFailed = 10

// update applies the hunks of a section to a file one after another. Hunks are
// expected in file order: if several places match, the one after the previous
// hunk is used, provided it is the only one there or the first below its hint.
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
	hinted, missing := h.hinted(doc, from)
	if len(h.old) == 0 {
		if missing != "" {
			return applied{}, h.noHint(missing)
		}
		return h.insert(doc, hinted), nil
	}
	old, new := strings.Join(h.old, "\n"), strings.Join(h.new, "\n")
	if strings.TrimSpace(old) == "" {
		return applied{}, errors.New("its context is only blank lines: add a line of text near the change")
	}
	found := find(doc, old, new, false, doc.onWholeLines)
	if found.count == 0 {
		return applied{}, notFound(doc, old, new)
	}
	if missing != "" && (found.count > 1 || found.doubtful()) {
		return applied{}, h.noHint(missing)
	}
	s, err := h.choose(found, from, hinted)
	if err != nil {
		return applied{}, err
	}
	if found.applied && s.start < hinted { // the surroundings do not agree
		return applied{}, notFound(doc, old, new)
	}
	if found.applied {
		return h.skipped(doc, s, cursor), nil
	}
	fresh, err := found.renderer(doc, old, new).render(s)
	if err != nil {
		return applied{}, err
	}
	if len(h.new) == 0 {
		s = withLineBreak(doc, s)
	}
	next := doc.apply([]edit{{s, fresh}})
	if next == content {
		return h.skipped(doc, s, cursor), nil
	}
	done := applied{content: next, end: len(next) - (len(content) - doc.original(s.end))}
	switch line := doc.lineAt(s.start) + 1; {
	case missing != "":
		done.note = fmt.Sprintf("was applied in line %d, the only place where its lines fit; its hint @@ %s is not there", line, text.Clip(missing, 120))
	case s.start < hinted:
		done.note = fmt.Sprintf("was applied in line %d, the only place where its lines fit; its hint @@ %s is below it", line, text.Clip(h.hints[len(h.hints)-1], 120))
	}
	return done, nil
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

// choose returns the place that a hunk means, of one or more. If its hint is only
// above the hunk before, lines on both sides of that hunk leave a doubt.
func (h hunkText) choose(f finding, from, hinted int) (span, error) {
	if f.count == 1 {
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
	if len(after) > 0 && slices.ContainsFunc(f.spans, func(s span) bool { return hinted >= 0 && s.start >= hinted && s.start < from }) {
		return span{}, fmt.Errorf("its lines match %d places, above and below the hunk before it, nothing was changed: put the hunks in the order of the file, or add context lines", f.count)
	}
	if hinted >= 0 && len(after) > 0 || len(after) == 1 {
		return after[0], nil
	}
	return span{}, fmt.Errorf("its lines match %d places, nothing was changed: add context lines, or write @@ with a line above the right place", f.count)
}

// hinted finds the place the hints lead to: the offset where the last hint's
// line begins, or -1 without hints. The first hint is searched from the cursor
// on and then from the top, each next one below the previous. missing is the
// first hint that is not there.
func (h hunkText) hinted(doc *document, from int) (at int, missing string) {
	at = -1
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
			return -1, hint
		}
		at = next
	}
	return at, ""
}

func (h hunkText) noHint(missing string) error {
	return fmt.Errorf("its hint @@ %s @@ is not in the file, and its lines alone do not say where it belongs: add context lines, or write @@ with a line that is above the place", text.Clip(missing, 120))
}

// lineWith returns the start of the first line from an offset on that equals
// the hint, else of the first that contains it, else -1.
func (d *document) lineWith(hint string, from int) int {
	from = d.lineOf(from).start
	for _, t := range waysToRead(hint, d.text) {
		if at := d.lineReading(strings.TrimSpace(hint), from, t); at >= 0 {
			return at
		}
	}
	return -1
}

func (d *document) lineReading(hint string, from int, t *typography) int {
	want := normalised(hint, t)
	for line := range d.linesFrom(from) {
		if reads(strings.TrimSpace(d.at(line)), want, t) {
			return line.start
		}
	}
	at := -1
	findForm(d.text[from:], hint, t, func(s span) bool {
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
