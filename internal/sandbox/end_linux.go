//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hermes/internal/proc"
)

// watch ends the keeper when its guard has ended: nothing runs unguarded.
func (k *Keeper) watch() {
	_, files, _ := k.guard.receive() // nothing comes
	closeAll(files)
	k.hangUp()
}

// Close ends the keeper and all its processes, and waits for that. The error says that
// some could not be ended.
func (k *Keeper) Close() error {
	k.wake()
	k.hangUp()
	<-k.gone
	return k.left
}

// hangUp tells the keeper, and its guard, to end everything.
func (k *Keeper) hangUp() {
	k.control.conn.Close()
	if k.guard != nil {
		k.guard.conn.Close()
	}
}

// cut ends a keeper that does not do what it is told. Its guard ends the rest; without walls abandon does.
func (k *Keeper) cut() {
	k.control.conn.Close()
	if k.inner != nil {
		_ = k.inner.Kill()
		return
	}
	_ = k.process.Process.Kill()
}

// wakeEvery is how often a keeper is woken while something is expected of it.
const wakeEvery = 500 * time.Millisecond

// await receives from a channel, and wakes the keeper while it waits.
func await[T any](k *Keeper, from <-chan T) (T, bool) {
	again := time.NewTicker(wakeEvery)
	defer again.Stop()
	for {
		select {
		case got, ok := <-from:
			return got, ok
		case <-again.C:
			k.wake()
		}
	}
}

// wake lets a keeper go on that was stopped from inside, which layer A alone forbids, and the
// guard of layer B, which can be stopped below Landlock ABI 6.
func (k *Keeper) wake() {
	if k.policy.Layer == A {
		return
	}
	_ = k.process.Process.Signal(syscall.SIGCONT) // none if it has ended
	if k.inner != nil {
		_ = k.inner.Signal(syscall.SIGCONT)
	}
}

// abandon ends the keeper when it is of no use any more.
func (k *Keeper) abandon() error {
	k.hangUp()
	k.wake()
	ended := make(chan struct{})
	go func() {
		_ = k.process.Wait() // its exit code says nothing
		close(ended)
	}()
	left := awaitEnd(k, ended)
	switch {
	case left != nil:
	case k.policy.Layer != None:
		left = children.ended(k.process.Process.Pid, k.runs)
	case !endedItself(k.process.ProcessState) && (!proc.Adopts() || proc.EndOrphans() != nil):
		left = errRuns
	}
	if k.stopping != nil {
		k.stopping()
	}
	if k.proxy != nil {
		k.proxy.Close()
	}
	k.diagMu.Lock()
	if k.diag != nil {
		k.diag.Close()
		k.diag = nil
	}
	k.diagMu.Unlock()
	k.serving.Wait()
	if k.inside >= 0 {
		unix.Close(k.inside)
	}
	return left
}

const exitTooMuch = 2

var errLeft = errors.New("processes of the sandbox could not be ended; they are still behind its walls")

var errRuns = errors.New("the process that ends what programs leave running was killed, and some of that may still run; look for it with `ps`, and end it yourself")

// endedItself reports whether a keeper without walls came to its own end, before which it ends
// everything below it. One that was killed, or crashed, did not: then the kernel ends its
// children, and what was detached becomes a child of the owner.
//
// One that gave up because there was too much to end has the status exitTooMuch.
func endedItself(s *os.ProcessState) bool { return s != nil && s.Exited() && s.ExitCode() <= 1 }

// awaitEnd waits until the process that the owner started has ended. After closeWait it is
// killed: then the kernel ends all in layer A, and its children become the owner's in others.
func awaitEnd(k *Keeper, ended <-chan struct{}) error {
	limit, again := time.NewTimer(closeWait), time.NewTicker(wakeEvery)
	defer limit.Stop()
	defer again.Stop()
	for killed := false; ; {
		select {
		case <-ended:
			return nil
		case <-again.C:
			k.wake()
		case <-limit.C:
			if killed {
				if k.policy.Layer == None {
					return errRuns
				}
				return errLeft
			}
			_ = k.process.Process.Kill()
			killed = true
			limit.Reset(closeWait)
		}
	}
}

// runs reports whether a process is left behind the filter of layer B, as the kernel says.
// In layer A none is when the keeper has ended.
func (k *Keeper) runs() bool {
	if k.inside < 0 {
		return false
	}
	look := []unix.PollFd{{Fd: int32(k.inside)}}
	_, err := unix.Poll(look, 0)
	return err != nil || look[0].Revents&unix.POLLHUP == 0
}
