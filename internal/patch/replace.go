package patch

import (
	"errors"
	"fmt"
	"strings"

	"hermes/internal/text"
)

// AlreadyApplied is the Strategy of a Replacement that had nothing to do.
const AlreadyApplied = "already-applied"

// A Replacement is the outcome of Replace.
type Replacement struct {
	Text     string // the whole new content
	Strategy string // how the passage was found: "exact", … or AlreadyApplied
	Count    int    // passages replaced; 0 when already applied
	Line     int    // line of the first one in content, from 1
}

// Replace finds old in content and replaces it by new. Unless all is set, the
// passage must be the only match. An edit that was made before at this very place
// succeeds and changes nothing; the lines around the change must prove it. The
// error is a text for a model: why nothing was changed and what to try instead.
func Replace(content, old, new string, all bool) (Replacement, error) {
	if err := checkRequest(old, new); err != nil {
		return Replacement{}, err
	}
	if len(content)+len(old)+len(new) > maxText {
		return Replacement{}, errTooBig
	}
	doc := newDocument(content)
	old, new = normalRequest(old), normalRequest(new)
	found := find(doc, old, new, all, anywhere)
	switch {
	case found.applied:
		return Replacement{Text: content, Strategy: AlreadyApplied, Line: doc.lineAt(found.spans[0].start) + 1}, nil
	case found.count == 0:
		return Replacement{}, notFound(doc, old, new)
	case found.count > 1 && !all:
		return Replacement{}, ambiguous(doc, found)
	case found.count > len(found.spans) || found.count > maxInexact && found.strategy != strategyExact:
		return Replacement{}, fmt.Errorf("old_string matches %d places (%s), too many for one call, nothing was changed: use the terminal tool", found.count, found.strategy)
	}
	edits := make([]edit, len(found.spans))
	r := found.renderer(doc, old, new)
	for i, s := range found.spans {
		text, err := r.render(s)
		if err != nil {
			return Replacement{}, err
		}
		edits[i] = edit{s, text}
	}
	line := doc.lineAt(edits[0].start) + 1
	out := Replacement{Text: doc.apply(edits), Strategy: found.strategy, Count: len(edits), Line: line}
	if out.Text == content {
		out.Strategy, out.Count = AlreadyApplied, 0
	}
	return out, nil
}

// maxInexact bounds the passages that one call replaces where each has its own
// form.
const maxInexact = 10_000

func checkRequest(old, new string) error {
	switch {
	case old == "":
		return errors.New("old_string is empty: quote the text to replace, or use write_file to write a whole file")
	case strings.TrimSpace(old) == "":
		return errors.New("old_string is only whitespace: quote some text around the place to change")
	case old == new:
		return errors.New("old_string and new_string are identical: nothing to change")
	}
	return nil
}

// normalRequest converts a text of the model to the form of a document.
func normalRequest(s string) string {
	return strings.ReplaceAll(strings.TrimPrefix(s, bom), "\r\n", "\n")
}

// A finding says where a passage is and which strategy found it.
type finding struct {
	strategy string
	matches
	applied bool // the edit was made before, at the only span
}

// doubtful reports whether the passage differs in substance from what was asked
// for, or is already changed.
func (f finding) doubtful() bool {
	return f.applied || f.strategy == strategyAnchor || f.strategy == strategyContext
}

// anywhere accepts every passage.
func anywhere(span) bool { return true }

// find tries the strategies in order; the first with an acceptable match
// decides. Similarity comes last, after the check whether the edit was made
// before, and is never used to replace all passages.
func find(doc *document, old, new string, all bool, accept func(span) bool) finding {
	wholeWords := func(s span) bool { return accept(s) && !doc.cutsWords(s) }
	for _, s := range exactStrategies {
		keep := wholeWords
		if s.name == strategyExact {
			keep = accept
		}
		if m := s.find(doc, old, keep); m.count > 0 {
			return finding{strategy: s.name, matches: m}
		}
	}
	if at, ok := doc.made(old, new); ok {
		return finding{applied: true, matches: matches{[]span{at}, 1}}
	}
	if all {
		return finding{}
	}
	for _, s := range similarStrategies {
		if m := s.find(doc, old, wholeWords); m.count > 0 {
			return finding{strategy: s.name, matches: m}
		}
	}
	return finding{}
}

// A renderer makes the texts for the passages found.
type renderer struct {
	doc      *document
	strategy string
	old, new string
	mergers  map[string]*merger // by the new text in its final form
}

func (f finding) renderer(doc *document, old, new string) *renderer {
	return &renderer{doc, f.strategy, old, new, map[string]*merger{}}
}

// render returns the text for the passage s, or the reason why it is refused.
func (r *renderer) render(s span) (string, error) {
	region := r.doc.rawSpan(s)
	if r.strategy == strategyExact {
		return realControls(region, r.new), nil
	}
	if err := checkEscapeDrift(region, r.old, r.new); err != nil {
		return "", err
	}
	old, new := r.old, r.new
	if r.strategy == strategyEscape {
		if !strings.Contains(new, "\n") && strings.Contains(new, `\n`) {
			return "", errors.New(`new_string spells its line breaks as \n, which would be written as the two characters backslash and n: send real line breaks in old_string and new_string`)
		}
		old = unescape(old)
	}
	if r.strategy == strategyBoundary {
		old, new = trimTogether(old, new)
	}
	new = realControls(region, new)
	m := r.mergers[new]
	if m == nil {
		m = newMerger(old, new)
		r.mergers[new] = m
	}
	text, fresh := m.merge(r.doc, s)
	if err := checkRogueIndent(r.doc, s, text, fresh); err != nil {
		return "", err
	}
	return text, nil
}

// shownMatches bounds the passages listed when a search is ambiguous.
const shownMatches = 5

func ambiguous(doc *document, f finding) error {
	var list strings.Builder
	for i, s := range f.spans {
		if i == shownMatches {
			fmt.Fprintf(&list, "\n  … and %d more", f.count-i)
			break
		}
		fmt.Fprintf(&list, "\n  L%d: %s", doc.lineAt(s.start)+1, text.Clip(strings.TrimSpace(doc.at(doc.lineOf(s.start))), 120))
	}
	return fmt.Errorf("old_string matches %d places (%s), nothing was changed: add surrounding lines to make it unique, or set replace_all to change them all%s",
		f.count, f.strategy, list.String())
}
