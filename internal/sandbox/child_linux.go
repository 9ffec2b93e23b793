//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"hermes/internal/proc"
)

var _ proc.Launcher = (*Keeper)(nil)

// child is a program that the keeper started.
type child struct {
	keeper *Keeper
	id     uint32
	pid    int
	once   sync.Once
	done   chan struct{}
	code   int
	left   bool // processes were left when it ended
}

// Launch starts a program behind the walls; see [proc.Launcher]. If it returns [ErrGone], Gone
// is closed.
func (k *Keeper) Launch(s proc.Spec) (proc.Child, error) {
	m := &message{
		Kind: launch, Text: s.Path, List: s.Args, Dir: s.Dir, Env: s.Env, Flag: s.Terminal,
		Limits: [5]uint64{s.Limits.OpenFiles, s.Limits.FileBytes, s.Limits.AddressBytes, s.Limits.CPUSeconds, s.Limits.Processes},
	}
	var files []*os.File
	for _, f := range s.Files {
		slot := int64(-1)
		if f != nil {
			slot = int64(len(files))
			files = append(files, f)
		}
		m.Slots = append(m.Slots, slot)
	}
	c := &child{keeper: k, done: make(chan struct{})}
	k.mu.Lock()
	k.next++
	m.ID, c.id = k.next, k.next
	k.children[c.id] = c
	k.empty, k.sure = false, false
	k.mu.Unlock()
	r, err := k.ask(m, files...)
	if err != nil {
		k.mu.Lock()
		delete(k.children, c.id)
		k.mu.Unlock()
		if errors.Is(err, ErrGone) {
			<-k.gone // or the next command would find a keeper that is still on its way out
		}
		return nil, fmt.Errorf("start %s: %w", s.Path, err)
	}
	c.pid = int(r.N)
	return c, nil
}

func (c *child) finish(code int, left bool) {
	c.once.Do(func() {
		c.code, c.left = code, left
		close(c.done)
	})
}

// PID is the process id inside the walls.
func (c *child) PID() int { return c.pid }

// Wait returns the exit code. Meanwhile it looks after the keeper, which the child could
// have stopped.
func (c *child) Wait() int {
	await(c.keeper, c.done)
	return c.code
}

// Signal signals the child and what it started. If it is forced and the keeper does not
// see to it, the keeper is ended, and everything with it.
func (c *child) Signal(force bool) {
	if force {
		time.AfterFunc(answerWait, func() {
			select {
			case <-c.done:
			default:
				c.keeper.cut()
			}
		})
	}
	c.keeper.wake()
	_ = c.keeper.control.send(&message{Kind: end, ID: c.id, Flag: force}) // a keeper that has gone has ended it
}

// Left reports whether processes of the child still run.
func (c *child) Left() bool {
	select {
	case <-c.done:
		if !c.left {
			return false
		}
	default:
	}
	r, err := c.keeper.ask(&message{Kind: left, N: int64(c.id)})
	if err != nil {
		return false
	}
	return r.Flag
}

// Close lets the keeper forget the child.
func (c *child) Close() {
	_ = c.keeper.control.send(&message{Kind: forget, ID: c.id})
}
