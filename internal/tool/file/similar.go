package file

import (
	"io/fs"
	"strings"

	"hermes/internal/order"
)

// shownSimilar bounds the names suggested for a missing file.
const shownSimilar = 5

// similarNames returns the names nearest to a missing one: first those with
// the same stem, then those that contain one another, then those that share
// most pairs of letters.
func similarNames(name string, entries []fs.DirEntry) []string {
	type candidate struct {
		name string
		rank float64
	}
	want := strings.ToLower(name)
	var list []candidate
	for _, e := range entries {
		have := strings.ToLower(e.Name())
		rank := pairsInCommon(want, have)
		switch {
		case stem(want) == stem(have):
			rank += 4
		case len(stem(want)) > 2 && strings.Contains(have, stem(want)), len(stem(have)) > 2 && strings.Contains(want, stem(have)):
			rank += 2
		}
		if rank >= 0.5 {
			list = append(list, candidate{e.Name(), rank})
		}
	}
	order.By(list, func(a, b candidate) int {
		if a.rank != b.rank {
			if a.rank > b.rank {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	var names []string
	for _, c := range list[:min(len(list), shownSimilar)] {
		names = append(names, c.name)
	}
	return names
}

func stem(name string) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[:i]
	}
	return name
}

// pairsInCommon is the Dice coefficient of the letter pairs of two names.
func pairsInCommon(a, b string) float64 {
	if len(a) < 2 || len(b) < 2 {
		return 0
	}
	count := map[string]int{}
	for i := range len(a) - 1 {
		count[a[i:i+2]]++
	}
	common := 0
	for i := range len(b) - 1 {
		if count[b[i:i+2]] > 0 {
			count[b[i:i+2]]--
			common++
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b)-2)
}
