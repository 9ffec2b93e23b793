package patch

import "strings"

// An indenter moves lines from the depth a model quoted them at to the depth
// the file has. It learns from the lines that both have.
type indenter struct {
	pairs  []indentPair
	inside string // what stands before the passage on its first line
	tabs   bool   // the file's passage is indented by tabs
	unit   int    // blanks of the model's, or the file's, that make one step
	same   bool   // depths are equal throughout: nothing to do
}

// An indentPair is how deep line n stands in the quotation and in the file.
type indentPair struct {
	line      int
	old, file string
}

func newIndenter(doc *document, s span, olds, files []string) *indenter {
	first := doc.lineAt(s.start)
	in := &indenter{inside: doc.text[doc.lines[first].start:s.start], same: true, unit: 4}
	for i := range olds {
		line := files[i]
		if i == 0 {
			line = in.inside + line
		}
		if strings.TrimSpace(olds[i]) == "" || i == 0 && strings.TrimSpace(in.inside) != "" {
			continue
		}
		p := indentPair{i, indentOf(olds[i]), indentOf(line)}
		in.pairs = append(in.pairs, p)
		in.same = in.same && p.old == p.file
		in.tabs = in.tabs || strings.Contains(p.file, "\t")
	}
	in.unit = in.step(doc)
	return in
}

// step guesses how many blanks stand for one tab, whichever side has the tabs:
// from two lines of different depth, else from one.
func (in *indenter) step(doc *document) int {
	for i := 1; i < len(in.pairs); i++ {
		if n := in.between(in.pairs[i-1], in.pairs[i]); n > 0 {
			return n
		}
	}
	if len(in.pairs) > 0 {
		if n := in.between(indentPair{}, in.pairs[0]); n > 0 {
			return n
		}
	}
	if in.tabs {
		return 4
	}
	return indentUnit(doc)
}

// between gives the blanks to a tab that two lines speak for, or 0.
func (in *indenter) between(a, b indentPair) int {
	blanks, tabs := abs(len(b.old)-len(a.old)), abs(len(b.file)-len(a.file))
	if !in.tabs {
		blanks, tabs = tabs, blanks
	}
	if tabs == 0 || blanks <= tabs || blanks%tabs != 0 {
		return 0
	}
	return blanks / tabs
}

// indent gives line at the file's depth. near is the line of the quotation that
// it belongs to; first tells that it begins the passage, where the file has
// written in.inside already. Blank lines come back as they are.
func (in *indenter) indent(line string, near int, first bool) string {
	if strings.TrimSpace(line) == "" {
		return line
	}
	have := indentOf(line)
	body := line[len(have):]
	if first && in.inside != "" {
		if strings.TrimSpace(in.inside) != "" {
			return line // the passage begins within a line
		}
		return strings.TrimPrefix(in.depth(have, near), in.inside) + body
	}
	if in.same {
		return line
	}
	return in.depth(have, near) + body
}

// depth gives the file's indentation for one of the model's.
func (in *indenter) depth(have string, near int) string {
	if len(in.pairs) == 0 {
		return have
	}
	if p, ok := in.nearest(near, func(p indentPair) bool { return p.old == have }); ok {
		return p.file
	}
	best := -1
	for _, p := range in.pairs {
		if strings.HasPrefix(have, p.old) {
			best = max(best, len(p.old))
		}
	}
	if best >= 0 {
		p, _ := in.nearest(near, func(p indentPair) bool { return len(p.old) == best && strings.HasPrefix(have, p.old) })
		return p.file + in.convert(have[len(p.old):])
	}
	p, _ := in.nearest(near, func(indentPair) bool { return true })
	less := columns(p.old, in.unit) - columns(have, in.unit)
	return in.shallower(p.file, less)
}

func (in *indenter) nearest(line int, fits func(indentPair) bool) (indentPair, bool) {
	var best indentPair
	found := false
	for _, p := range in.pairs {
		if fits(p) && (!found || abs(p.line-line) < abs(best.line-line)) {
			best, found = p, true
		}
	}
	return best, found
}

func abs(n int) int { return max(n, -n) }

// convert writes extra depth the way the file does.
func (in *indenter) convert(extra string) string {
	if in.tabs {
		wide := columns(extra, in.unit)
		return strings.Repeat("\t", wide/in.unit) + strings.Repeat(" ", wide%in.unit)
	}
	return strings.ReplaceAll(extra, "\t", strings.Repeat(" ", in.unit))
}

// shallower takes columns off an indentation; negative ones are added.
func (in *indenter) shallower(indent string, less int) string {
	if less < 0 {
		return indent + in.convert(strings.Repeat(" ", -less))
	}
	for less > 0 && indent != "" {
		last := indent[len(indent)-1]
		indent = indent[:len(indent)-1]
		less--
		if last == '\t' {
			less -= in.unit - 1
		}
	}
	return indent
}
