package plan

import (
	"io/fs"
	"path/filepath"

	"hermes/internal/sandbox/gitguard"
)

// maxCarved is how many entries of one folder Carve returns. A rule set grows by one
// rule for each.
const maxCarved = 2048

// Carve leaves hidden paths out of granted ones, for walls that cannot subtract. A
// folder that holds a hidden path is replaced by its entries, again and again until the
// hidden one can be left out alone. What is made later directly in such a folder
// is not granted. Links are left out: a rule made from one would grant what it leads to,
// and following one needs no right. So are devices and sockets, and entries beyond the
// first 2,048 of a folder. The result is sorted and merged.
func Carve(granted, hidden []string) []string {
	hidden = merged(hidden)
	var out []string
	for _, g := range merged(granted) {
		out = carve(out, g, hidden)
	}
	return merged(out)
}

func carve(out []string, at string, hidden []string) []string {
	if withinAny(at, hidden) {
		return out
	}
	if !holds(at, hidden) {
		return append(out, at)
	}
	f, err := gitguard.OpenFolder(at)
	if err != nil {
		return out // what cannot be looked at is not granted
	}
	entries, _ := f.ReadDir(maxCarved)
	f.Close()
	for _, e := range entries {
		if t := e.Type(); t.IsDir() || t.IsRegular() || t == fs.ModeNamedPipe {
			out = carve(out, filepath.Join(at, e.Name()), hidden)
		}
	}
	return out
}
