// Package markup turns the Markdown that models write into what a reader can
// look at: styled terminal lines, whole or block by block while the text is
// still arriving, and plain text. It also colours code and diffs and makes
// hidden characters visible.
//
// Goldmark reads Markdown; every renderer here is our own. The package knows
// values only: text in, lines out. It does no I/O, looks at no environment
// and starts no goroutine. Text from outside never reaches a terminal as
// control sequences: each control character is replaced by a picture of it.
//
// Start reading at [Render], then [Stream], which is the same by and by.
package markup
