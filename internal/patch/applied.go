package patch

import (
	"fmt"
	"strings"
	"unicode"
)

// minShown is the shortest new text whose place in the file is worth naming.
const minShown = 8

// made returns where an edit was made before, whose old text is not in the
// file. The new text alone proves nothing, since it may be there for another
// reason. Whole lines that old and new share must be around the change, and they
// must fit this place only. ok is false if the surroundings leave a doubt.
func (d *document) made(old, new string) (at span, ok bool) {
	if len(strings.TrimSpace(new)) >= minShown && strings.TrimSpace(d.text) == strings.TrimSpace(new) {
		return span{0, len(d.text)}, true // there is no other place
	}
	olds, _ := linesOf(old)
	news, _ := linesOf(new)
	above := commonLines(olds, news)
	olds, news = olds[above:], news[above:]
	below := commonLines(reversed(olds), reversed(news))
	all, _ := linesOf(new)
	head, change, tail := all[:above], news[:len(news)-below], all[len(all)-below:]
	if blankLines(change) && (!telling(head) || !telling(tail)) {
		return span{}, false // nothing shows that lines were removed
	}
	at, n := d.verbatim(all)
	return at, n == 1 && (d.only(head) || d.only(tail))
}

// only reports whether lines have words and are in the document once.
func (d *document) only(lines []string) bool {
	_, n := d.verbatim(lines)
	return telling(lines) && n == 1
}

// verbatim finds lines exactly as they are: the first place, and the number
// of places up to two.
func (d *document) verbatim(lines []string) (first span, n int) {
	want := strings.Join(lines, "\n")
	for from := 0; from <= len(d.text); {
		i := strings.Index(d.text[from:], want)
		if i < 0 {
			break
		}
		s := span{from + i, from + i + len(want)}
		if (s.start == 0 || d.text[s.start-1] == '\n') && s.end == d.lineEnd(s.end) {
			if n++; n > 1 {
				break
			}
			first = s
		}
		from = d.lineEnd(s.start) + 1
	}
	return first, n
}

// telling reports whether lines have a letter or a digit.
func telling(lines []string) bool {
	for _, l := range lines {
		if strings.ContainsFunc(l, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return true
		}
	}
	return false
}

func blankLines(lines []string) bool { return strings.TrimSpace(strings.Join(lines, "")) == "" }

// commonLines returns the number of lines that both begin with.
func commonLines(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func reversed(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[len(lines)-1-i] = l
	}
	return out
}

// presence says where the new text of an edit that was not found already is, or
// "". It is no proof that the edit was made.
func (d *document) presence(new string) string {
	if len(strings.TrimSpace(new)) < minShown {
		return ""
	}
	i := strings.Index(d.text, new)
	if i < 0 {
		return ""
	}
	return fmt.Sprintf(" The new text is already in line %d: if that is the place you mean, there is nothing to do.", d.lineAt(i)+1)
}
