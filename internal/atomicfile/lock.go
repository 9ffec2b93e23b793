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
	// holderAt skips byte 0, which Windows locks against reading.
	holderAt = 1
)

// Lock is a cross-process lock that its holder has. Goroutines of one
// process should use a mutex: here they exclude each other too, but by polling.
type Lock struct {
	flock *flock.Flock
	path  string
}

// BusyError means that another process held the lock for the whole wait.
type BusyError struct {
	Path   string
	Holder string // as that process wrote it; "" if it did not
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
// (0 tries once). The lock file is path+".lock"; it is not removed,
// because then two processes could lock two different files of one name. holder
// describes the caller, for example "hermes config set"; the process id and the time are added.
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

// Release releases the lock. It must be called at most once.
func (l *Lock) Release() error {
	l.sign("")
	if err := l.flock.Unlock(); err != nil {
		return fmt.Errorf("unlock %s: %w", strings.TrimSuffix(l.path, lockSuffix), plain(err))
	}
	return nil
}

// sign writes who holds the lock. Only a message depends on it, so errors such
// as a full disk are ignored.
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
