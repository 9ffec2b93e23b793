package search

import (
	"bytes"
	"context"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	// chunk is how much of a file is searched at once.
	chunk = 256 << 10
	// maxLine bounds a line that spans chunks. A file with a longer one is not
	// text and is skipped.
	maxLine = 8 << 20
	// sniffed is how much of a file decides whether it is binary.
	sniffed = 8 << 10
	// shownLine bounds the bytes of a line that are kept.
	shownLine = 500
)

// A worker searches one file after another, reusing its buffer.
type worker struct {
	query *Query
	found *collector
	buf   []byte
}

func newWorker(q *Query, c *collector) *worker { return &worker{query: q, found: c} }

// entry searches a file of a folder, or finds it by its name. rel is its path below the
// root, with slashes.
func (w *worker) entry(ctx context.Context, at place, rel string) {
	if w.query.Lines != nil {
		w.file(ctx, at, rel)
		return
	}
	if !w.wanted(at, rel) {
		return
	}
	w.found.add(File{Path: at.path, ModTime: at.in.modTime(at.name)})
}

// wanted reports whether a file is part of the query.
func (w *worker) wanted(at place, rel string) bool {
	if !w.query.Name.Match(rel) {
		return false
	}
	if w.query.Omit != nil && w.query.Omit(at.path) {
		w.found.omit()
		return false
	}
	return true
}

// file searches one regular file. A file that became something else is not read.
func (w *worker) file(ctx context.Context, at place, rel string) {
	if !w.wanted(at, rel) {
		return
	}
	f, info, err := at.in.open(at.name)
	if err != nil {
		w.found.denied()
		return
	}
	defer f.Close()
	hits := File{Path: at.path, Matches: 1}
	if w.query.Lines != nil {
		hits = w.scan(ctx, f, at.path)
	}
	if hits.ModTime = info.ModTime(); hits.Matches > 0 {
		if w.query.Lines == nil {
			hits.Matches = 0
		}
		w.found.add(hits)
	}
}

// scan searches a file chunk by chunk. Each chunk ends with a whole line.
func (w *worker) scan(ctx context.Context, r io.Reader, path string) File {
	if w.buf == nil {
		w.buf = make([]byte, chunk)
	}
	s := scanner{File: File{Path: path}, query: w.query, line: 1}
	held := 0 // bytes at the start of buf whose line is incomplete
	for first := true; ; first = false {
		if held == len(w.buf) {
			if held >= maxLine {
				return File{}
			}
			w.buf = append(w.buf, make([]byte, len(w.buf))...)
		}
		n, err := io.ReadFull(r, w.buf[held:])
		text := w.buf[:held+n]
		if first && bytes.IndexByte(text[:min(len(text), sniffed)], 0) >= 0 {
			return File{}
		}
		whole := len(text)
		if err == nil {
			whole = bytes.LastIndexByte(text, '\n') + 1
		}
		s.chunk(text[:whole])
		if err != nil || ctx.Err() != nil {
			return s.File
		}
		held = copy(w.buf, text[whole:])
	}
}

// A scanner carries the state of a file from chunk to chunk.
type scanner struct {
	File
	query *Query
	line  int      // number of the first line of the next chunk
	last  []string // last lines of the previous chunk, for context
}

func (s *scanner) chunk(text []byte) {
	if len(text) == 0 {
		return
	}
	counted, number := 0, s.line
	s.query.Lines.lines(text, func(start, end, at int) bool {
		s.Matches++
		if s.query.CountOnly || len(s.Lines) >= s.query.MaxLines {
			return true
		}
		number += bytes.Count(text[counted:start], []byte{'\n'})
		counted = start
		line := Line{Number: number, Text: window(text[start:end], at)}
		if n := s.query.Context; n > 0 {
			line.Before = s.before(text[:start], n)
			line.After = after(text[end:], n)
		}
		s.Lines = append(s.Lines, line)
		return true
	})
	s.line = number + bytes.Count(text[counted:], []byte{'\n'})
	if s.query.Context > 0 {
		s.last = s.before(text, s.query.Context)
	}
}

// before returns the last n lines of text, including those of earlier chunks.
func (s *scanner) before(text []byte, n int) []string {
	var list []string
	text = bytes.TrimSuffix(text, []byte{'\n'})
	for len(text) > 0 && len(list) < n {
		i := bytes.LastIndexByte(text, '\n')
		list = append(list, window(bytes.TrimSuffix(text[i+1:], []byte{'\r'}), 0))
		text = text[:max(i, 0)]
	}
	for i := len(s.last) - 1; i >= 0 && len(list) < n; i-- {
		list = append(list, s.last[i])
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// after returns the n lines that follow. text begins at a line's end. Lines
// beyond the chunk are not read.
func after(text []byte, n int) []string {
	var list []string
	_, text, _ = bytes.Cut(text, []byte{'\n'})
	for len(text) > 0 && len(list) < n {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte{'\n'})
		list = append(list, window(bytes.TrimSuffix(line, []byte{'\r'}), 0))
	}
	return list
}

// window returns a line as text. A long line is cut to the part around byte at,
// with the cuts marked.
func window(line []byte, at int) string {
	if len(line) <= shownLine {
		return strings.ToValidUTF8(string(line), "\ufffd")
	}
	from := max(0, min(at-shownLine/4, len(line)-shownLine))
	to := from + shownLine
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	for to < len(line) && !utf8.RuneStart(line[to]) {
		to--
	}
	text := strings.ToValidUTF8(string(line[from:to]), "\ufffd")
	if from > 0 {
		text = "…" + text
	}
	if to < len(line) {
		text += "…"
	}
	return text
}
