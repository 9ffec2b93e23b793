package confine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"hermes/internal/isolation"
	"hermes/internal/proc"
	"hermes/internal/sandbox"
)

var _ isolation.Bare = (*Bare)(nil)

// Bare starts programs that have no walls, below a process that ends everything that they
// started, however it was detached. It may be used concurrently; see [isolation.Bare].
type Bare struct {
	name string

	mu     sync.Mutex
	keeper *sandbox.Keeper // nil until a program is started
	closed bool
	left   error // what a keeper that was killed left running
}

// NewBare starts nothing yet. name is what its process is called.
func NewBare(name string) *Bare { return &Bare{name: name} }

var errBareClosed = errors.New("no program can be started here any more: the session is closing")

// Launcher returns what starts programs.
func (b *Bare) Launcher(ctx context.Context) (proc.Launcher, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errBareClosed
	}
	if b.keeper != nil {
		select {
		case <-b.keeper.Gone():
			b.left = cmp.Or(b.left, b.end()) // it was killed
		default:
			return b.keeper, nil
		}
	}
	keeper, err := sandbox.Start(ctx, sandbox.Config{Name: b.name})
	if err != nil {
		return nil, fmt.Errorf("start the process that ends what a program leaves running: %w", err)
	}
	b.keeper = keeper
	return keeper, nil
}

// EndInside ends all that was started here, and what that left running.
func (b *Bare) EndInside() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.keeper == nil || b.keeper.Empty() {
		return nil
	}
	return b.end()
}

// Close ends all that was started here, and what that left running. Nothing starts any more.
func (b *Bare) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return cmp.Or(b.left, b.end())
}

func (b *Bare) end() error {
	if b.keeper == nil {
		return nil
	}
	defer func() { b.keeper = nil }()
	return b.keeper.Close()
}
