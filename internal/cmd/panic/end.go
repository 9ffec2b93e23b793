package panic

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"hermes/internal/lease"
)

const (
	// termTime is how long a process may take to end by itself, killTime how long the system
	// may take to end it.
	termTime = 5 * time.Second
	killTime = 3 * time.Second
	lookTime = 20 * time.Millisecond
)

// end ends the process of a lease, and with it its commands, which its guard ends. The process
// is held before it is looked at, so that a process that gets its id meanwhile is not hit.
func end(ctx context.Context, folder, owner string) error {
	pid, runs := lease.Process(folder, owner)
	if !runs || pid == os.Getpid() {
		return errors.New("it cannot be told which process that is")
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer p.Release()
	if again, runs := lease.Process(folder, owner); !runs || again != pid {
		return errors.New("it cannot be told which process that is")
	}
	if err := p.Signal(syscall.SIGTERM); err == nil && gone(ctx, folder, owner, termTime) {
		return nil
	}
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if !gone(ctx, folder, owner, killTime) {
		return errors.New("it was killed, and is still there")
	}
	return nil
}

// gone waits until the process of a lease has ended, and reports whether it has.
func gone(ctx context.Context, folder, owner string, most time.Duration) bool {
	late := time.NewTimer(most)
	defer late.Stop()
	look := time.NewTicker(lookTime)
	defer look.Stop()
	for {
		if _, runs := lease.Process(folder, owner); !runs {
			return true
		}
		select {
		case <-look.C:
		case <-late.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}
