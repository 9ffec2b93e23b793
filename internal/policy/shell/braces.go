package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// mayHaveBraces is a cheap check before a word is split.
func mayHaveBraces(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return ok && strings.Contains(lit.Value, "{")
	})
}

// braces expands {a,b}. It reports false if that makes too many words.
func (j *judge) braces(w *syntax.Word) ([][]syntax.WordPart, bool) {
	clone := &syntax.Word{Parts: slices.Clone(w.Parts)} // do not change the tree itself
	if !syntax.SplitBraces(clone) {
		return [][]syntax.WordPart{w.Parts}, true
	}
	return j.combined(clone.Parts)
}

// combined returns every word that a list of parts means, in the shell's
// order.
func (j *judge) combined(parts []syntax.WordPart) ([][]syntax.WordPart, bool) {
	all := [][]syntax.WordPart{nil}
	for _, part := range parts {
		b, ok := part.(*syntax.BraceExp)
		if !ok || b.Sequence {
			if !j.spend(len(all)) {
				return nil, false
			}
			for i := range all {
				all[i] = append(all[i], part)
			}
			continue
		}
		var choices [][]syntax.WordPart
		for _, elem := range b.Elems {
			inner, ok := j.combined(elem.Parts)
			if choices = append(choices, inner...); !ok || len(all)*len(choices) > maxBraces {
				return nil, false
			}
		}
		next := make([][]syntax.WordPart, 0, len(all)*len(choices))
		for _, before := range all {
			for _, c := range choices {
				if !j.spend(len(before) + len(c)) {
					return nil, false
				}
				next = append(next, slices.Concat(before, c))
			}
		}
		all = next
	}
	return all, true
}
