package patch

import (
	"fmt"
	"strings"

	"hermes/internal/text"
)

// An Action is what one section of a patch does to its file.
type Action string

// The actions of the V4A format. Move may come alone or with an Update.
const (
	Add    Action = "add"
	Update Action = "update"
	Delete Action = "delete"
	Move   Action = "move"
)

// A Patch is a parsed V4A patch: its sections in order.
type Patch struct{ sections []section }

type section struct {
	action Action
	path   string
	to     string // new path, if the file moves
	text   string // content of an added file
	hunks  []hunkText
}

const (
	markBegin  = "*** Begin Patch"
	markEnd    = "*** End Patch"
	markEOF    = "*** End of File"
	markMoveTo = "*** Move to:"
)

var sectionMarks = [...]struct {
	mark   string
	action Action
}{
	{"*** Update File:", Update},
	{"*** Add File:", Add},
	{"*** Delete File:", Delete},
	{"*** Move File:", Move},
}

// Parse reads a patch in the V4A format:
//
//	*** Begin Patch
//	*** Update File: path
//	@@ a line above the change @@
//	 context
//	-removed
//	+added
//	*** Add File: path
//	+content
//	*** Delete File: path
//	*** Move File: path -> new path
//	*** End Patch
//
// The end mark is required, since a patch without it was probably cut short.
// Paths with .. are refused. Only lines that begin in the first column are
// marks; the text after a space, + or - is content, whatever it looks like.
func Parse(text string) (Patch, error) {
	p := &parser{lines: strings.Split(normalRequest(text), "\n")}
	if err := p.run(); err != nil {
		return Patch{}, err
	}
	if len(p.patch.sections) == 0 {
		return Patch{}, fmt.Errorf("the patch has no sections: between %q and %q write *** Update File: path, *** Add File: path, *** Delete File: path or *** Move File: path -> new path", markBegin, markEnd)
	}
	return p.patch, nil
}

// Paths lists every path the patch touches, in order, each once. Use it for
// locks and permission checks.
func (p Patch) Paths() []string {
	var list []string
	seen := map[string]bool{"": true}
	for _, s := range p.sections {
		for _, path := range [...]string{s.path, s.to} {
			if !seen[path] {
				seen[path] = true
				list = append(list, path)
			}
		}
	}
	return list
}

type parser struct {
	lines []string
	at    int
	patch Patch
}

func (p *parser) run() error {
	for ; p.at < len(p.lines); p.at++ {
		line := strings.TrimRight(p.lines[p.at], " \t")
		if line == markBegin || p.isSection(line) {
			break
		}
		if line != "" && !strings.HasPrefix(line, "```") {
			return p.errorf("expected %q", markBegin)
		}
	}
	if p.at < len(p.lines) && strings.TrimRight(p.lines[p.at], " \t") == markBegin {
		p.at++
	}
	for p.at < len(p.lines) {
		line := strings.TrimRight(p.lines[p.at], " \t")
		if line == markEnd {
			return p.checkEnd()
		}
		if line == "" {
			p.at++
			continue
		}
		if err := p.section(line); err != nil {
			return err
		}
	}
	return fmt.Errorf("the patch does not end in %q and may have been cut short: nothing was changed, send it whole", markEnd)
}

// checkEnd refuses text after the end mark, which would be skipped.
func (p *parser) checkEnd() error {
	for p.at++; p.at < len(p.lines); p.at++ {
		if line := strings.TrimSpace(p.lines[p.at]); line != "" && line != "```" {
			return p.errorf("there is more text after %s, and nothing was changed: send all sections between one %q and one %q", markEnd, markBegin, markEnd)
		}
	}
	return nil
}

func (p *parser) isSection(line string) bool {
	_, _, ok := sectionMark(line)
	return ok
}

func sectionMark(line string) (Action, string, bool) {
	for _, s := range sectionMarks {
		if path, ok := strings.CutPrefix(line, s.mark); ok {
			return s.action, strings.TrimSpace(path), true
		}
	}
	return "", "", false
}

// mark reports whether a line ends the section before it.
func (p *parser) mark(line string) bool {
	line = strings.TrimRight(line, " \t")
	return line == markEnd || p.isSection(line)
}

func (p *parser) section(line string) error {
	action, path, ok := sectionMark(line)
	if !ok {
		return p.errorf("expected *** Update File:, *** Add File:, *** Delete File:, *** Move File: or %q, found %q", markEnd, text.Clip(line, 80))
	}
	s := section{action: action, path: path}
	if action == Move {
		from, to, ok := strings.Cut(path, " -> ")
		if !ok {
			return p.errorf("a move is written *** Move File: path -> new path")
		}
		s.path, s.to = strings.TrimSpace(from), strings.TrimSpace(to)
	}
	if err := p.checkPath(s.path); err != nil {
		return err
	}
	p.at++
	var err error
	switch action {
	case Add:
		s.text, err = p.content()
	case Update:
		err = p.update(&s)
	}
	if err == nil && s.to != "" {
		err = p.checkPath(s.to)
	}
	p.patch.sections = append(p.patch.sections, s)
	return err
}

func (p *parser) checkPath(path string) error {
	if path == "" {
		return p.errorf("the path is missing")
	}
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == ".." {
			return p.errorf("path %q contains .., which is not allowed: write it relative to the working folder or as an absolute path", path)
		}
	}
	return nil
}

// content reads the lines of an added file.
func (p *parser) content() (string, error) {
	var out strings.Builder
	for ; p.at < len(p.lines) && !p.mark(p.lines[p.at]); p.at++ {
		line := p.lines[p.at]
		if strings.TrimSpace(line) == "" {
			if p.restIsBlank() {
				continue
			}
			out.WriteString("\n")
			continue
		}
		if line[0] != '+' {
			return "", p.errorf("every line of an added file begins with +, found %q", text.Clip(line, 80))
		}
		out.WriteString(line[1:] + "\n")
	}
	return out.String(), nil
}

// restIsBlank reports whether only blank lines come before the next mark.
func (p *parser) restIsBlank() bool {
	for _, line := range p.lines[p.at:] {
		if p.mark(line) {
			return true
		}
		if strings.TrimSpace(line) != "" {
			return false
		}
	}
	return true
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("patch line %d: %w", p.at+1, fmt.Errorf(format, args...))
}
