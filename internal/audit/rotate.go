package audit

import (
	"encoding/hex"
	"fmt"
	"os"
	"slices"
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
	next := l.path("next.tmp")
	f, err := os.OpenFile(next, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
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
// has the number and the code of the last row that is gone, which the next file begins after.
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
	for i, n := range all {
		over := l.o.Quota > 0 && total > l.o.Quota
		old := l.o.Keep > 0 && l.o.Now().Sub(infos[i].ModTime()) > l.o.Keep
		if !over && !old {
			return nil
		}
		gone, last, note, err := l.summary(n)
		if err != nil {
			return err
		}
		if !over && l.o.Now().Sub(last) <= l.o.Keep {
			return nil
		}
		if err := l.put(Row{Kind: KindPruned, Span: gone, Note: note}, nil); err != nil {
			return err
		}
		if err := os.Remove(l.path(fileName(n))); err != nil {
			return err
		}
		total -= infos[i].Size()
	}
	return nil
}

// summary says which rows a file has, when its last one was written, and whether it is damaged.
func (l *Log) summary(number int64) (gone *Span, last time.Time, note string, err error) {
	gone = &Span{File: number}
	damaged, torn := 0, 0
	err = l.each(number, func(in *lines, r Row, err error) {
		switch {
		case err != nil:
			torn++
			return
		case r.Kind == KindTorn:
			torn = 0
		case gone.Last > 0 && (r.Seq != gone.Last+1 || r.Prev != gone.MAC):
			damaged = max(damaged, in.line)
		}
		if torn > 0 {
			damaged, torn = max(damaged, in.line), 0
		}
		if gone.First == 0 {
			gone.First = r.Seq
		}
		gone.Last, gone.MAC, last = r.Seq, r.MAC, r.Time
	})
	if damaged > 0 || torn > 0 {
		note = fmt.Sprintf("%s was damaged when it was removed", fileName(number))
	}
	return gone, last, note, err
}
