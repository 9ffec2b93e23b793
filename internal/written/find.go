package written

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Bounds of what is looked at for one line.
const (
	maxFolders = 64
	maxLooks   = 30_000 // paths
)

// finder collects the files of one line.
type finder struct {
	session    Session
	dir        string
	own        map[string]bool
	bases      []string        // real paths of the folders that the line uses; the first is dir
	run        []string        // those whose content a program of the line may run
	there      map[string]bool // names that were found
	found      []file
	at         map[string]int // where a path is in found
	looks      int
	incomplete bool // a bound was reached
}

// file came with the session.
type file struct {
	path string
	rank rank
	info fs.FileInfo
}

func newFinder(s Session, dir string) *finder {
	f := &finder{session: s, dir: dir, own: map[string]bool{}, there: map[string]bool{}, at: map[string]int{}}
	for _, path := range s.Own {
		f.own[path] = true
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		f.dir = real
	}
	f.bases = []string{f.dir}
	return f
}

// resolve looks for every name in every folder that the line uses. Folders that it finds
// are used from then on.
func (f *finder) resolve(all []name) {
	for i := 0; i < len(f.bases); i++ { // which grows
		for _, n := range all {
			if filepath.IsAbs(n.text) && i > 0 {
				continue
			}
			f.name(f.bases[i], n)
		}
	}
}

// missing reports whether a name that the line needs was not found.
func (f *finder) missing(all []name) bool {
	return slices.ContainsFunc(all, func(n name) bool { return n.needed && !f.there[n.text] })
}

// name looks for a name in a folder. A part of it that is not known can be any text.
func (f *finder) name(base string, n name) {
	path := n.text
	if !filepath.IsAbs(path) {
		path = base + "/" + path // not cleaned: "link/.." is where the link leads
	}
	if strings.ContainsAny(n.text, "*?[\x00") {
		for _, match := range f.matches(wider(path)) {
			f.path(match, n)
		}
	}
	if strings.ContainsRune(path, 0) {
		return
	}
	f.path(path, n)
	if strings.Contains(path, "..") {
		f.path(filepath.Clean(path), n) // where cd goes
	}
}

// path takes what is at a path, and the links on the way to it.
func (f *finder) path(path string, n name) {
	if !f.look() {
		return
	}
	if _, err := os.Lstat(path); err != nil {
		return
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return
	}
	if real != filepath.Clean(path) {
		f.links(filepath.Clean(path), n.rank)
	}
	f.there[n.text] = true
	info, err := os.Stat(real)
	switch {
	case err != nil, info.Mode()&fs.ModeDevice != 0, below(real, "/proc"), below(real, "/sys"):
	case info.IsDir():
		f.base(real)
		if n.inside && (n.here || !below(f.dir, real)) && !slices.Contains(f.run, real) {
			f.run = append(f.run, real)
		}
	default:
		f.take(real, n.rank, info)
		if !n.leaf && strings.Contains(n.text, "/") {
			f.base(filepath.Dir(real))
		}
	}
}

// links takes the links in a path: whoever changes one changes what the path means.
func (f *finder) links(path string, r rank) {
	for ; path != filepath.Dir(path); path = filepath.Dir(path) {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			f.take(path, r, info)
		}
	}
}

// base adds a folder to those that the line uses.
func (f *finder) base(dir string) {
	switch {
	case slices.Contains(f.bases, dir):
	case len(f.bases) == maxFolders:
		f.incomplete = true
	default:
		f.bases = append(f.bases, dir)
	}
}

// take takes a file if it came with the session.
func (f *finder) take(path string, r rank, info fs.FileInfo) {
	if !f.own[path] && (f.session.Began.IsZero() || !changed(info).After(f.session.Began)) {
		return
	}
	if i, ok := f.at[path]; ok {
		f.found[i].rank = min(f.found[i].rank, r)
		return
	}
	f.at[path] = len(f.found)
	f.found = append(f.found, file{path, r, info})
}

// look counts one more access to a path, and reports whether it is within the bound.
func (f *finder) look() bool {
	if f.looks++; f.looks > maxLooks {
		f.incomplete = true
		return false
	}
	return true
}

// wider is a pattern that means at least what a shell's does: a set of characters and a
// part that is not known are any text.
func wider(pattern string) string {
	return sets().ReplaceAllString(strings.ReplaceAll(pattern, "\x00", "*"), "*")
}

var sets = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[[^/]+\]`) })

// matches lists the paths that a pattern means, as a shell does without its options.
func (f *finder) matches(pattern string) []string {
	paths := []string{""}
	for i, part := range strings.Split(pattern, "/") {
		var next []string
		for _, p := range paths {
			switch {
			case i == 0:
				next = append(next, part)
			case !strings.ContainsAny(part, "*?["):
				next = append(next, p+"/"+part)
			default:
				next = append(next, f.matchesIn(p, part)...)
			}
		}
		paths = next
	}
	return paths
}

// matchesIn lists the entries of a folder that a pattern without folders means.
func (f *finder) matchesIn(dir, pattern string) []string {
	entries, err := f.entries(dir, maxLooks-f.looks)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if !f.look() {
			break
		}
		if e.Name()[0] == '.' && pattern[0] != '.' {
			continue
		}
		if ok, _ := filepath.Match(pattern, e.Name()); ok {
			out = append(out, dir+"/"+e.Name())
		}
	}
	return out
}
