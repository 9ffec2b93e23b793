// Package search finds lines and files below a folder of this machine, fast
// and without external programs. It walks folders in parallel, honours
// .gitignore files, and looks for a pattern's fixed text before it runs the
// regular expression.
//
// Everything is bounded: the results collected, the length of a line, the part
// of a file in memory. The package reads files and writes none. It does not
// know which files may be shown; the caller decides that with Query.Omit.
//
// Start at search.go. walk.go walks folders, ignore.go reads .gitignore files,
// matcher.go and literal.go find lines, glob.go matches names.
package search
