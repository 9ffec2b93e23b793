package agent

import "sync"

// DefaultSteps is how many model calls a turn may make by default.
const DefaultSteps = 90

// Budget counts the remaining steps of one turn, or of a turn and its child
// sessions together. It may be used concurrently. A nil Budget has no limit.
type Budget struct {
	mu   sync.Mutex
	left int
	used int
}

// NewBudget returns a budget of so many steps; 0 or less means no limit.
func NewBudget(steps int) *Budget {
	if steps <= 0 {
		return nil
	}
	return &Budget{left: steps}
}

// Take uses one step. It returns false if none is left.
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

// Left returns the number of remaining steps; -1 means no limit.
func (b *Budget) Left() int {
	if b == nil {
		return -1
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left
}
