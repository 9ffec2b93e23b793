// Package audit keeps the record of what the agent did and who allowed it: one row for
// each call with an effect and for its result, each question and its answer, each
// refusal, grant and change of rights.
//
// Rows are lines of JSON in files of bounded size. Each row has the code (an HMAC) of the
// row before it and a code over its own bytes, and the file head has the number and
// the code of the last row. Who does not have the key of the home cannot change, remove or reorder a
// byte without [Log.Verify] finding it; docs/audit.md says what cannot be found.
//
// Start at [Log.Append]; line.go is one line, head.go the head, tail.go what is found
// after a crash, rotate.go files and their end, read.go and verify.go the readers. The
// package does not know tools, sessions or frontends: they say what happened.
package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// Recorder takes rows.
type Recorder interface {
	// Append writes a row. When it returns nil, the row is in the record, and a kill of
	// the process does not remove it. What may not happen without a row must not happen
	// after an error.
	Append(ctx context.Context, r Row) error
}

// Options configures a Log.
type Options struct {
	Folder string // of the files; it is made when the first row is written
	Key    string // the file with the key, likewise
	// FileSize is how many bytes a file may have before the next one begins; 0 is 8 MB.
	FileSize int64
	// Quota is how many bytes all files may have: older ones are removed. 0 is no limit.
	Quota int64
	// Keep is how long files are kept after their last row; 0 is for ever.
	Keep time.Duration
	// Wait is how long a row waits for other processes; 0 is ten seconds.
	Wait   time.Duration
	Now    func() time.Time    // nil is time.Now
	Redact func(string) string // removes secrets from text; nil leaves text alone
	Log    *slog.Logger        // nil discards
}

// Log is the record of one home. Its methods may be called concurrently, and several
// processes may have one home.
type Log struct {
	o Options

	mu    sync.Mutex
	lock  *os.File // open as long as the log is
	keys  *keys    // nil before the first row
	tail  tail     // as this process wrote it last
	fresh bool     // tail is known and its files are open
	// pruned says that old files were looked for.
	pruned bool
	// made says that this process made the key, and has not written a row since.
	made bool
}

// Open returns the record of a home. It reads and writes nothing yet. Close it after
// the last row.
func Open(o Options) *Log {
	if o.FileSize <= 0 {
		o.FileSize = 8 << 20
	}
	if o.Quota > 0 {
		o.FileSize = min(o.FileSize, max(o.Quota/4, 64<<10))
	}
	if o.Wait <= 0 {
		o.Wait = 10 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Log{o: o}
}

// Append adds a row, as [Recorder] says. It sets the number, the time and the codes; texts are
// redacted and bounded.
func (l *Log) Append(ctx context.Context, r Row) error {
	r = r.bounded(l.o.Redact)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.append(ctx, r); err != nil {
		l.fresh = false // what was written is looked at again
		return fmt.Errorf("write the audit log: %w", plain(err))
	}
	return nil
}

func (l *Log) append(ctx context.Context, r Row) (err error) {
	unlock, err := l.exclude(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if !l.fresh || !l.tail.current() {
		if err := l.load(); err != nil {
			return err
		}
	}
	if err := l.rotate(); err != nil {
		return err
	}
	return l.put(r, nil)
}

// put writes one row, after some bytes that belong before it, and then the head.
func (l *Log) put(r Row, before []byte) error {
	t := &l.tail
	r.Seq, r.Prev, r.Time = t.Seq+1, t.MAC, l.o.Now().UTC().Round(0)
	line, mac, err := l.keys.line(r)
	if err != nil {
		return err
	}
	line = append(before, line...)
	if _, err := t.file.Write(line); err != nil {
		return err
	}
	t.Seq, t.MAC, t.Size = r.Seq, mac, t.Size+int64(len(line))
	l.made = false
	return t.writeHead(l.keys)
}

// Close closes the files. A row that is appended later opens them again.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh = false
	err := l.tail.close()
	if l.lock != nil {
		err = errors.Join(err, l.lock.Close())
		l.lock = nil
	}
	return err
}

// fileName is the name of a file of the record by its number, from 1.
func fileName(number int64) string { return fmt.Sprintf("%08d%s", number, suffix) }

// fileNumber is the reverse of fileName; 0 for other names.
func fileNumber(name string) int64 {
	digits, ok := cutSuffix(name)
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || fileName(n) != name {
		return 0
	}
	return n
}

const (
	suffix   = ".jsonl"
	headName = "head"
	lockName = "lock"
	nextName = "next.tmp" // of a file that is being begun
)

func cutSuffix(name string) (string, bool) {
	if len(name) <= len(suffix) || name[len(name)-len(suffix):] != suffix {
		return "", false
	}
	return name[:len(name)-len(suffix)], true
}

func (l *Log) path(name string) string { return filepath.Join(l.o.Folder, name) }

// plain drops the name of a system call, which means nothing to a user.
func plain(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("%s: %w", p.Path, p.Err)
	}
	return err
}
