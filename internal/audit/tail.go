package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
)

// load finds the end of the record and opens it for writing. It is called with the lock.
func (l *Log) load() error {
	_ = l.tail.close() // its files were written without a buffer
	all, err := numbers(l.o.Folder)
	if err != nil {
		return err
	}
	headFile, err := openRegular(l.path(headName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	t := &l.tail
	t.headFile = headFile
	content, err := io.ReadAll(io.LimitReader(headFile, int64(headSize)+1))
	if err != nil {
		return err
	}
	old := false // the key was there before
	if l.keys, old, err = l.findKey(len(all) > 0 || len(content) > 0); err != nil {
		return err
	}
	known := false
	t.head, known = readHead(l.keys, content)
	switch {
	case known:
		err = l.after(all)
	case len(all) == 0 && len(content) == 0:
		t.head = head{MAC: noCode}
		if old && !l.made {
			t.gap = "there was a key, but no record: all rows were removed, or the first one could not be written"
		}
		l.made = l.made || !old
	default:
		t.gap = "the file head was missing or changed, so that it is not known whether rows were removed after row %d"
		err = l.lastRow(all)
		t.gap = fmt.Sprintf(t.gap, t.Seq)
	}
	if err != nil {
		return err
	}
	if len(all) > 0 { // a new file gets a number that no file has
		t.File = max(t.File, all[len(all)-1])
	}
	if err := headFile.Truncate(int64(len(content[:min(len(content), headSize)]))); err != nil {
		return err
	}
	if t.headInfo, err = headFile.Stat(); err != nil {
		return err
	}
	if t.File > 0 && t.gap == "" {
		if err := l.openFile(); err != nil {
			return err
		}
	}
	l.fresh = true // the row that follows writes the head
	return nil
}

// openFile opens the file that the tail names, to add to it.
func (l *Log) openFile() (err error) {
	t := &l.tail
	if t.file != nil {
		if err := t.file.Close(); err != nil {
			return err
		}
	}
	if t.file, err = openRegular(l.path(fileName(t.File)), os.O_RDWR|os.O_APPEND, 0); err != nil {
		return err
	}
	if t.info, err = t.file.Stat(); err != nil || l.o.Keep == 0 {
		return err
	}
	r, err := l.firstRow(t.File)
	t.began = r.Time.Unix()
	return err
}

// firstRow is the first row of a file, the zero one if that is damaged.
func (l *Log) firstRow(number int64) (Row, error) {
	f, err := openRegular(l.path(fileName(number)), os.O_RDONLY, 0)
	if err != nil {
		return Row{}, err
	}
	defer f.Close()
	data, err := newLines(f, 0).next()
	if err != nil && !errors.Is(err, io.EOF) {
		return Row{}, err
	}
	r, err := l.keys.row(data)
	if err != nil {
		return Row{}, nil
	}
	return r, nil
}

// after goes on from the head to the last row. A process that was killed may have written a
// row, or a part of one, without the head.
func (l *Log) after(all []int64) error {
	t := &l.tail
	if t.File > 0 && !slices.Contains(all, t.File) {
		t.gap = fmt.Sprintf("%s was missing: it had row %d", fileName(t.File), t.Seq)
		return nil
	}
	from := t.head
	for _, number := range all {
		if number < from.File {
			continue
		}
		if t.torn != nil { // it is not at the end
			t.gap = fmt.Sprintf("%s has %d bytes that are no row after row %d, and is not the last file", fileName(t.File), t.torn.Bytes, t.Seq)
			return nil
		}
		start := int64(0)
		if number == from.File {
			start = from.Size
		}
		if err := l.afterIn(number, start); err != nil || t.gap != "" {
			return err
		}
	}
	if len(all) > 0 && all[len(all)-1] != t.File {
		t.gap = fmt.Sprintf("%s has no row", fileName(all[len(all)-1]))
	}
	return nil
}

func (l *Log) afterIn(number, start int64) error {
	t := &l.tail
	f, err := openRegular(l.path(fileName(number)), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < start {
		t.gap = fmt.Sprintf("%s was cut: it had %d bytes with row %d, and has %d", fileName(number), start, t.Seq, info.Size())
		return nil
	}
	if start > 0 && !l.ends(f, start) { // what follows would be on its line
		t.gap = fmt.Sprintf("row %d in %s was changed", t.Seq, fileName(number))
		return nil
	}
	if _, err := f.Seek(start, io.SeekStart); err != nil {
		return err
	}
	rest := newRegion()
	for in := newLines(f, start); ; {
		data, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		r, err := l.keys.row(data)
		if err != nil && data[len(data)-1] != '\n' && rest.bytes == 0 { // only the line break may be missing
			whole := append(bytes.Clone(data), '\n')
			if r, err = l.keys.row(whole); err == nil && r.Seq == t.Seq+1 && r.Prev == t.MAC {
				if _, err := f.Write([]byte("\n")); err != nil {
					return err
				}
				in.offset++
			}
		}
		if err != nil || r.Seq != t.Seq+1 || r.Prev != t.MAC {
			rest.add(data)
			continue
		}
		t.head = head{File: number, Size: in.offset, Seq: r.Seq, MAC: r.MAC}
		rest = newRegion()
	}
	if rest.bytes > 0 {
		if number != t.File {
			t.gap = fmt.Sprintf("%s begins with bytes that are no row", fileName(number))
			return nil
		}
		t.torn, t.tornEnded = rest.span(), rest.ended
		t.tornHash = rest.hash
	}
	return nil
}

// ends reports whether the row that the head names ends at an offset of a file.
func (l *Log) ends(f *os.File, offset int64) bool {
	from := max(0, offset-maxLine)
	last := make([]byte, offset-from)
	if _, err := f.ReadAt(last, from); err != nil {
		return false
	}
	r, err := l.keys.row(last[1+bytes.LastIndexByte(last[:len(last)-1], '\n'):])
	return err == nil && r.Seq == l.tail.Seq && r.MAC == l.tail.MAC
}

// lastRow finds the last row without the head.
func (l *Log) lastRow(all []int64) error {
	t := &l.tail
	t.head = head{MAC: noCode}
	for _, number := range slices.Backward(all) {
		err := l.each(number, func(in *lines, _ []byte, r Row, err error) bool {
			if err == nil && r.Seq > t.Seq {
				t.head = head{File: number, Size: in.offset, Seq: r.Seq, MAC: r.MAC}
			}
			return true
		})
		if err != nil || t.Seq > 0 {
			return err
		}
	}
	return nil
}

// each calls f for each line of a file, with the error of those that are no row, until f returns false.
func (l *Log) each(number int64, f func(in *lines, data []byte, r Row, err error) bool) error {
	file, err := openRegular(l.path(fileName(number)), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	for in := newLines(file, 0); ; {
		data, err := in.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		r, err := l.keys.row(data)
		if !f(in, data, r, err) {
			return nil
		}
	}
}

// region is bytes between two rows, or after the last one, that are no row.
type region struct {
	bytes int64
	ended bool // the last one is a line break
	hash  hash.Hash
}

func newRegion() *region { return &region{hash: sha256.New()} }

func (g *region) add(data []byte) {
	g.bytes += int64(len(data))
	g.hash.Write(data)
	g.ended = data[len(data)-1] == '\n'
}

func (g *region) span() *Span {
	return &Span{Bytes: g.bytes, Hash: hex.EncodeToString(g.hash.Sum(nil))}
}
