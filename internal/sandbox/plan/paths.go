package plan

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// within reports whether a path is a folder or below it. Both are clean and absolute.
func within(p, dir string) bool {
	rest, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, "/"))
	return ok && dir != "" && (rest == "" || rest[0] == '/')
}

func withinAny(p string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return within(p, d) })
}

// holds reports whether a folder holds one of the paths, or is one.
func holds(dir string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return within(p, dir) })
}

func sorted(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}

// unique drops repeated texts and keeps their order.
func unique(list []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// merged sorts paths and drops those below another one.
func merged(list []string) (out []string) {
	list = slices.Clone(list)
	// A slash sorts before all that a name may hold, so that a folder's content
	// directly follows it.
	slices.SortFunc(list, func(a, b string) int {
		return strings.Compare(strings.ReplaceAll(a, "/", "\x00"), strings.ReplaceAll(b, "/", "\x00"))
	})
	for _, p := range list {
		if len(out) == 0 || !within(p, out[len(out)-1]) {
			out = append(out, p)
		}
	}
	return out
}

// followed follows the links of a path as far as it exists.
func followed(p string) string {
	p = filepath.Clean(p)
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	dir := filepath.Dir(p)
	if dir == p {
		return p
	}
	return filepath.Join(followed(dir), filepath.Base(p))
}

func isFolder(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// exists reports whether something is at a path, or may be.
func exists(p string) bool {
	_, err := os.Lstat(p)
	return !isGone(err)
}

func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// maxHops is how many links one path may have.
const maxHops = 40

// links remembers the links on the way of a path, each at a path without another one: a
// new root needs them too.
func (p *planner) links(at string) {
	dir, names := "/", strings.Split(filepath.Clean(at), "/")
	for hops := 0; len(names) > 0; {
		name := names[0]
		names = names[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			dir = filepath.Dir(dir)
			continue
		}
		next := filepath.Join(dir, name)
		to, err := os.Readlink(next)
		if err != nil { // no link, or nothing is there
			dir = next
			continue
		}
		if hops++; hops > maxHops {
			return
		}
		p.Policy.Links = append(p.Policy.Links, next)
		if filepath.IsAbs(to) {
			dir = "/"
		}
		names = append(strings.Split(to, "/"), names...)
	}
}
