package prompt

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"hermes"
)

// note is a file that people left for agents, as far as it may be shown.
type note struct {
	name    string
	content string // whole, and blank where there is nothing to say
	blocked bool   // content only says that it was not loaded
}

// within is the content, cut in the middle where it is longer than so many
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

// frame is what stands round a note, in characters at most: its heading and
// what says that it was cut.
func (n note) frame() int { return 2*utf8.RuneCountInString(n.name) + 140 }

// framed is the content with at most so many characters, its frame included.
func (n note) framed(most int) string { return n.within(max(most-n.frame(), 0)) }

// notes are the files of a project.
type notes []note

// provenance names the files as what comes from outside.
func (n notes) provenance() string {
	var all string
	for _, f := range n {
		all = hermes.AddProvenance(all, hermes.ProvenanceSource("project file", f.name))
	}
	return all
}

// each shows every file with at most so many characters.
func (n notes) each(limit int) string {
	parts := []string{text("project")}
	for _, f := range n {
		parts = append(parts, "## "+f.name+separator+f.within(limit))
	}
	return strings.Join(parts, separator)
}

// leastNote is how much of a file is worth showing, in characters.
const leastNote = 400

// within shows the files with at most so many characters in all. The room is
// dealt out evenly: short files stay whole and the others share what is left.
// Where there is too little for each, the last ones are named only.
func (n notes) within(most int) string {
	room := most - utf8.RuneCountInString(text("project"))
	shown := n
	for len(shown) > 1 && room-shown.frames() < leastNote*len(shown) {
		shown = shown[:len(shown)-1]
	}
	out := shown.each(shown.deal(max(room-shown.frames(), leastNote)))
	if len(shown) == len(n) {
		return out
	}
	var names []string
	for _, f := range n[len(shown):] {
		names = append(names, f.name)
	}
	return out + separator + "[… left out for want of room: " + strings.Join(names, ", ") + "; read_file shows them …]"
}

func (n notes) frames() int {
	sum := 0
	for _, f := range n {
		sum += f.frame()
	}
	return sum
}

// deal is the most characters that each file may have so that all fit.
func (n notes) deal(room int) int {
	share, left := room/len(n), len(n)
	for range n { // short files leave room to the others
		rest, long := room, 0
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
