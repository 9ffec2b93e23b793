package audit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// lines reads a file line by line.
type lines struct {
	r      *bufio.Reader
	line   int   // the number of the line that next returned, from 1
	offset int64 // after it
	inside bool  // next returned a part of a line, and not its end
}

// again makes the reader one of another file.
func (l *lines) again(r io.Reader) {
	l.r.Reset(r)
	l.line, l.offset, l.inside = 0, 0, false
}

func newLines(r io.Reader, offset int64) *lines {
	return &lines{r: bufio.NewReaderSize(r, maxLine), offset: offset}
}

// next returns the next line with its line break. What is too long for a line comes in
// several parts, and the last line may lack the break. At the end the error is io.EOF. The
// bytes are valid until the next call.
func (l *lines) next() ([]byte, error) {
	data, err := l.r.ReadSlice('\n')
	if len(data) == 0 {
		return nil, err
	}
	if !l.inside {
		l.line++
	}
	l.inside = errors.Is(err, bufio.ErrBufferFull)
	l.offset += int64(len(data))
	if l.inside || errors.Is(err, io.EOF) {
		err = nil
	}
	return data, err
}

// numbers lists the numbers of the files of a record, ascending. A missing folder has none.
func numbers(folder string) ([]int64, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []int64
	for _, e := range entries {
		if n := fileNumber(e.Name()); n > 0 {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, nil
}

// Filter says which rows to read; empty fields match everything.
type Filter struct {
	Session      string // or its beginning
	Tool         string
	Kinds        []Kind
	Since, Until time.Time // Since is included, Until is not
}

// Match reports whether a row fits.
func (f Filter) Match(r Row) bool {
	return strings.HasPrefix(r.Session, f.Session) && (f.Tool == "" || r.Tool == f.Tool) && (len(f.Kinds) == 0 || slices.Contains(f.Kinds, r.Kind)) &&
		(f.Since.IsZero() || !r.Time.Before(f.Since)) && (f.Until.IsZero() || r.Time.Before(f.Until))
}

// LineError is a line that is not as it was written. What else it may have is found by
// [Log.Verify].
type LineError struct {
	File string
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

// Rows yields the rows that fit, oldest first. It needs neither a lock nor a running writer.
// A line that is not as it was written, and that no row says a killed process wrote, gives a [*LineError] with no row, and the next rows follow; any
// other error is the last. Rows are only yielded if their own code is right; that none is
// missing is found by [Log.Verify].
func (l *Log) Rows(ctx context.Context, f Filter) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		all, err := numbers(l.o.Folder)
		if err == nil && len(all) == 0 {
			return
		}
		var k *keys
		if err == nil {
			k, err = l.readerKey()
		}
		if err != nil {
			yield(Row{}, plain(err))
			return
		}
		for _, n := range all {
			if !l.rowsOf(ctx, k, n, f, yield) {
				return
			}
		}
	}
}

// Last returns the newest rows that fit, at most n, oldest first, and what else Rows
// gives for their files.
func (l *Log) Last(ctx context.Context, f Filter, n int) (rows []Row, damaged []*LineError, err error) {
	all, err := numbers(l.o.Folder)
	if err != nil || len(all) == 0 || n <= 0 {
		return nil, nil, plain(err)
	}
	k, err := l.readerKey()
	if err != nil {
		return nil, nil, err
	}
	for _, number := range slices.Backward(all) {
		var older []Row
		l.rowsOf(ctx, k, number, f, func(r Row, e error) bool {
			line, isLine := errors.AsType[*LineError](e)
			switch {
			case isLine:
				damaged = append(damaged, line)
			case e != nil:
				err = e
				return false
			default:
				if older = append(older, r); len(older) > 2*n {
					older = slices.Clone(older[len(older)-n:])
				}
			}
			return true
		})
		if err != nil {
			return nil, nil, err
		}
		rows = append(older, rows...)
		if len(rows) >= n {
			break
		}
	}
	return rows[max(0, len(rows)-n):], damaged, nil
}

// readerKey is the key for those who only read.
func (l *Log) readerKey() (*keys, error) {
	k, err := readKey(l.o.Key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the key %s is missing, so that nothing in %s can be checked; restore it from a backup", l.o.Key, l.o.Folder)
	}
	return k, plain(err)
}

// rowsOf yields the rows of one file and reports whether to go on.
func (l *Log) rowsOf(ctx context.Context, k *keys, number int64, f Filter, yield func(Row, error) bool) bool {
	file, err := openRegular(l.path(fileName(number)), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return true // removed meanwhile
	}
	if err != nil {
		return yield(Row{}, plain(err)) && false
	}
	defer file.Close()
	name := filepath.Base(file.Name())
	rest, strange := newRegion(), []*LineError(nil) // since the last row
	tell := func() bool {
		for _, e := range strange {
			if !yield(Row{}, e) {
				return false
			}
		}
		if rest.bytes > 0 {
			rest, strange = newRegion(), nil
		}
		return true
	}
	for in := newLines(file, 0); ; {
		data, err := in.next()
		if errors.Is(err, io.EOF) {
			return tell()
		}
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return yield(Row{}, plain(err)) && false
		}
		if data[len(data)-1] != '\n' && !in.inside {
			return tell() // it is being written, or was not written to its end
		}
		r, err := k.row(data)
		if err != nil {
			rest.add(data)
			if len(strange) < maxProblems {
				strange = append(strange, &LineError{name, in.line, err})
			}
			continue
		}
		if r.Kind == KindTorn && r.Span != nil && rest.bytes > 0 && *r.Span == *rest.span() {
			rest, strange = newRegion(), nil // a killed process wrote it, as this row says
		}
		if !tell() {
			return false
		}
		r.File, r.Line = name, in.line
		if f.Match(r) && !yield(r, nil) {
			return false
		}
	}
}
