// Package patch changes text the way a language model asks for it: find a
// passage and put another in its place, or apply a patch over several files.
//
// A model rarely quotes a file byte for byte, so Replace tries nine ways of
// finding the passage, from exact to merely similar, and refuses whatever it
// cannot place without doubt. Line endings, byte order marks, indentation and
// typographic characters of the file survive; bytes outside the passage are
// never touched, valid UTF-8 or not.
//
// Text goes in and text comes out: the package reads and writes no files. Start
// reading at replace.go; strategy.go lists the nine strategies in order, v4a.go,
// hunk.go and apply.go hold the multi-file format, diff.go writes unified diffs.
// Everything here may be called from several goroutines at once.
package patch
