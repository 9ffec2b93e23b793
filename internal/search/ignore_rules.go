package search

import "path/filepath"

// Ignore holds the rules of the .gitignore files that apply in a folder. It never changes;
// the zero value ignores nothing.
type Ignore struct{ level *ignoreLevel }

// IgnoreAbove returns the rules for a folder, an absolute path, that come from above it: from
// .gitignore files of its repository, and from the repository's own list. Rules that ignore
// the folder itself do not count.
func IgnoreAbove(folder string) Ignore {
	return Ignore{levelsAbove(folder, gitIgnoreFiles[:])}
}

// With returns the rules for a folder with the text of its .gitignore file.
func (i Ignore) With(folder, text string) Ignore {
	return Ignore{newIgnoreLevel(i.level, filepath.ToSlash(folder), text)}
}

// Match reports whether an absolute path is ignored. It does not check the folders above:
// what is in an ignored folder is ignored, too.
func (i Ignore) Match(path string, folder bool) bool {
	return i.level.ignored(filepath.ToSlash(path), filepath.Base(path), folder)
}
