package patch

import (
	"errors"
	"fmt"
	"strings"
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

var errRogueIndent = errors.New("is indented far deeper than the lines around it, and no line before opens a block: its indentation is probably wrong; read the passage again and quote it with its real indentation")

// checkRogueIndent refuses a merged text in which a fresh line (fresh[i]: not
// copied from the file) is indented far deeper than the line before it,
// although that line opens no block.
func checkRogueIndent(doc *document, s span, text string, fresh []bool) error {
	unit := indentUnit(doc)
	far := max(8, 2*unit)
	deepest := 0
	for _, l := range strings.Split(doc.text[s.start:s.end], "\n") {
		deepest = max(deepest, columns(indentOf(l), unit))
	}
	first := doc.lineAt(s.start)
	before := previousLine(doc, first)
	depth := brackets(before)
	for i, line := range strings.Split(text, "\n") {
		if i == 0 {
			line = doc.text[doc.lines[first].start:s.start] + line
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		at := columns(indentOf(line), unit)
		if fresh[i] && depth <= 0 && at > deepest && at-columns(indentOf(before), unit) >= far && !opens(before) {
			return fmt.Errorf("line %d of new_string (%q) %w", i+1, clip(strings.TrimSpace(line), 60), errRogueIndent)
		}
		depth = max(depth, 0) + brackets(line)
		before = line
	}
	return nil
}

// previousLine returns the nearest line before i that is not blank, or "".
func previousLine(doc *document, i int) string {
	for i--; i >= 0; i-- {
		if l := doc.line(i); strings.TrimSpace(l) != "" {
			return l
		}
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
	unit := 0
	for i := range min(len(doc.lines), scanned) {
		indent := indentOf(doc.line(i))
		switch {
		case indent == "" || len(indent) == len(doc.line(i)):
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
