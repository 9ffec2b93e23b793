package permission

import (
	"cmp"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// pathPattern is a pattern of paths, cut at slashes: * is a part of a name, and ** any
// number of folders.
type pathPattern struct {
	absolute bool
	parts    []string
}

// parsePath reads the subject of a rule for files. A relative one begins in the folder of the
// session.
func parsePath(text string) (pathPattern, error) {
	text = filepath.ToSlash(text)
	switch {
	case strings.HasPrefix(text, "~"):
		return pathPattern{}, errors.New("write the whole path instead of ~")
	case slices.Contains(strings.Split(text, "/"), ".."):
		return pathPattern{}, errors.New("write the path without .. in it")
	case strings.HasSuffix(text, "/"):
		return pathPattern{}, errors.New("it names a folder; end it with /** for the files below it")
	}
	absolute := path.IsAbs(text) || filepath.IsAbs(text)
	parts := strings.Split(strings.TrimPrefix(path.Clean(text), "/"), "/")
	for _, part := range parts {
		if _, err := path.Match(part, ""); err != nil {
			return pathPattern{}, errors.New("a bracket or a backslash of the pattern has no end")
		}
		if part != "**" && strings.Contains(part, "**") {
			return pathPattern{}, errors.New("** must be a whole name between slashes")
		}
	}
	return pathPattern{absolute, parts}, nil
}

// fits reports whether a file is one that the pattern describes.
func (p pathPattern) fits(file, workspace string) bool {
	if len(p.parts) == 0 || file == "" {
		return false
	}
	file = filepath.ToSlash(file)
	if !p.absolute {
		inside, ok := strings.CutPrefix(file, strings.TrimSuffix(filepath.ToSlash(workspace), "/")+"/")
		if !ok || workspace == "" {
			return false
		}
		file = inside
	}
	names := strings.Split(strings.TrimPrefix(file, "/"), "/")
	return !slices.Contains(names, "..") && partsFit(p.parts, names)
}

// partsFit compares from the end of each ** that may cover more: as with * in one name, only the
// last one has to be tried again.
func partsFit(parts, names []string) bool {
	star, mark := -1, 0
	p, n := 0, 0
	for n < len(names) {
		if p < len(parts) && parts[p] == "**" {
			star, mark = p, n
			p++
			continue
		}
		if p < len(parts) {
			if ok, err := path.Match(parts[p], names[n]); ok && err == nil {
				p, n = p+1, n+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		p, n = star+1, mark
	}
	return p == len(parts) // a ** at the end is one name at least
}

// allowFiles reports whether the rules have every file of a call.
func (rs Rules) allowFiles(c Call) bool {
	for _, file := range c.Files {
		if !slices.ContainsFunc(rs, func(r Rule) bool { return r.path.fits(file, cmp.Or(r.base, c.Workspace)) }) {
			return false
		}
	}
	return len(c.Files) > 0
}

// below reports whether dir is folder or below it.
func below(folder, dir string) bool {
	rel, err := filepath.Rel(folder, dir)
	return err == nil && folder != "" && dir != "" && filepath.IsAbs(dir) && filepath.IsLocal(rel)
}
