package checkpoint

import (
	"os"
	"path/filepath"

	"hermes/internal/filestamp"
)

// Missed returns what the change touched although it is in no snapshot, such as files that are
// too large: no restore brings it back. It is known after Done. Ignored files and the data of
// version control are not in it.
func (g *Writing) Missed() []Kept { return g.missed }

// Folder returns the folder that is changed, without links.
func (g *Writing) Folder() string { return g.dir }

// stampsOf returns the stamps of what is left out of a tree for a reason that depends on the file.
func (g *Writing) stampsOf(states map[string]State) map[string]filestamp.Stamp {
	out := map[string]filestamp.Stamp{}
	for p, s := range states {
		if !missable(s) {
			continue
		}
		info, err := os.Lstat(filepath.Join(g.dir, filepath.FromSlash(p)))
		if err != nil {
			continue // it went in this moment
		}
		out[p] = filestamp.Of(info)
	}
	return out
}

// missable reports whether something is left out for a reason that depends on the file.
func missable(s State) bool {
	return s.Kind == LeftOut && (s.Why == TooLarge || s.Why == Unreadable || s.Why == Unstable)
}

// compareMissed notes what is left out and changed between the two trees.
func (g *Writing) compareMissed(after map[string]State) {
	now := g.stampsOf(after)
	for p, was := range g.stamps {
		if is, ok := now[p]; ok && is == was {
			continue
		}
		g.missed = append(g.missed, Kept{p, g.before[p].Why.String()})
	}
	for p := range now {
		if _, ok := g.stamps[p]; !ok && stateOf(g.before, p).Kind != File { // what was a file is in the snapshot
			g.missed = append(g.missed, Kept{p, after[p].Why.String()})
		}
	}
	sortBy(g.missed, func(k Kept) string { return k.Path })
}
