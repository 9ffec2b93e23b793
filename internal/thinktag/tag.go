package thinktag

import "strings"

// tags are the names of thinking tags, as models write them. Any closing tag ends
// any block.
var tags = []struct {
	open, close string
	exact       bool // in this case only
}{
	{"<think>", "</think>", false},
	{"<thinking>", "</thinking>", false},
	{"<reasoning>", "</reasoning>", false},
	{"<reasoning_scratchpad>", "</reasoning_scratchpad>", false},
	{"<seed:think>", "</seed:think>", false}, // Seed-OSS
	{"[THINK]", "[/THINK]", true},            // Magistral
	{"◁think▷", "◁/think▷", false},           // Kimi
}

// tag is a tag at the start of a text; its width is 0 if there is none.
type tag struct {
	width  int
	closes bool
}

// tagAt returns the tag at the start of text. If decided is false, it needs more
// text.
func tagAt(text string) (t tag, decided bool) {
	decided = true
	for _, g := range tags {
		for i, full := range []string{g.open, g.close} {
			n := min(len(text), len(full))
			switch {
			case text[:n] != full[:n] && (g.exact || !strings.EqualFold(text[:n], full[:n])):
			case n == len(full):
				return tag{n, i == 1}, true
			default:
				decided = false
			}
		}
	}
	return tag{}, decided
}

// nextTag returns where the next tag may begin, or -1.
func nextTag(text string) int {
	for i := range len(text) {
		switch text[i] {
		case '<', '[', "◁"[0]:
			return i
		}
	}
	return -1
}
