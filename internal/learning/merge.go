package learning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"hermes"
	"hermes/internal/errsig"
	"hermes/internal/order"
)

const (
	// alikeFix is the lowest likeness at which two fixes are the same.
	alikeFix = 0.6
	// maxFix and maxContext bound the texts of a learning, in characters.
	maxFix     = 1000
	maxContext = 400
)

// Groups finds duplicate learnings: similar failures of one tool and kind, with
// similar or missing fixes. Failures that differ in what they name (a program, a
// path, a number) are different ones. Each group has at least two learnings, the best
// proven first, and no learning is in two groups. Different fixes are never in
// one group: the user decides which is right.
func Groups(list []hermes.Learning) [][]hermes.Learning {
	sorted := slices.Clone(list)
	order.By(sorted, better)
	var groups [][]hermes.Learning
	for _, l := range sorted {
		at := slices.IndexFunc(groups, func(g []hermes.Learning) bool { return same(g[0], l) })
		if at < 0 {
			groups = append(groups, []hermes.Learning{l})
			continue
		}
		groups[at] = append(groups[at], l)
	}
	return slices.DeleteFunc(groups, func(g []hermes.Learning) bool { return len(g) < 2 })
}

// better orders learnings, the best proven first.
func better(a, b hermes.Learning) int {
	return cmp.Or(
		-compareBool(a.Fix != "", b.Fix != ""), -cmp.Compare(a.Helped-2*a.Failed, b.Helped-2*b.Failed),
		-cmp.Compare(a.Seen, b.Seen), cmp.Compare(a.ID, b.ID),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func same(a, b hermes.Learning) bool {
	return a.Tool == b.Tool && a.Class == b.Class && errsig.Resembles(a.Pattern, b.Pattern) && sameFix(a.Fix, b.Fix)
}

func sameFix(a, b string) bool {
	return a == "" || b == "" || errsig.Alike(plain(a), plain(b)) >= alikeFix
}

// plain normalises case, whitespace and punctuation of a fix.
func plain(fix string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(fix), func(r rune) bool { return strings.ContainsRune(" \t\n\"'`.,;:!?()", r) }), " ")
}

// Join merges several learnings into the best proven one, with its ID and
// counts. Different fixes are added to its own. Join fails if the result is too
// long.
func Join(list []hermes.Learning) (hermes.Learning, error) {
	sorted := slices.Clone(list)
	order.By(sorted, better)
	one := sorted[0]
	fixes, contexts := []string{}, []string{}
	one.Tags = nil
	for _, l := range sorted {
		one.Provenance = hermes.AddProvenance(one.Provenance, l.Provenance)
		if l.Fix != "" && !slices.ContainsFunc(fixes, func(f string) bool { return sameFix(f, l.Fix) }) {
			fixes = append(fixes, l.Fix)
		}
		if l.Context != "" && !slices.Contains(contexts, l.Context) {
			contexts = append(contexts, l.Context)
		}
		for _, tag := range l.Tags {
			if !slices.Contains(one.Tags, tag) {
				one.Tags = append(one.Tags, tag)
			}
		}
	}
	one.Fix, one.Context = strings.Join(fixes, "\nOr: "), strings.Join(contexts, "; ")
	if utf8.RuneCountInString(one.Fix) > maxFix || utf8.RuneCountInString(one.Context) > maxContext {
		return one, fmt.Errorf("the fixes together are longer than %d characters, or their contexts than %d: delete wrong learnings first, or save a shorter fix", maxFix, maxContext)
	}
	return one, nil
}
