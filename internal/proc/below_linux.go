package proc

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Below are the processes below another one that are not in its session: what commands
// started, and what became a child of it when they ended. Each is held, so that another
// process that gets its id later is not hit. Editors and pagers are in its session.
type Below struct {
	of      int
	session int
	above   *os.Process // that one
	spared  []int       // this process and those above it
	held    map[int]*os.Process
}

// endPause is between two looks at what does not end at once.
const endPause = 10 * time.Millisecond

// HoldBelow looks at the processes below another one. Close it.
func HoldBelow(of int) (*Below, error) {
	session, err := unix.Getsid(of)
	if err != nil {
		return nil, err
	}
	above, err := os.FindProcess(of)
	if err != nil {
		return nil, err
	}
	b := &Below{of: of, session: session, above: above, held: map[int]*os.Process{}}
	for pid := os.Getpid(); pid > 1 && !slices.Contains(b.spared, pid); {
		b.spared = append(b.spared, pid)
		p, _ := readStat(pid)
		pid = p.parent
	}
	return b, b.Look()
}

// Stop keeps the process from starting anything more. It does not go on.
func (b *Below) Stop() { _ = b.above.Signal(unix.SIGSTOP) }

// Look holds also what is there now.
func (b *Below) Look() error {
	_, err := b.look([]int{b.of})
	return err
}

// look holds what is below some processes, and lists those that live.
func (b *Below) look(of []int) (living []int, err error) {
	all, err := processes()
	parents := make(map[int]int, len(all))
	for _, p := range all {
		parents[p.pid] = p.parent
	}
	for _, p := range all {
		switch {
		case p.zombie || p.session == b.session || slices.Contains(b.spared, p.pid):
			continue
		case !slices.ContainsFunc(of, func(pid int) bool { return pid == p.pid && pid != b.of || descends(p.pid, pid, parents) }):
			continue
		}
		living = append(living, p.pid)
		if b.held[p.pid] != nil {
			continue
		}
		held, bad := os.FindProcess(p.pid)
		if bad != nil {
			err = errors.Join(err, bad)
			continue
		}
		b.held[p.pid] = held
	}
	return living, err
}

// EndAll kills all that is below the process, and all that was held and what is below that.
// The error names what still runs after some time.
func (b *Below) EndAll(most time.Duration) error {
	for deadline := time.Now().Add(most); ; time.Sleep(endPause) {
		of := []int{b.of}
		for pid, p := range b.held {
			if p.Signal(unix.Signal(0)) == nil { // it is the one that was seen
				of = append(of, pid)
				continue
			}
			_ = p.Release()
			delete(b.held, pid)
		}
		living, err := b.look(of)
		if err == nil && len(living) == 0 {
			return nil
		}
		for _, pid := range living {
			if p := b.held[pid]; p != nil {
				_ = p.Kill()
			}
		}
		if time.Now().Before(deadline) {
			continue
		}
		if err != nil {
			return fmt.Errorf("it cannot be told whether something that commands left still runs: %w", err)
		}
		slices.Sort(living)
		return fmt.Errorf("the processes %v, which commands left, do not end", living)
	}
}

// Close lets go of all.
func (b *Below) Close() {
	for _, p := range b.held {
		_ = p.Release()
	}
	clear(b.held)
	_ = b.above.Release()
}
