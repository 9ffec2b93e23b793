// Package yamledit changes one value in the text of a YAML file and leaves every
// other byte as it was: comments, order, spacing, quotes and line ends stay.
//
// Re-encoding a parsed file loses what people wrote between the values, so the
// parser is used for positions only and the edit is a splice of the text. Before
// an edit is returned the new text is parsed again and must hold exactly the old
// values with the one change; otherwise the caller gets ErrUnsafe and the user has
// to edit the file by hand. Start at Parse; Set and Unset are in edit.go, the
// splices of one entry in block.go and flow.go.
//
// The package does not know what the keys mean.
package yamledit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxSize is the size in bytes above which a text is refused.
const MaxSize = 4 << 20

// Document is a parsed text. It is not changed by any method and may be shared.
type Document struct {
	src     []byte
	root    *yaml.Node // the top value; nil if the text has none
	lines   []int      // offset of each line's first byte
	newline string
	json    bool // the text is JSON and stays so
}

// SyntaxError says where a text cannot be used as YAML.
type SyntaxError struct {
	Line int // from 1; 0 if unknown
	Text string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Text
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Text)
}

// Parse reads a text of at most one document. The error is a *SyntaxError.
func Parse(src []byte) (*Document, error) {
	if len(src) > MaxSize {
		return nil, &SyntaxError{Text: fmt.Sprintf("the file is larger than %d MB", MaxSize>>20)}
	}
	if !utf8.Valid(src) {
		return nil, &SyntaxError{Line: badLine(src), Text: "the text is not valid UTF-8"}
	}
	read, isJSON := src, isJSON(src)
	if isJSON {
		read = forParser(src)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(read))
	var first, second yaml.Node
	if err := decoder.Decode(&first); err != nil && !errors.Is(err, io.EOF) {
		return nil, syntax(err, src)
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, syntax(err, src)
		}
		return nil, &SyntaxError{Line: second.Line, Text: "a second document begins here; use only one"}
	}
	d := &Document{src: src, lines: lineStarts(src), newline: "\n", json: isJSON}
	if len(first.Content) > 0 {
		d.root = first.Content[0]
	}
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		d.newline = "\r\n"
	}
	return d, nil
}

// Root returns the top value, nil for a text without any. It must not be changed.
func (d *Document) Root() *yaml.Node { return d.root }

// parserWords mark the errors whose lines the library counts from 0.
var parserWords = [...]string{"<document start>", "node content", "'-' indicator", "expected key", "',' or"}

// syntax splits the parser's text ("yaml: line 3: did not find …") into line and message.
func syntax(err error, src []byte) *SyntaxError {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	rest, found := strings.CutPrefix(text, "line ")
	number, words, cut := strings.Cut(rest, ": ")
	line, notNumber := strconv.Atoi(number)
	if !found || !cut || notNumber != nil {
		return &SyntaxError{Text: text}
	}
	for _, counted := range parserWords {
		if strings.Contains(words, counted) {
			line++ // the parser, unlike the scanner, counts lines from 0
			break
		}
	}
	if strings.Contains(words, "cannot start any token") || strings.Contains(words, "tab character") {
		words = "a value cannot start with this character; quote the text, and indent with spaces, not tabs"
	}
	return &SyntaxError{Line: min(line, bytes.Count(src, []byte("\n"))+1), Text: words}
}

func badLine(src []byte) int {
	line := 1
	for len(src) > 0 {
		r, size := utf8.DecodeRune(src)
		if r == utf8.RuneError && size == 1 {
			return line
		}
		if r == '\n' {
			line++
		}
		src = src[size:]
	}
	return 0
}

// lineStarts uses the line breaks of the parser, which are those of YAML 1.1.
func lineStarts(src []byte) []int {
	starts := []int{0}
	if bytes.HasPrefix(src, []byte("\ufeff")) {
		starts[0] = len("\ufeff") // the parser does not count it as a column
	}
	for i := 0; i < len(src); {
		size := breakAt(src, i)
		if size == 0 {
			i++
			continue
		}
		i += size
		starts = append(starts, i)
	}
	return starts
}

// breakAt returns the length of the line break at offset i, 0 if there is none.
func breakAt(src []byte, i int) int {
	switch {
	case i >= len(src):
		return 0
	case src[i] == '\n':
		return 1
	case src[i] == '\r':
		if i+1 < len(src) && src[i+1] == '\n' {
			return 2
		}
		return 1
	case src[i] == 0xC2 && bytes.HasPrefix(src[i:], []byte("\u0085")):
		return 2
	case src[i] == 0xE2 && (bytes.HasPrefix(src[i:], []byte("\u2028")) || bytes.HasPrefix(src[i:], []byte("\u2029"))):
		return 3
	}
	return 0
}

// lineEnd is the offset of the break that ends the line of offset i, or the end
// of the text.
func (d *Document) lineEnd(i int) int {
	for i < len(d.src) && breakAt(d.src, i) == 0 {
		i++
	}
	return i
}

// nextLine is the offset of the first byte of the line after that of offset i.
func (d *Document) nextLine(i int) int {
	i = d.lineEnd(i)
	return i + breakAt(d.src, i)
}

// start is the offset of node n's first byte, its anchor and tag included.
func (d *Document) start(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(d.lines) {
		return len(d.src) // the parser may place a missing value after the last line
	}
	i := d.lines[n.Line-1]
	for range n.Column - 1 {
		if i >= len(d.src) {
			break
		}
		_, size := utf8.DecodeRune(d.src[i:])
		i += size
	}
	return i
}
