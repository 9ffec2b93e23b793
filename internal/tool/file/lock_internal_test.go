package file

import (
	"context"
	"errors"
	"testing"
)

// TestALockIsGivenUpWhenTheCallIsStopped: it holds none of the locks then, and nothing is left behind.
func TestALockIsGivenUpWhenTheCallIsStopped(t *testing.T) {
	t.Parallel()
	l := newLocks()
	unlock, err := l.lock(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.lock(ctx, "b", "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	free, err := l.lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	free()
	unlock()
	if len(l.held) != 0 {
		t.Errorf("%d locks are left", len(l.held))
	}
}
