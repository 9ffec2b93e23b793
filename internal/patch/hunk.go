package patch

import (
	"fmt"
	"strings"

	"hermes/internal/text"
)

// A hunkText is one @@ group of an Update section.
type hunkText struct {
	line     int      // first line in the patch, from 1
	hints    []string // texts after @@, outermost first
	old, new []string // lines before and after
	changed  bool     // has at least one added or removed line
	atEnd    bool     // marked as the end of the file
}

// update reads the hunks of an Update section up to the next mark.
func (p *parser) update(s *section) error {
	var h *hunkText
	begin := func() {
		s.hunks = append(s.hunks, hunkText{line: p.at + 1})
		h = &s.hunks[len(s.hunks)-1]
	}
	for ; p.at < len(p.lines) && !p.mark(p.lines[p.at]); p.at++ {
		line := p.lines[p.at]
		switch {
		case strings.HasPrefix(line, markMoveTo) && h == nil:
			s.to = strings.TrimSpace(line[len(markMoveTo):])
			continue
		case strings.TrimRight(line, " \t") == markEOF:
			if h != nil {
				h.atEnd = true
			}
			continue
		case strings.HasPrefix(line, "@@"):
			if h == nil || len(h.old)+len(h.new) > 0 {
				begin()
			}
			if hint := hintText(line); hint != "" {
				h.hints = append(h.hints, hint)
			}
			continue
		case strings.TrimSpace(line) == "" && p.restIsBlank():
			continue
		}
		if h == nil {
			begin()
		}
		if err := h.add(line); err != nil {
			return p.errorf("%w", err)
		}
	}
	return checkHunks(*s)
}

// add reads one line of a hunk. A line without its leading space counts as
// context, since models often leave the space out.
func (h *hunkText) add(line string) error {
	sign, rest := byte(' '), line
	if line != "" {
		switch line[0] {
		case ' ', '+', '-':
			sign, rest = line[0], line[1:]
		case '*', '\\':
			if strings.HasPrefix(line, `\ No newline`) {
				return nil
			}
			return fmt.Errorf("%q is not a line of this format; lines of a hunk begin with a space, + or -", text.Clip(line, 80))
		}
	}
	if sign != '+' {
		h.old = append(h.old, rest)
	}
	if sign != '-' {
		h.new = append(h.new, rest)
	}
	h.changed = h.changed || sign != ' '
	return nil
}

// hintText returns the hint in "@@ hint @@", "@@ hint" or a header with line
// numbers. The numbers are ignored.
func hintText(line string) string {
	hint := strings.TrimSpace(strings.TrimPrefix(line, "@@"))
	if strings.HasPrefix(hint, "-") && strings.Contains(hint, "@@") {
		if numbers, rest, _ := strings.Cut(hint, "@@"); strings.Trim(numbers, "-+, 0123456789") == "" {
			return strings.TrimSpace(rest)
		}
	}
	return strings.TrimSpace(strings.TrimSuffix(hint, "@@"))
}

// checkHunks refuses an update that would do nothing.
func checkHunks(s section) error {
	if len(s.hunks) == 0 && s.to == "" {
		return fmt.Errorf("update of %s has no hunks: write lines that begin with a space, + or -", s.path)
	}
	for _, h := range s.hunks {
		if !h.changed {
			return fmt.Errorf("patch line %d: this hunk of %s adds and removes nothing", h.line, s.path)
		}
	}
	return nil
}
