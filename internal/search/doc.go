// Package search finds lines and files below a folder of this machine, fast
// and without outside programs: a parallel walk that honours .gitignore files,
// and a matcher that looks for a pattern's fixed text before it asks the
// regular expression.
//
// Every part has a bound: what is collected, how long a line is shown, how
// much of a file is held at once. The package reads files and writes none; what
// may be shown to whom is the caller's question (Query.Omit). Start at search.go;
// walk.go goes through folders, ignore.go reads .gitignore files, matcher.go and
// literal.go find lines, glob.go matches names.
package search
