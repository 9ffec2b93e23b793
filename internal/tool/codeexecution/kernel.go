package codeexecution

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hermes"
)

var errStopped = errors.New("the kernel was ended")

// kernel keeps the variables of scripts from one call to the next.
type kernel interface {
	// runs runs a script. It reports false if the kernel has ended.
	runs(ctx context.Context, s *script) (ending, bool)
	// stop ends the kernel and returns when it is gone. It may be called again.
	stop()
	// over is closed when the kernel has ended.
	over() <-chan struct{}
}

// kernelKey tells the kernels of sessions apart.
type kernelKey struct{ session, language string }

// kept is a kernel and when it is ended.
type kept struct {
	kernel
	key   kernelKey
	in    bounds
	timer *time.Timer
	busy  bool
}

// kernels are the kernels of all sessions. Its methods may be called concurrently.
type kernels struct {
	most int
	idle time.Duration

	mu     sync.Mutex
	all    []*kept // the least recently used first
	closed bool
	ending sync.WaitGroup // those that made room for others
}

// run runs a script in the kernel of a key, which is made if there is none with the same bounds.
// The model is told if one with others is ended for that.
func (k *kernels) run(ctx context.Context, key kernelKey, in bounds, s *script, start func(life context.Context) (kernel, error)) ending {
	s.note = k.endOthers(key, in)
	of, err := k.take(key, in, start)
	if err != nil {
		return ending{err: err}
	}
	end, alive := of.runs(ctx, s)
	if !alive {
		end.lost = true
		of.stop()
	}
	k.put(of, alive)
	return end
}

// endOthers ends the kernels of a key with other bounds, and says what was lost with them. They are
// gone when it returns.
func (k *kernels) endOthers(key kernelKey, in bounds) (lost string) {
	k.stop(func(of *kept) bool {
		if of.key != key || of.busy || of.in == in {
			return false
		}
		select {
		case <-of.over(): // nothing was kept
		default:
			lost = "The variables that were kept before this script are lost, since the sandbox is another one now."
		}
		return true
	})
	return lost
}

// take returns the kernel of a key and of bounds as busy. A session runs one script at a time.
func (k *kernels) take(key kernelKey, in bounds, start func(life context.Context) (kernel, error)) (*kept, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, errStopped
	}
	for i, of := range k.all {
		if of.key != key || of.in != in || of.busy {
			continue
		}
		k.all = append(append(k.all[:i:i], k.all[i+1:]...), of)
		select {
		case <-of.over():
			k.all = k.all[:len(k.all)-1]
		default:
			of.timer.Stop()
			of.busy = true
			return of, nil
		}
		break
	}
	for i := 0; len(k.all) >= k.most && i < len(k.all); {
		if k.all[i].busy {
			i++
			continue
		}
		k.ending.Go(k.all[i].stop)
		k.all = append(k.all[:i:i], k.all[i+1:]...)
	}
	made, err := start(context.Background())
	if err != nil {
		return nil, err
	}
	of := &kept{kernel: made, key: key, in: in, busy: true}
	of.timer = time.AfterFunc(k.idle, func() { k.expire(of) })
	of.timer.Stop()
	k.all = append(k.all, of)
	return of, nil
}

// put gives back a kernel, which ends when it was idle for long.
func (k *kernels) put(of *kept, alive bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of.busy = false
	if alive {
		of.timer.Reset(k.idle)
		return
	}
	k.remove(of)
}

// remove forgets a kernel. The caller holds mu.
func (k *kernels) remove(of *kept) {
	for i, other := range k.all {
		if other == of {
			k.all = append(k.all[:i:i], k.all[i+1:]...)
			return
		}
	}
}

// expire ends a kernel that was idle for long.
func (k *kernels) expire(of *kept) {
	k.mu.Lock()
	busy := of.busy
	if !busy {
		k.remove(of)
	}
	k.mu.Unlock()
	if !busy {
		of.stop()
	}
}

// end ends the kernels of a session and returns when they are gone.
func (k *kernels) end(session string) {
	k.stop(func(of *kept) bool { return of.key.session == session })
}

// close ends all kernels.
func (k *kernels) close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.stop(func(*kept) bool { return true })
	k.ending.Wait()
}

func (k *kernels) stop(which func(*kept) bool) {
	k.mu.Lock()
	var rest, ended []*kept
	for _, of := range k.all {
		if which(of) {
			of.timer.Stop()
			ended = append(ended, of)
		} else {
			rest = append(rest, of)
		}
	}
	k.all = rest
	k.mu.Unlock()
	var w sync.WaitGroup
	for _, of := range ended {
		w.Go(of.stop)
	}
	w.Wait()
}

// bounds are the walls of a script, what they let through, and what may be changed. A kernel keeps
// those of its first script, so that one with other bounds needs another kernel. Whether the user is
// asked is no bound: that holds for each script and each of its calls by itself.
type bounds string

// boundsOf returns what holds for scripts that begin now.
func boundsOf(ctx context.Context, h hermes.Host) bounds {
	env := h.Environment()
	if c, ok := env.(hermes.Confined); ok {
		c.Confine(ctx) // what is described holds from then on
	}
	d := env.Describe(ctx)
	b := fmt.Sprintf("%q %q %q", d.Isolation.Walls(), d.Network, d.Writable)
	if w, ok := env.(hermes.Walled); ok {
		b += " " + w.WallsMark() // what is revoked is not described
	}
	return bounds(b)
}
