package audit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hermes/internal/order"
	"hermes/internal/text"
)

// Report is what Verify found.
type Report struct {
	Rows        int64
	Files       int
	First, Last int64  // the numbers of the rows; 0 without rows
	MAC         string // the code of the last row
	// Problems are what shows that the record was changed or is damaged, in the order of the record.
	Problems []Problem
	// More counts the problems that are not in the list.
	More int
	// Notes are what explains itself, such as a row that a killed process did not write to its end.
	Notes []Problem
}

// Problem is one finding of Verify.
type Problem struct {
	File  string `json:"file"`
	Line  int    `json:"line,omitempty"` // 0 is the whole file
	Row   int64  `json:"row,omitempty"`  // its number; 0 if that is not known
	What  string `json:"what"`
	Means string `json:"means"`
}

// Anchor is the number and the code of a row that the user has kept outside of the home.
type Anchor struct {
	Seq int64
	MAC string
}

// ParseAnchor reads an anchor as [Anchor.String] writes it.
func ParseAnchor(s string) (Anchor, error) {
	number, mac, ok := strings.Cut(s, ":")
	n, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || n < 1 || len(mac) != codeSize {
		return Anchor{}, fmt.Errorf("%q is not an anchor; it is NUMBER:CODE as `hermes audit head` prints it", s)
	}
	return Anchor{n, mac}, nil
}

func (a Anchor) String() string { return fmt.Sprintf("%d:%s", a.Seq, a.MAC) }

// maxProblems bounds the list of a report.
const maxProblems = 100

// Verify reads the whole record and finds every byte that is not as it was written, rows
// that are missing, added or in another order, and anchors that do not fit. It changes
// nothing and needs no writer. An error means that the record could not be read.
func (l *Log) Verify(ctx context.Context, anchors ...Anchor) (Report, error) {
	r := Report{}
	shot, err := l.snapshot(ctx)
	if err != nil {
		return r, plain(err)
	}
	c := &checker{report: &r, shot: shot, anchors: slices.Clone(anchors), in: newLines(nil, 0), rest: newRegion()}
	c.keys, err = readKey(l.o.Key)
	for _, p := range shot.strange {
		c.problem(p)
	}
	for _, name := range shot.others {
		c.note(Problem{File: name, What: "this file is not of the record", Means: "Something else made it. Nothing reads it."})
	}
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing && len(shot.files) == 0 && shot.head == nil:
		c.lateAnchors()
		return r, nil // nothing was recorded yet
	case missing:
		c.problem(Problem{File: filepath.Base(l.o.Key), What: "the key is missing", Means: "Nothing can be checked. Restore the key from a backup."})
		return r, nil
	case err != nil && errors.Is(err, errKey):
		c.problem(Problem{File: filepath.Base(l.o.Key), What: "this is not a key", Means: "The key was changed, so that nothing can be checked. Restore it from a backup."})
		return r, nil
	case err != nil:
		return r, plain(err)
	case len(shot.files) == 0 && shot.head == nil:
		c.problem(Problem{File: filepath.Base(l.o.Folder), What: "there is a key, but no record", Means: "All rows were removed, unless the very first row could not be written."})
	}
	for _, f := range shot.files {
		if err := c.file(ctx, l.path(fileName(f.number)), f); err != nil {
			return r, plain(err)
		}
	}
	c.end()
	return r, nil
}

// Head returns the anchor of the last row; false if there is none, or the head is damaged.
func (l *Log) Head(ctx context.Context) (Anchor, bool, error) {
	shot, err := l.snapshot(ctx)
	if i := slices.IndexFunc(shot.strange, func(p Problem) bool { return p.File == headName }); err == nil && i >= 0 {
		err = fmt.Errorf("%s %w", l.path(headName), errIrregular)
	}
	if err != nil || shot.head == nil {
		return Anchor{}, false, plain(err)
	}
	k, err := l.readerKey()
	if err != nil {
		return Anchor{}, false, err
	}
	h, ok := readHead(k, shot.head)
	return Anchor{h.Seq, h.MAC}, ok, nil
}

// snapshot is the record at one moment.
type snapshot struct {
	head   []byte // nil without one
	files  []sized
	locked bool // no row was being written at that moment
	// strange are files that no record has, or that are no regular ones; others have names that
	// no record uses.
	strange []Problem
	others  []string
}

type sized struct {
	number, size int64
	last         bool
}

// snapshot looks at the record while no row is written, if it can be locked.
func (l *Log) snapshot(ctx context.Context) (shot snapshot, err error) {
	if lock, err := openRegular(l.path(lockName), os.O_RDONLY, 0); err == nil {
		defer lock.Close()
		if wait(ctx, lock, l.o.Wait) == nil {
			defer unlockFile(lock)
			shot.locked = true
		}
	}
	if f, err := openRegular(l.path(headName), os.O_RDONLY, 0); err == nil {
		shot.head, err = io.ReadAll(io.LimitReader(f, int64(headSize)+1))
		f.Close()
		if err != nil {
			return shot, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errIrregular) {
		return shot, err
	}
	entries, err := os.ReadDir(l.o.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return shot, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return shot, err
		}
		n := fileNumber(e.Name())
		ours := n > 0 || slices.Contains([]string{headName, lockName, nextName}, e.Name())
		switch {
		case ours && !info.Mode().IsRegular():
			shot.strange = append(shot.strange, Problem{File: e.Name(), What: "this is not a regular file", Means: "It is " + kindOf(info.Mode()) + " in the place of a file of the record, or was added."})
		case n > 0:
			shot.files = append(shot.files, sized{number: n, size: info.Size()})
		case !ours && strings.HasSuffix(e.Name(), suffix):
			shot.strange = append(shot.strange, Problem{File: e.Name(), What: "no file of the record has this name", Means: "It was added, or a file was renamed."})
		case !ours:
			shot.others = append(shot.others, e.Name())
		}
	}
	order.By(shot.files, func(a, b sized) int { return cmp.Compare(a.number, b.number) })
	if len(shot.files) > 0 {
		shot.files[len(shot.files)-1].last = true
	}
	return shot, nil
}

// kindOf says what a file is that is not a regular one.
func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a link"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m.IsDir():
		return "a folder"
	}
	return "a device or a socket"
}

// checker reads a record from its first row to its last.
type checker struct {
	keys    *keys
	report  *Report
	shot    snapshot
	anchors []Anchor
	in      *lines // of the file that is read

	first  Row    // that was read
	seq    int64  // of the row before
	mac    string // its code
	at     head   // where that row ends
	pruned []Span // files that were removed
	rest   *region
	restAt Problem // where it begins
	sound  bool    // it may be the beginning of a row
	headed bool    // the row that the head names is where it says
	head   head
	known  bool // the head is as it was written
}

func (c *checker) problem(p Problem) {
	if len(c.report.Problems) == maxProblems {
		c.report.More++
		return
	}
	c.report.Problems = append(c.report.Problems, p)
}

func (c *checker) note(p Problem) {
	if len(c.report.Notes) < maxProblems {
		c.report.Notes = append(c.report.Notes, p)
	}
}

// file checks one file, in the order of their numbers.
func (c *checker) file(ctx context.Context, path string, s sized) error {
	if c.head.MAC == "" {
		c.head, c.known = readHead(c.keys, c.shot.head)
	}
	c.report.Files++
	f, err := openRegular(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	name, rows := filepath.Base(path), 0
	in := c.in
	for in.again(io.LimitReader(f, s.size)); ; {
		data, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
		r, err := c.keys.row(data)
		if err != nil {
			c.strange(name, in.line, data)
			continue
		}
		r.File, r.Line = name, in.line
		if first := rows == 0 && c.rest.bytes == 0; first != (r.Kind == KindFile) || r.Kind == KindFile && (r.Span == nil || r.Span.File != s.number) {
			c.problem(Problem{name, in.line, r.Seq, "a row is in another file than it was written to, or at another place in it", "Rows were moved between files, or a file was renamed."})
		}
		rows++
		c.row(r)
		c.at = head{File: s.number, Size: in.offset, Seq: c.seq, MAC: c.mac}
		if c.at == c.head {
			c.headed = true
		}
	}
	if rows == 0 && c.rest.bytes == 0 {
		c.problem(Problem{File: name, What: "the file is empty", Means: "Its rows were removed, or the file was added."})
	}
	if c.rest.bytes > 0 && (!s.last || !c.sound || c.known && c.head.Seq > c.seq) {
		c.changed()
	}
	return nil
}

// strange takes bytes that are no row.
func (c *checker) strange(file string, line int, data []byte) {
	if c.rest.bytes == 0 {
		c.restAt, c.sound = Problem{File: file, Line: line}, true
	}
	// A row that was not written to its end is no whole one, and has the next number.
	began := fmt.Sprintf(`{"seq":%d,"time":"`, c.seq+1)
	text := strings.TrimSuffix(string(data), "\n")
	n := min(len(began), len(text))
	if whole, err := c.keys.row(append(bytes.Clone(data), '\n')); err == nil && whole.Seq == c.seq+1 && whole.Prev == c.mac {
		c.rest.add(data) // only its line break was not written
		return
	}
	if text == "" || text[:n] != began[:n] || strings.HasSuffix(text, strings.TrimSuffix(afterCode, "\n")) || len(text) >= maxLine {
		c.sound = false
	}
	c.rest.add(data)
}

// changed reports the bytes before that are no row.
func (c *checker) changed() {
	p := c.restAt
	p.What = "the bytes of this line do not fit its code"
	p.Means = "The line was changed or added after it was written, or the key was. What it says is not certain."
	c.problem(p)
	c.rest = newRegion()
}

// row takes a row whose own code is right.
func (c *checker) row(r Row) {
	at := Problem{File: r.File, Line: r.Line, Row: r.Seq}
	c.report.Rows++
	if c.rest.bytes > 0 {
		was := c.rest.span()
		if r.Kind == KindTorn && r.Span != nil && *r.Span == *was && c.sound {
			at.What, at.Means = "a row was not written to its end", fmt.Sprintf("A process was killed while it wrote the line before (%d bytes). If that was to be the row of a call, the call did not run.", was.Bytes)
			c.note(at)
			c.rest = newRegion()
		} else {
			c.changed()
		}
	} else if r.Kind == KindTorn {
		at.What, at.Means = "what was before this row is missing", "A part of a row that was not written to its end was removed."
		c.problem(at)
	}
	c.order(r, at)
	for i, a := range c.anchors {
		if a.Seq == r.Seq {
			if a.MAC != r.MAC {
				at.What, at.Means = fmt.Sprintf("row %d is not the one of the anchor", a.Seq), "The record was replaced, or begun again, after the anchor was taken."
				c.problem(at)
			}
			c.anchors = slices.Delete(c.anchors, i, i+1)
			break
		}
	}
	switch r.Kind {
	case KindGap:
		at.What, at.Means = "the record was damaged before this row: "+r.Note, "Rows may be missing here. The rows after it are as they were written."
		c.problem(at)
	case KindPruned:
		if r.Note != "" {
			at.What, at.Means = r.Note, "The record was changed or damaged before old files were removed."
			c.problem(at)
		}
		if r.Span != nil {
			c.pruned = append(c.pruned, *r.Span)
		}
	}
}

// order compares the place of a row with the row before.
func (c *checker) order(r Row, at Problem) {
	switch {
	case c.first.Seq == 0:
		c.first = r
	case r.Seq <= c.seq:
		at.What, at.Means = fmt.Sprintf("row %d comes after row %d", r.Seq, c.seq), "Rows were doubled, moved or put back from a copy."
		c.problem(at)
		return // the rows in order are compared with each other
	case r.Seq > c.seq+1:
		gone := "row " + strconv.FormatInt(c.seq+1, 10)
		if r.Seq > c.seq+2 {
			gone = fmt.Sprintf("rows %d to %d", c.seq+1, r.Seq-1)
		}
		at.What, at.Means = gone+" before this one: missing or changed", "Rows were removed, changed or moved."
		c.problem(at)
	case r.Prev != c.mac:
		at.What, at.Means = fmt.Sprintf("row %d before this one is not the one that it was written after", c.seq), "Rows were put in from another copy of the record."
		c.problem(at)
	}
	c.seq, c.mac = r.Seq, r.MAC
}

// end compares the beginning and the end of the record with what it says of them.
func (c *checker) end() {
	r := c.report
	r.First, r.Last, r.MAC = c.first.Seq, c.seq, c.mac
	if c.report.Files > 0 && c.first.Seq == 0 {
		c.problem(Problem{File: fileName(c.shot.files[0].number), What: "no row fits the key", Means: "The key is of another home, or was changed."})
	}
	if base := c.first.Seq - 1; base > 0 && !slices.ContainsFunc(c.pruned, func(s Span) bool { return s.Last == base && s.MAC == c.first.Prev }) {
		c.problem(Problem{c.first.File, c.first.Line, c.first.Seq, fmt.Sprintf("the record begins with row %d, and no row says that those before were removed as old", c.first.Seq),
			"The oldest rows were removed."})
	}
	c.endHead()
	if c.rest.bytes > 0 {
		p := c.restAt
		p.What, p.Means = "the last line is not complete", "A process was killed while it wrote it, or it was added. The next row will say so."
		c.note(p)
	}
	c.lateAnchors()
}

func (c *checker) endHead() {
	if c.head.MAC == "" {
		c.head, c.known = readHead(c.keys, c.shot.head)
	}
	p := Problem{File: headName}
	ahead := c.seq - c.head.Seq
	switch {
	case c.report.Files == 0 && c.shot.head == nil:
		return // already reported
	case c.shot.head == nil:
		p.What, p.Means = "the file is missing", "It says where the record ends: rows may have been removed at the end."
	case !c.known:
		p.What, p.Means = "its bytes do not fit its code", "It says where the record ends and was changed: rows may have been removed at the end."
	case ahead < 0:
		p.What = fmt.Sprintf("the record ends with row %d, and the last one that was written is row %d", c.seq, c.head.Seq)
		p.Means = text.Plural(-ahead, "row was", "rows were") + " removed or changed at the end."
	case ahead > 1 && c.shot.locked:
		p.What, p.Means = fmt.Sprintf("it names row %d as the last one, and the record has row %d", c.head.Seq, c.seq), "The file head was put back from an older copy."
	case !c.headed && ahead == 0 || !c.headed && c.shot.locked:
		p.What, p.Means = fmt.Sprintf("row %d does not end where it says", c.head.Seq), "Bytes were added or removed, or a file was renamed."
	case ahead > 0:
		p.What, p.Means = "it is one row behind", "A process was killed after it wrote the last row. The next row corrects that."
		c.note(p)
		return
	default:
		return
	}
	c.problem(p)
}

// lateAnchors reports the anchors that no row was compared with.
func (c *checker) lateAnchors() {
	for _, a := range c.anchors {
		p := Problem{File: headName, Row: a.Seq}
		switch {
		case a.Seq > c.seq:
			p.What, p.Means = fmt.Sprintf("the anchor names row %d, and the record ends with row %d", a.Seq, c.seq), "The record was put back from an older copy, or begun again."
		case c.first.Seq > a.Seq:
			p.What, p.Means = fmt.Sprintf("row %d of the anchor was removed as old", a.Seq), "It cannot be compared. Take a new anchor with `hermes audit head`."
			if !slices.ContainsFunc(c.pruned, func(s Span) bool { return s.Last == a.Seq && s.MAC == a.MAC }) {
				break
			}
			c.note(p)
			continue
		default:
			p.What, p.Means = fmt.Sprintf("row %d of the anchor is missing", a.Seq), "It was removed or changed."
		}
		c.problem(p)
	}
}
