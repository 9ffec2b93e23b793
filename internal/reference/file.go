package reference

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"hermes/internal/text"
)

// maxReferenced is how much of a file is attached, in bytes.
const maxReferenced = 2 << 20

var errNotText = errors.New("it is not a text file and is not attached")

// file returns lines of a text file, all if from is 0.
func (s Sources) file(ctx context.Context, path string, from, to int) (Page, error) {
	real, err := s.resolve(ctx, path)
	if err != nil {
		return Page{}, err
	}
	f, st, err := s.disk().open(ctx, real)
	if err != nil {
		return Page{}, err
	}
	defer f.Close()
	switch {
	case st.IsDir():
		return Page{}, fmt.Errorf("it is a folder; write @folder:%s", path)
	case !st.Mode().IsRegular():
		return Page{}, errors.New("it is not a regular file")
	}
	page, err := readLines(ctx, f, max(from, 1), to)
	if err != nil {
		return Page{}, err
	}
	page.Text = s.Mask(page.Text)
	return page, nil
}

// readLines reads the lines from "from" to "to", counted from 1; 0 is no end. The
// note says what is missing.
func readLines(ctx context.Context, f io.Reader, from, to int) (Page, error) {
	in := bufio.NewReaderSize(f, 64<<10)
	var out bytes.Buffer
	line, begun := 1, false // the line that is being read, and whether it has text
	for to == 0 || line <= to {
		if ctx.Err() != nil {
			return Page{}, context.Cause(ctx)
		}
		piece, err := in.ReadSlice('\n')
		if bytes.IndexByte(piece, 0) >= 0 {
			return Page{}, errNotText
		}
		if line >= from {
			out.Write(piece)
		}
		if out.Len() > maxReferenced {
			return firstBytes(out.Bytes())
		}
		begun = begun || len(piece) > 0
		switch {
		case err == nil:
			line, begun = line+1, false
		case errors.Is(err, io.EOF):
			last := line
			if !begun {
				last--
			}
			return wholeLines(out.Bytes(), from, to, last)
		case !errors.Is(err, bufio.ErrBufferFull):
			return Page{}, err
		}
	}
	return wholeLines(out.Bytes(), from, to, line)
}

// wholeLines makes a page of lines of a file. last is the last line that was read.
func wholeLines(raw []byte, from, to, last int) (Page, error) {
	if !utf8.Valid(raw) {
		return Page{}, errNotText
	}
	page := Page{Text: string(raw)}
	switch {
	case last < from && last > 0:
		return Page{}, fmt.Errorf("it has %s, so there is nothing at line %d", text.Plural(last, "line", "lines"), from)
	case last < to:
		page.Note = fmt.Sprintf("it ends at line %d", last)
	}
	return page, nil
}

// firstBytes makes a page of the beginning of a long text.
func firstBytes(raw []byte) (Page, error) {
	raw = raw[:maxReferenced]
	if i := bytes.LastIndexByte(raw, '\n'); i >= 0 {
		raw = raw[:i+1]
	}
	return Page{
		Text: strings.ToValidUTF8(string(raw), ""),
		Note: "only its first 2.0 MB are attached; name lines to attach another part, as in path:5000-6000",
	}, nil
}
