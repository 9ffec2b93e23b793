package agent

import "sync"

// DefaultSteps is how many model calls a turn may make unless configured.
const DefaultSteps = 90

// Budget counts the steps that are left, of one turn or of a turn and its
// children together. It may be used concurrently. A nil Budget never ends.
type Budget struct {
	mu   sync.Mutex
	left int
	used int
}

// NewBudget gives so many steps; 0 or less gives a budget without end.
func NewBudget(steps int) *Budget {
	if steps <= 0 {
		return nil
	}
	return &Budget{left: steps}
}

// Take uses one step and reports whether there was one.
func (b *Budget) Take() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left == 0 {
		return false
	}
	b.left--
	b.used++
	return true
}

// Refund gives one used step back.
func (b *Budget) Refund() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used > 0 {
		b.left++
		b.used--
	}
}

// Left returns the steps that are left; -1 means no end.
func (b *Budget) Left() int {
	if b == nil {
		return -1
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left
}
