package prompt

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"hermes"
)

// note is a project file for agents, as far as it may be shown.
type note struct {
	name    string
	content string // the whole text; empty if there is none
	blocked bool   // content only says that it was not loaded
}

// within returns the content, cut in the middle if it is longer than limit
// characters: 70 % of the limit are kept from the head, 20 % from the tail.
func (n note) within(limit int) string {
	count := utf8.RuneCountInString(n.content)
	if count <= limit {
		return n.content
	}
	runes := []rune(n.content)
	head, tail := limit*7/10, limit*2/10
	return string(runes[:head]) +
		fmt.Sprintf("\n\n[… %s was cut: the first %d and the last %d of its %d characters are shown; read_file shows the rest …]\n\n", n.name, head, tail, count) +
		string(runes[count-tail:])
}

// frame is the most characters that the text around a note takes: its heading
// and the remark that it was cut.
func (n note) frame() int { return 2*utf8.RuneCountInString(n.name) + 140 }

// framed returns the content with at most so many characters, including its frame.
func (n note) framed(most int) string { return n.within(max(most-n.frame(), 0)) }

// notes are the files of a project.
type notes []note

// provenance names the files as sources of untrusted text.
func (n notes) provenance() string {
	var all string
	for _, f := range n {
		all = hermes.AddProvenance(all, hermes.ProjectFileSource(f.name))
	}
	return all
}

// each shows every file with at most limit characters.
func (n notes) each(limit int) string {
	parts := []string{fixed("project")}
	for _, f := range n {
		parts = append(parts, "## "+f.name+separator+f.within(limit))
	}
	return strings.Join(parts, separator)
}

// leastNote is the least of a file that is worth showing, in characters.
const leastNote = 400

// within shows the files with at most so many characters in total. The space is
// shared evenly: short files stay whole and the others share what is left. If
// there is too little for each, the last files are only named.
func (n notes) within(most int) string {
	space := most - utf8.RuneCountInString(fixed("project"))
	shown := n
	for len(shown) > 1 && space-shown.frames() < leastNote*len(shown) {
		shown = shown[:len(shown)-1]
	}
	out := shown.each(shown.deal(max(space-shown.frames(), leastNote)))
	if len(shown) == len(n) {
		return out
	}
	var names []string
	for _, f := range n[len(shown):] {
		names = append(names, f.name)
	}
	return out + separator + "[… left out to save space: " + strings.Join(names, ", ") + "; read_file shows them …]"
}

func (n notes) frames() int {
	sum := 0
	for _, f := range n {
		sum += f.frame()
	}
	return sum
}

// deal returns the most characters that each file may have so that all fit.
func (n notes) deal(space int) int {
	share, left := space/len(n), len(n)
	for range n { // short files leave space to the others
		rest, long := space, 0
		for _, f := range n {
			if count := utf8.RuneCountInString(f.content); count <= share {
				rest -= count
			} else {
				long++
			}
		}
		if long == 0 || long == left {
			return share
		}
		share, left = rest/long, long
	}
	return share
}
