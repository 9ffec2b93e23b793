package agent

import (
	"math"
	"sync"
)

// DefaultSteps is how many model calls a turn may make by default.
const DefaultSteps = 90

// Budget counts the remaining steps of one turn, or of a turn and its child
// sessions together. It may be used concurrently. A nil Budget has no limit.
type Budget struct {
	up *Budget // of the turn that started the child session; nil if there is none

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

// Child returns the budget of a child session: so many steps, each of which is taken from b
// too. With 0 or less the child has what b has left.
func (b *Budget) Child(steps int) *Budget {
	if b == nil {
		return NewBudget(steps)
	}
	if steps <= 0 {
		steps = math.MaxInt
	}
	return &Budget{up: b, left: steps}
}

// Take uses one step. It returns false if none is left.
func (b *Budget) Take() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left == 0 || !b.up.Take() {
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
		b.up.Refund()
	}
}

// Left returns the number of remaining steps; -1 means no limit.
func (b *Budget) Left() int {
	if b == nil {
		return -1
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if up := b.up.Left(); up >= 0 {
		return min(b.left, up)
	}
	return b.left
}
