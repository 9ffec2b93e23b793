package file

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"hermes/internal/text"
)

const (
	maxOffset = 1<<31 - 1
	// maxCounted bounds how far past the page lines are counted, in bytes.
	// Past it a result gives no total.
	maxCounted = 256 << 20
)

// A window says which lines of a file to show, and within what bounds.
type window struct {
	offset, limit     int // lines, from 1
	maxChars, maxLine int // characters of the page, of a line
}

// A page is the text that a window shows.
type page struct {
	text    string
	total   int  // lines of the file; 0 if it is empty or was not counted
	shown   int  // lines
	more    bool // more lines follow
	next    int  // offset of the next page, 0 without more
	cut     int  // lines that were longer than shown
	invalid bool // bytes that are not UTF-8 were replaced
	counted bool // total is known
}

// note says what the text itself does not show.
func (p page) note(w window) string {
	var notes []string
	switch {
	case p.counted && p.total == 0:
		notes = append(notes, "the file is empty")
	case p.shown == 0:
		notes = append(notes, fmt.Sprintf("offset %d is past the end: the file has %d lines", w.offset, p.total))
	case p.more:
		notes = append(notes, fmt.Sprintf("more lines follow: continue at offset %d", p.next))
	}
	if p.cut > 0 {
		notes = append(notes, fmt.Sprintf("%s cut at %d characters", text.Plural(p.cut, "long line is", "long lines are"), w.maxLine))
	}
	if p.invalid {
		notes = append(notes, "bytes that are not UTF-8 are shown as \ufffd; patch keeps them in lines it does not change")
	}
	return strings.Join(notes, "; ")
}

// sum identifies what the page shows.
func (p page) sum() sum {
	return sha256.Sum256(fmt.Append(nil, p.total, p.more, p.next, p.text))
}

// readPage reads the lines of a window and counts the rest.
func readPage(r io.Reader, w window) (page, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	var p page
	var out strings.Builder
	chars, read := 0, 0
	for n := 1; ; n++ {
		open := !p.more && n >= w.offset && p.shown < w.limit
		keep := 0
		if open {
			keep = w.maxLine*utf8.UTFMax + 4
		}
		line, size, err := nextLine(in, keep)
		if err != nil && !errors.Is(err, io.EOF) {
			return p, err
		}
		if size == 0 {
			break
		}
		p.total = n
		read += size
		if n >= w.offset && !open {
			p.more = true
			if read > maxCounted {
				p.total = 0
				p.text = out.String()
				return p.withNext(w), nil
			}
			continue
		}
		if !open {
			continue
		}
		shown := p.form(line, size, n, w.maxLine)
		width := utf8.RuneCountInString(shown)
		if p.shown > 0 && chars+width > w.maxChars {
			p.more = true
			continue
		}
		chars += width
		out.WriteString(shown)
		p.shown++
	}
	p.counted = true
	p.text = out.String()
	return p.withNext(w), nil
}

func (p page) withNext(w window) page {
	if p.more {
		p.next = w.offset + p.shown
	}
	return p
}

// nextLine reads one line and returns at most keep bytes of it, and its full
// size. A size of 0 means that there are no more lines.
func nextLine(in *bufio.Reader, keep int) (line []byte, size int, err error) {
	for {
		part, err := in.ReadSlice('\n')
		size += len(part)
		if free := keep - len(line); free > 0 {
			line = append(line, part[:min(free, len(part))]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, size, err
		}
	}
}

// form formats a line for the result: numbered, valid, without its line break.
func (p *page) form(line []byte, size, n, maxLine int) string {
	whole := size == len(line)
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
	if n == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	if !whole {
		line = line[:len(line)-partialRune(line)]
	}
	text := string(line)
	if !utf8.ValidString(text) {
		p.invalid = true
		text = replaceInvalid(text)
	}
	if cut, ok := firstRunes(text, maxLine); ok || !whole {
		p.cut++
		text = cut + "… [line cut]"
	}
	return strconv.Itoa(n) + "|" + text + "\n"
}

// replaceInvalid shows each byte that is not UTF-8 as one replacement
// character, so that a quotation of the line can be matched with the file.
func replaceInvalid(s string) string {
	var out strings.Builder
	for _, r := range s {
		out.WriteRune(r)
	}
	return out.String()
}

// partialRune returns how many bytes at the end are an incomplete character.
func partialRune(b []byte) int {
	for n := 1; n <= min(3, len(b)); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// firstRunes cuts s after n characters and reports whether there were more.
func firstRunes(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	for i := range s {
		if n == 0 {
			return s[:i], true
		}
		n--
	}
	return s, false
}

// A number is a lenient integer argument: a value that is not a number counts
// as not given.
type number int

const junk = number(math.MinInt)

// UnmarshalJSON reads a JSON number or a string that holds one.
func (n *number) UnmarshalJSON(data []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(data), `" `), 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > math.MaxInt32 {
		*n = junk
		return nil
	}
	*n = number(f)
	return nil
}

// within returns the number clamped to low and high, or def if there is none.
func (n *number) within(def, low, high int) int {
	if n == nil || *n == junk {
		return def
	}
	return min(max(int(*n), low), high)
}
