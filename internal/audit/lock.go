package audit

import (
	"context"
	"fmt"
	"os"
	"time"
)

// exclude keeps other processes from adding rows until unlock is called. The lock ends
// with the process.
func (l *Log) exclude(ctx context.Context) (unlock func(), err error) {
	for {
		if l.lock == nil {
			if err := os.MkdirAll(l.o.Folder, 0o700); err != nil {
				return nil, err
			}
			if l.lock, err = openRegular(l.path(lockName), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
				return nil, err
			}
		}
		if err := wait(ctx, l.lock, l.o.Wait); err != nil {
			return nil, err
		}
		if l.locksPath() {
			return func() { unlockFile(l.lock) }, nil
		}
		err := l.lock.Close() // the folder was removed: others lock another file
		if l.lock = nil; err != nil {
			return nil, err
		}
	}
}

// locksPath reports whether the file that is locked is still the one of the folder.
func (l *Log) locksPath() bool {
	has, err := l.lock.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(l.path(lockName))
	return err == nil && os.SameFile(has, now)
}

// wait locks a file. Others have it for less than a millisecond each, so it asks often.
func wait(ctx context.Context, f *os.File, most time.Duration) error {
	deadline := time.Now().Add(most)
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		got, err := tryLock(f)
		if got || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: another process has held the lock for %v; look for a Hermes that hangs", f.Name(), most)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}
