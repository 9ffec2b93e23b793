package agent_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"hermes/internal/agent"
)

// TestChildrenShareTheirParentsSteps: the steps of children are taken from their parent too,
// also when they run at once.
func TestChildrenShareTheirParentsSteps(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		parent, child int
		first, all    int // what one child gets, and all three with the parent
	}{
		{10, 4, 4, 10}, {10, 90, 10, 10}, {10, 0, 10, 10}, {100, 4, 4, 100}, {0, 4, 4, -1}, {0, 0, -1, -1},
	} {
		parent := agent.NewBudget(tt.parent)
		if got := parent.Child(tt.child).Left(); got != tt.first {
			t.Errorf("%+v: a child has %d", tt, got)
		}
		if tt.all < 0 {
			continue
		}
		var taken atomic.Int64
		var wg sync.WaitGroup
		for range 3 {
			child := parent.Child(tt.child)
			wg.Go(func() {
				for child.Take() {
					taken.Add(1)
				}
			})
		}
		wg.Wait()
		if taken.Load() > int64(min(tt.all, 3*tt.first)) || parent.Left() != tt.parent-int(taken.Load()) {
			t.Errorf("%+v: the children took %d, %d are left", tt, taken.Load(), parent.Left())
		}
	}
}

// TestARefundedStepIsTheParentsToo gives the last step of a child back.
func TestARefundedStepIsTheParentsToo(t *testing.T) {
	t.Parallel()
	parent := agent.NewBudget(1)
	child := parent.Child(0)
	if !child.Take() || parent.Take() {
		t.Fatal("the step of a child is not its parent's")
	}
	if child.Refund(); parent.Left() != 1 || child.Left() != 1 {
		t.Errorf("left are %d and %d", parent.Left(), child.Left())
	}
}
