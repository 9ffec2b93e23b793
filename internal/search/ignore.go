package search

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes/internal/atomicfile"
)

// An ignoreLevel holds the rules of one folder's ignore files and links to the
// level of the folder above. A level never changes after it was made.
type ignoreLevel struct {
	above *ignoreLevel
	dir   string // slash path that rules are relative to
	rules []ignoreRule
}

type ignoreRule struct {
	pattern  string
	negate   bool
	dirOnly  bool
	anchored bool   // has a slash: matches only from the level's folder
	plain    bool   // no wildcards
	suffix   string // for *.ext: the end of the name
}

// maxIgnoreFile bounds the size of an ignore file, in bytes.
const maxIgnoreFile = 1 << 20

// newIgnoreLevel makes a level below above from the text of an ignore file, or
// returns above if the text has no rules.
func newIgnoreLevel(above *ignoreLevel, dir, text string) *ignoreLevel {
	rules := parseIgnore(text)
	if len(rules) == 0 {
		return above
	}
	return &ignoreLevel{above, dir, rules}
}

func parseIgnore(text string) []ignoreRule {
	var rules []ignoreRule
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = line[:len(line)-1]
		}
		if line == "" || line[0] == '#' {
			continue
		}
		var r ignoreRule
		line, r.negate = strings.CutPrefix(line, "!")
		line, r.dirOnly = strings.CutSuffix(line, "/")
		r.anchored = strings.Contains(line, "/")
		line = strings.TrimPrefix(line, "/")
		if rest, ok := strings.CutPrefix(line, "**/"); ok && !strings.Contains(rest, "/") {
			line, r.anchored = rest, false
		}
		if line == "" {
			continue
		}
		r.pattern = line
		r.plain = !strings.ContainsAny(line, `*?[\`)
		if rest, ok := strings.CutPrefix(line, "*"); ok && !r.anchored && !strings.ContainsAny(rest, `*?[\`) {
			r.suffix = rest
		}
		rules = append(rules, r)
	}
	return rules
}

// ignored reports whether an absolute path with slashes, whose last segment is
// name, is ignored. The last matching rule of the deepest level counts. It does
// not check the folders above: walks do not enter ignored folders.
func (l *ignoreLevel) ignored(path, name string, isDir bool) bool {
	for ; l != nil; l = l.above {
		rel := strings.TrimPrefix(strings.TrimPrefix(path, l.dir), "/")
		for i := len(l.rules) - 1; i >= 0; i-- {
			if l.rules[i].matches(rel, name, isDir) {
				return !l.rules[i].negate
			}
		}
	}
	return false
}

func (r *ignoreRule) matches(rel, name string, isDir bool) bool {
	switch {
	case r.dirOnly && !isDir:
		return false
	case r.anchored && r.plain:
		return rel == r.pattern
	case r.anchored:
		return segments(r.pattern, rel)
	case r.plain:
		return name == r.pattern
	case r.suffix != "":
		return strings.HasSuffix(name, r.suffix)
	}
	return wild(r.pattern, name)
}

// ignoreFiles are the names of ignore files. One that is a link does not count, as with
// git.
var ignoreFiles = [...]string{".gitignore", ".ignore"}

// gitIgnoreFiles are those that git knows, too.
var gitIgnoreFiles = [...]string{".gitignore"}

// levelFor reads the ignore files of a folder above the search.
func levelFor(above *ignoreLevel, dir string, names []string) *ignoreLevel {
	for _, name := range names {
		above = newIgnoreLevel(above, filepath.ToSlash(dir), readSmall(filepath.Join(dir, name)))
	}
	return above
}

// levelIn reads the ignore files of an open folder.
func levelIn(above *ignoreLevel, folder *handle, dir string) *ignoreLevel {
	for _, name := range ignoreFiles {
		above = newIgnoreLevel(above, filepath.ToSlash(dir), small(folder.open(name)))
	}
	return above
}

// readSmall reads a file that no search finds, such as one of git's. Its folder may be
// behind a link, the file itself is not.
func readSmall(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return ""
	}
	f, err := atomicfile.OpenPath(filepath.Join(dir, filepath.Base(path)))
	if err != nil {
		return ""
	}
	info, err := f.Stat()
	return small(f, info, err)
}

// small reads and closes a small regular file.
func small(f io.ReadCloser, info fs.FileInfo, err error) string {
	if f == nil {
		return ""
	}
	defer f.Close()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnoreFile {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return ""
	}
	return string(text)
}

// levelsAbove returns the rules that apply to root from the folders above: those
// of its repository's exclude file and of the folders between. It returns none
// if they ignore root itself, since the caller asked for root by name.
func levelsAbove(root string, names []string) *ignoreLevel {
	top := repositoryOf(root)
	if top == "" {
		return nil
	}
	level := newIgnoreLevel(nil, filepath.ToSlash(top), readSmall(filepath.Join(gitFolder(top), "info", "exclude")))
	rel, err := filepath.Rel(top, root)
	if err != nil || rel == "." {
		return level
	}
	dir := top
	for _, part := range strings.Split(filepath.ToSlash(rel), "/") {
		level = levelFor(level, dir, names)
		dir = filepath.Join(dir, part)
		if level.ignored(filepath.ToSlash(dir), part, true) {
			return nil
		}
	}
	return level
}

// repositoryOf returns the nearest folder from dir upwards that has .git, or "".
func repositoryOf(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// gitFolder returns the folder that contains a repository's info folder. A
// linked worktree has it elsewhere.
func gitFolder(top string) string {
	dir := filepath.Join(top, ".git")
	target, ok := strings.CutPrefix(readSmall(dir), "gitdir:")
	if !ok {
		return dir
	}
	dir = strings.TrimSpace(target)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(top, dir)
	}
	common := strings.TrimSpace(readSmall(filepath.Join(dir, "commondir")))
	if common == "" {
		return dir
	}
	if filepath.IsAbs(common) {
		return common
	}
	return filepath.Join(dir, common)
}
