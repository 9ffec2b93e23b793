package audit

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// day is how old a file gets at most where old files are removed, so that its newest
// rows do not keep the oldest ones for long.
const day = 24 * 60 * 60

// rotate makes the end of the record ready for a row: it says what was found there, and begins
// a new file where that is due.
func (l *Log) rotate() error {
	t := &l.tail
	if gap := t.gap; gap != "" {
		if err := l.begin(); err != nil {
			return err
		}
		t.gap = ""
		l.o.Log.Error("the audit log was damaged", "what", gap)
		if err := l.put(Row{Kind: KindGap, Note: gap}, nil); err != nil {
			return err
		}
	}
	if t.torn != nil {
		if err := l.close(); err != nil {
			return err
		}
	}
	now := l.o.Now().Unix()
	due := t.File == 0 || t.Size >= l.o.FileSize || l.o.Keep > 0 && now-t.began >= day
	if due {
		if _, err := os.Lstat(l.path(fileName(t.File + 1))); err == nil { // no process of this home made it
			if err := l.load(); err != nil {
				return err
			}
			if t.gap != "" {
				return l.rotate()
			}
		}
		if err := l.begin(); err != nil {
			return err
		}
	}
	if due || !l.pruned {
		l.pruned = true
		return l.prune()
	}
	return nil
}

// close writes after bytes that are no row what they are.
func (l *Log) close() error {
	t := &l.tail
	span, before := t.torn, []byte(nil)
	if !t.tornEnded {
		before = []byte("\n")
		t.tornHash.Write(before)
		span = &Span{Bytes: span.Bytes + 1, Hash: hex.EncodeToString(t.tornHash.Sum(nil))}
	}
	t.Size += t.torn.Bytes
	t.torn = nil
	return l.put(Row{Kind: KindTorn, Span: span, Note: "a process ended while it wrote a row"}, before)
}

// begin begins the next file. Its first row says which one it is. The file gets its name
// when it has that row, so that no file begins with a part of one.
func (l *Log) begin() error {
	t := &l.tail
	next := l.path(nextName)
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a killed process
		return err
	}
	f, err := os.OpenFile(next, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	number := t.File + 1
	now := l.o.Now().UTC().Round(0)
	line, mac, err := l.keys.line(Row{Seq: t.Seq + 1, Prev: t.MAC, Time: now, Kind: KindFile, Span: &Span{File: number}})
	if err == nil {
		_, err = f.Write(line)
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	if err := os.Rename(next, l.path(fileName(number))); err != nil {
		return err
	}
	t.head = head{File: number, Size: int64(len(line)), Seq: t.Seq + 1, MAC: mac}
	if err := l.openFile(); err != nil {
		return err
	}
	t.began = now.Unix()
	return t.writeHead(l.keys)
}

// prune removes the oldest files that are too many or too old. A row about each stays: it
// has the number and the code of the last row that is gone, which the next file begins after, and
// what was wrong: that stays in the record, also when the row itself is removed as old.
func (l *Log) prune() error {
	if l.o.Quota <= 0 && l.o.Keep <= 0 {
		return nil
	}
	all, err := numbers(l.o.Folder)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(n int64) bool { return n >= l.tail.File })
	total := l.tail.Size
	infos := make([]os.FileInfo, len(all))
	for i, n := range all {
		if infos[i], err = os.Stat(l.path(fileName(n))); err != nil {
			return err
		}
		total += infos[i].Size()
	}
	var before *Span // of the file that was removed before
	for i, n := range all {
		over := l.o.Quota > 0 && total > l.o.Quota
		old := l.o.Keep > 0 && l.o.Now().Sub(infos[i].ModTime()) > l.o.Keep
		if !over && !old {
			return nil
		}
		gone, err := l.summary(n)
		if err != nil {
			return err
		}
		if !over && l.o.Now().Sub(gone.at) <= l.o.Keep {
			return nil
		}
		follows, err := l.follows(gone.first, before, all[i:])
		if err != nil {
			return err
		}
		if !follows {
			gone.found = append([]string{fmt.Sprintf("rows before row %d in %s were missing when it was removed", gone.first.Seq, fileName(n))}, gone.found...)
		}
		if err := l.put(Row{Kind: KindPruned, Span: &gone.Span, Note: gone.note()}, nil); err != nil {
			return err
		}
		if err := os.Remove(l.path(fileName(n))); err != nil {
			return err
		}
		if gone.Last > 0 {
			before = &gone.Span
		}
		total -= infos[i].Size()
	}
	return nil
}

// follows reports whether a row comes directly after rows that were removed as old, or is the very
// first one. before is the span of those, nil if another call removed them: then a row of the
// files that are left says so, mostly in one of the newest.
func (l *Log) follows(r Row, before *Span, all []int64) (bool, error) {
	switch {
	case r.Seq == 0: // the file has no row, which is found by itself
		return true, nil
	case r.Seq == 1:
		return r.Prev == noCode, nil
	case before != nil:
		return r.Seq == before.Last+1 && r.Prev == before.MAC, nil
	}
	found := false
	for _, n := range slices.Backward(append(slices.Clone(all), l.tail.File)) {
		err := l.each(n, func(_ *lines, _ []byte, p Row, err error) bool {
			found = err == nil && p.Kind == KindPruned && p.Span != nil && p.Span.Last+1 == r.Seq && p.Span.MAC == r.Prev
			return !found
		})
		if found || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return found, err
		}
	}
	return false, nil
}

// summary is what is known of a file that is to be removed.
type summary struct {
	Span
	first Row
	at    time.Time // of its last row
	found []string  // what was wrong with it, and what its rows say was wrong before
}

// note is what the row about a file that was removed says.
func (s *summary) note() string { return clean(strings.Join(s.found, "; ")) }

// summary says which rows a file has, when its last one was written, and what is or was wrong.
func (l *Log) summary(number int64) (*summary, error) {
	gone := &summary{Span: Span{File: number}}
	damaged, rest := false, newRegion()
	keep := func(what string) {
		if !slices.Contains(gone.found, what) {
			gone.found = append(gone.found, what)
		}
	}
	err := l.each(number, func(_ *lines, data []byte, r Row, err error) bool {
		if err != nil {
			rest.add(data)
			return true
		}
		if r.Kind == KindTorn || rest.bytes > 0 {
			if r.Kind != KindTorn || r.Span == nil || *r.Span != *rest.span() {
				damaged = true // what is no row is not what a killed process wrote
			}
			rest = newRegion()
		}
		if gone.Last > 0 && (r.Seq != gone.Last+1 || r.Prev != gone.MAC) {
			damaged = true // rows between are missing, or others are in their place
		}
		if begins := gone.first.Seq == 0; begins != (r.Kind == KindFile) || begins && (r.Span == nil || r.Span.File != number) {
			damaged = true // its first rows are missing, or others are in it
		}
		if gone.first.Seq == 0 {
			gone.first, gone.First = r, r.Seq
		}
		switch {
		case r.Kind == KindGap:
			keep(r.Note)
		case r.Kind == KindPruned && r.Note != "":
			for what := range strings.SplitSeq(r.Note, "; ") {
				keep(what)
			}
		}
		gone.Last, gone.MAC, gone.at = r.Seq, r.MAC, r.Time
		return true
	})
	if damaged || rest.bytes > 0 || gone.Last == 0 {
		gone.found = append([]string{fileName(number) + " was damaged when it was removed"}, gone.found...)
	}
	return gone, err
}
