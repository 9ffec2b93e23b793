// Package markup renders the Markdown that models write as styled terminal lines or
// as plain text, either complete or block by block while the text arrives. It also
// colours code and diffs and makes hidden characters visible.
//
// Goldmark parses Markdown; the renderers are in this package. It converts text to
// lines: it does no I/O, reads no environment and starts no goroutine. Untrusted
// text cannot send control sequences to a terminal: each control character is
// replaced by a visible symbol.
//
// Start reading at [Render], then [Stream], which renders incrementally.
package markup
