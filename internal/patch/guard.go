package patch

import (
	"errors"
	"fmt"
	"strings"

	"hermes/internal/text"
)

// checkEscapeDrift refuses quotes that were escaped by mistake: both texts have
// a backslash before a quote, and the passage in the file has none.
func checkEscapeDrift(region, old, new string) error {
	for _, quote := range []string{`\'`, `\"`} {
		if strings.Contains(old, quote) && strings.Contains(new, quote) && !strings.Contains(region, quote) {
			return fmt.Errorf("escape-drift: old_string and new_string have a backslash before a quote (%s), the file has none there, nothing was changed: read the passage again and send it without the added backslash", quote)
		}
	}
	return nil
}

// realControls turns a spelled \t and \r in text into the real characters, if
// the passage to replace has only the real ones and text has only the spelled
// ones. \n stays, since in source code it is nearly always meant.
func realControls(region, text string) string {
	for _, c := range [...]struct{ spelled, real string }{{`\t`, "\t"}, {`\r`, "\r"}} {
		if strings.Contains(region, c.real) && !strings.Contains(region, c.spelled) && !strings.Contains(text, c.real) {
			text = strings.ReplaceAll(text, c.spelled, c.real)
		}
	}
	return text
}

const (
	// maxLead bounds what is looked at of the text before a passage in its line.
	maxLead = 4096
	// maxBlank bounds the blank lines that previousLine passes.
	maxBlank = 100
)

var errRogueIndent = errors.New("is indented far deeper than the lines around it, and no line before opens a block: its indentation is probably wrong; read the passage again and quote it with its real indentation")

// checkRogueIndent refuses a merged text in which a fresh line (fresh[i]: not
// copied from the file) is indented far deeper than the line before it,
// although that line opens no block.
func checkRogueIndent(doc *document, s span, merged string, fresh []bool) error {
	unit := indentUnit(doc)
	far := max(8, 2*unit)
	deepest := 0
	for l := range strings.SplitSeq(doc.at(s), "\n") {
		deepest = max(deepest, columns(indentOf(l), unit))
	}
	first := doc.lineOf(s.start)
	before := previousLine(doc, first.start)
	depth := brackets(before)
	for i, line := range strings.Split(merged, "\n") {
		if i == 0 {
			line = text.Clip(doc.text[first.start:s.start], maxLead) + line
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		at := columns(indentOf(line), unit)
		if fresh[i] && depth <= 0 && at > deepest && at-columns(indentOf(before), unit) >= far && !opens(before) {
			return fmt.Errorf("line %d of new_string (%q) %w", i+1, text.Clip(strings.TrimSpace(line), 60), errRogueIndent)
		}
		depth = max(depth, 0) + brackets(line)
		before = line
	}
	return nil
}

// previousLine returns the nearest line above the one that begins at start that
// is not blank, or "". It looks at a few lines, and at the ends of a long one.
func previousLine(doc *document, start int) string {
	for range maxBlank {
		if start == 0 {
			return ""
		}
		above := doc.back(start, 1)
		if l := doc.text[above : start-1]; strings.TrimSpace(l) != "" {
			if len(l) > 2*maxLead {
				return l[:maxLead] + l[len(l)-maxLead:]
			}
			return l
		}
		start = above
	}
	return ""
}

// brackets counts how many brackets a line leaves open.
func brackets(line string) int {
	n := 0
	for i := range len(line) {
		switch line[i] {
		case '(', '[', '{':
			n++
		case ')', ']', '}':
			n--
		}
	}
	return n
}

// opens reports whether a deeper line may follow this one.
func opens(line string) bool {
	line = strings.TrimSpace(line)
	if line == "" {
		return false
	}
	if strings.ContainsRune("{([:,=\\|&+-*/<>?", rune(line[len(line)-1])) {
		return true
	}
	switch line[strings.LastIndexAny(line, " \t")+1:] {
	case "then", "do", "else", "begin", "try", "and", "or", "not", "in", "is", "where", "of", "let":
		return true
	}
	return false
}

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// columns returns the width of an indentation with tabs of unit columns.
func columns(indent string, unit int) int {
	return len(indent) + (unit-1)*strings.Count(indent, "\t")
}

// indentUnit guesses the width of one step of indentation in a file.
func indentUnit(doc *document) int {
	if doc.unit == 0 {
		doc.unit = guessUnit(doc)
	}
	return doc.unit
}

func guessUnit(doc *document) int {
	const scanned = 2000
	unit, n := 0, 0
	for s := range doc.linesFrom(0) {
		if n++; n > scanned {
			break
		}
		line := doc.at(s)
		indent := indentOf(line)
		switch {
		case indent == "" || len(indent) == len(line):
		case indent[0] == '\t':
			return 8
		case len(indent) >= 2 && (unit == 0 || len(indent) < unit):
			unit = len(indent)
		}
	}
	if unit == 0 {
		return 4
	}
	return min(unit, 8)
}
