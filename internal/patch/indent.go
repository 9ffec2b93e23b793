package patch

import "strings"

// An indenter changes lines from the indentation the model quoted to the one
// the file has. It learns from the lines that both have.
type indenter struct {
	pairs []indentPair
	lead  string // the text before the passage on its first line
	tabs  bool   // the file's passage is indented by tabs
	unit  int    // spaces, in the quotation or the file, that make one step
	same  bool   // all depths are equal: nothing to do
}

// An indentPair is the indentation of a line in the quotation and in the file.
type indentPair struct {
	line      int
	old, file string
}

func newIndenter(doc *document, s span, olds, files []string) *indenter {
	in := &indenter{lead: doc.text[doc.lineOf(s.start).start:s.start], same: true, unit: 4}
	for i := range olds {
		if strings.TrimSpace(olds[i]) == "" || i == 0 && strings.TrimSpace(in.lead) != "" {
			continue
		}
		line := files[i]
		if i == 0 {
			line = in.lead + line
		}
		p := indentPair{i, indentOf(olds[i]), indentOf(line)}
		in.pairs = append(in.pairs, p)
		in.same = in.same && p.old == p.file
		in.tabs = in.tabs || strings.Contains(p.file, "\t")
	}
	in.unit = in.step(doc)
	return in
}

// step guesses how many spaces equal one tab, whichever side has the tabs: from
// two lines of different depth, else from one.
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

// between returns the spaces per tab that two lines suggest, or 0.
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

// indent returns line with the file's indentation. near is the line of the
// quotation that it belongs to. first says that it begins the passage, where
// the file already has in.lead. Blank lines are returned as they are.
func (in *indenter) indent(line string, near int, first bool) string {
	if strings.TrimSpace(line) == "" {
		return line
	}
	have := indentOf(line)
	body := line[len(have):]
	if first && in.lead != "" {
		if strings.TrimSpace(in.lead) != "" {
			return line // the passage begins within a line
		}
		return strings.TrimPrefix(in.depth(have, near), in.lead) + body
	}
	if in.same {
		return line
	}
	return in.depth(have, near) + body
}

// depth returns the file's indentation for one of the model's.
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

// convert returns extra depth in the characters that the file uses.
func (in *indenter) convert(extra string) string {
	if in.tabs {
		wide := columns(extra, in.unit)
		return strings.Repeat("\t", wide/in.unit) + strings.Repeat(" ", wide%in.unit)
	}
	return strings.ReplaceAll(extra, "\t", strings.Repeat(" ", in.unit))
}

// shallower removes columns from an indentation, or adds them if less is negative.
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
