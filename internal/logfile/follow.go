package logfile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// maxLine limits what is kept of a line without an end.
const maxLine = 1 << 20

// Follow calls yield for every entry that is written to a log after the offset
// from, until ctx ends, and then returns nil. It reads at each tick. A log that
// was rotated or does not exist yet is not an error.
func Follow(ctx context.Context, folder, name string, from int64, tick <-chan time.Time, yield func(Entry)) error {
	t := tail{path: filepath.Join(folder, name+Suffix), offset: from}
	for {
		if err := t.read(yield); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		}
	}
}

// tail records how far a file was read.
type tail struct {
	path   string
	last   os.FileInfo
	offset int64
	rest   []byte // the beginning of a line
}

func (t *tail) read(yield func(Entry)) error {
	f, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if t.last != nil && !os.SameFile(t.last, info) {
		t.finish(yield)
	}
	if info.Size() < t.offset {
		t.offset, t.rest = 0, nil
	}
	t.last = info
	src, err := io.ReadAll(io.NewSectionReader(f, t.offset, info.Size()-t.offset))
	if err != nil {
		return err
	}
	t.offset += int64(len(src))
	t.lines(src, yield)
	return nil
}

// finish reads the rest of the file that was rotated.
func (t *tail) finish(yield func(Entry)) {
	if old, err := os.Open(t.path + ".1"); err == nil {
		defer old.Close()
		if info, err := old.Stat(); err == nil && os.SameFile(info, t.last) && info.Size() > t.offset {
			src, _ := io.ReadAll(io.NewSectionReader(old, t.offset, info.Size()-t.offset))
			t.lines(src, yield)
		}
	}
	t.offset, t.rest = 0, nil
}

func (t *tail) lines(src []byte, yield func(Entry)) {
	t.rest = append(t.rest, src...)
	for {
		line, after, found := bytes.Cut(t.rest, []byte("\n"))
		if !found {
			break
		}
		if len(line) > 0 {
			yield(Parse(string(line)))
		}
		t.rest = after
	}
	t.rest = bytes.Clone(t.rest[:min(len(t.rest), maxLine)])
}
