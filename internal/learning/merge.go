package learning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"hermes"
	"hermes/internal/errsig"
)

const (
	// leastAlike is how alike the messages of failures are that are the same,
	// alikeFix how alike the fixes must be that nobody chooses between.
	leastAlike = 0.8
	alikeFix   = 0.6
	// maxFix and maxContext bound what a merge may join, in characters.
	maxFix     = 1000
	maxContext = 400
)

// Groups finds learnings that say the same: failures of one tool and kind that
// look alike, with fixes that are alike or missing. Each group has two or more,
// the best proved first, and none is in two groups. Fixes that differ are never
// in one group: which is right is for a person to say.
func Groups(list []hermes.Learning) [][]hermes.Learning {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, better)
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

// better orders learnings, the best proved first.
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
	return a.Tool == b.Tool && a.Class == b.Class && near(a.Pattern, b.Pattern) &&
		errsig.Alike(a.Pattern, b.Pattern) >= leastAlike && sameFix(a.Fix, b.Fix)
}

// near spares the comparison of texts that differ much in length.
func near(a, b string) bool { return 2*len(a) >= len(b) && 2*len(b) >= len(a) }

func sameFix(a, b string) bool {
	return a == "" || b == "" || errsig.Alike(plain(a), plain(b)) >= alikeFix
}

// plain is a fix without what two writers do differently.
func plain(fix string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(fix), func(r rune) bool { return strings.ContainsRune(" \t\n\"'`.,;:!?()", r) }), " ")
}

// Join makes one learning of several: that with the best proof, with its ID
// and counts; the fixes that differ stand beside its own. It fails where that
// would be too long.
func Join(list []hermes.Learning) (hermes.Learning, error) {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, better)
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
		return one, fmt.Errorf("the fixes together are longer than %d characters, or their contexts than %d: delete what is wrong first, or save a shorter fix", maxFix, maxContext)
	}
	return one, nil
}
