package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	lockPoll      = 20 * time.Millisecond
	maxHolderSize = 200 // bytes
	// holderAt leaves byte 0 alone: it is the one that Windows locks against reading.
	holderAt = 1
)

// Lock is a cross-process lock that its holder has. It is not for goroutines of
// one process: each Acquire opens the file anew, so they exclude each other too,
// but by polling.
type Lock struct {
	flock *flock.Flock
	path  string
}

// BusyError means that somebody else held the lock for the whole time given.
type BusyError struct {
	Path   string
	Holder string // who, as that process wrote it; "" if it did not
	Waited time.Duration
}

func (e *BusyError) Error() string {
	who := e.Holder
	if who == "" {
		who = "another process"
	}
	return fmt.Sprintf("%s is in use by %s (waited %s); try again when it has finished",
		strings.TrimSuffix(e.Path, lockSuffix), who, e.Waited.Round(time.Millisecond))
}

const lockSuffix = ".lock"

// Acquire takes the lock that belongs to the file at path, waiting at most wait
// (0 tries once). The lock file is path+".lock"; it stays, since removing it
// would let two processes hold two different files of one name. holder says who
// we are, for example "hermes config set"; the process id and the time are added.
// The lock ends with Release or with the process, whichever is first.
func Acquire(ctx context.Context, path, holder string, wait time.Duration) (*Lock, error) {
	path += lockSuffix
	l := &Lock{flock: flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR)), path: path}
	start := time.Now()
	if err := l.try(ctx, wait); err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return nil, &BusyError{Path: path, Holder: readHolder(path), Waited: time.Since(start)}
		}
		return nil, fmt.Errorf("lock %s: %w", strings.TrimSuffix(path, lockSuffix), plain(err))
	}
	l.sign(fmt.Sprintf("%s (process %d, since %s)", holder, os.Getpid(), start.Format(time.TimeOnly)))
	return l, nil
}

func (l *Lock) try(ctx context.Context, wait time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	taken, err := l.flock.TryLock()
	if taken || err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	_, err = l.flock.TryLockContext(limited, lockPoll)
	return err
}

// Release gives the lock back. It may be called once.
func (l *Lock) Release() error {
	l.sign("")
	if err := l.flock.Unlock(); err != nil {
		return fmt.Errorf("unlock %s: %w", strings.TrimSuffix(l.path, lockSuffix), plain(err))
	}
	return nil
}

// sign writes who holds the lock. Only a message depends on it, so a full disk
// is no reason to fail.
func (l *Lock) sign(text string) {
	f, err := os.OpenFile(l.path, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if f.Truncate(holderAt) == nil {
		_, _ = f.WriteAt([]byte(text[:min(len(text), maxHolderSize)]), holderAt)
	}
}

func readHolder(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text := make([]byte, maxHolderSize)
	n, _ := f.ReadAt(text, holderAt)
	return strings.ToValidUTF8(strings.TrimSpace(string(text[:n])), "")
}
