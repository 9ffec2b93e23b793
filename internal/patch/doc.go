// Package patch changes text the way a language model asks for it: replace one
// passage by another, or apply a patch to several files.
//
// A model rarely quotes a file byte for byte, so Replace tries nine ways of
// finding the passage, from exact to merely similar. It refuses a passage that
// it cannot place without doubt, and only an exact one may begin or end inside a
// word. Line endings, byte order marks, indentation and typographic characters of
// the file are kept. Bytes outside the passage never change, valid UTF-8 or not.
//
// Text goes in and text comes out: the package reads and writes no files. Start
// at replace.go. strategy.go lists the nine strategies in order, form.go says how
// texts are normalised, applied.go when an edit was made before; v4a.go, hunk.go,
// apply.go and place.go hold the multi-file format; diff.go writes unified diffs.
// A search uses memory and time in proportion to the file, whatever it holds.
// All functions may be called concurrently.
package patch
