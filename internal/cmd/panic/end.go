package panic

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"hermes/internal/lease"
	"hermes/internal/proc"
)

const (
	// termTime is how long a process may take to end by itself, killTime how long the system
	// may take to end it.
	termTime = 5 * time.Second
	killTime = 3 * time.Second
	lookTime = 50 * time.Millisecond
)

// end ends the process of a lease, and with it its commands and what they left running. On Linux
// that is all below it that is not in its session; on other systems what its guard ends, or the
// system. The process is held before it is looked at, so that a process that gets its id
// meanwhile is not hit.
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
	below, err := proc.HoldBelow(pid)
	if err != nil {
		return err
	}
	defer below.Close()
	look := func() { _ = below.Look() } // EndAll says what cannot be told
	if err := p.Signal(syscall.SIGTERM); err == nil && gone(ctx, folder, owner, termTime, look) {
		return below.EndAll(killTime)
	}
	below.Stop()                   // it starts nothing more
	left := below.EndAll(killTime) // what it started is below it as long as it lives
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if !gone(ctx, folder, owner, killTime, look) {
		return errors.Join(left, errors.New("it was killed, and is still there"))
	}
	return below.EndAll(killTime)
}

// gone waits until the process of a lease has ended, and reports whether it has.
func gone(ctx context.Context, folder, owner string, most time.Duration, meanwhile func()) bool {
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
			meanwhile()
		case <-late.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}
