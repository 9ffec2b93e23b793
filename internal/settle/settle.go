// Package settle has those who judge a value, and may change it, come to one that all have agreed to.
package settle

import "fmt"

// Most is how often a value is shown in turn before it counts as one that does not settle.
const Most = 3

// UnsettledError means that the value changed in turn.
type UnsettledError struct{ Last string }

// Error names who had to see the value once more.
func (e *UnsettledError) Error() string {
	return fmt.Sprintf("hooks change this call in turn, and do not agree on one after %d rounds (the last that had to see it again is %s); tell the user", Most, e.Last)
}

// Judge is one of those who judge.
type Judge struct {
	Name string
	// Guard says that no change of another may pass without it. One that is no guard and has changed the
	// value itself does not see it again: what only rewrites does so once.
	Guard bool
	// Concerned reports whether the value as it is now matters to it; nil: always.
	Concerned func() bool
	// Show shows it the value as it is now. It reports whether that ends everything.
	Show func() (ends bool)
}

// Settle shows a value to judges, in their order, until each has agreed to it as it is. value returns how
// it is now. It returns true if a judge has ended it, and an *UnsettledError if it does not settle after
// [Most] rounds.
func Settle(value func() string, judges []Judge) (ended bool, err error) {
	agreed := make([]*string, len(judges)) // nil: it has not seen it
	rewrote := make([]bool, len(judges))
	for round := 0; ; round++ {
		again := false
		for i, j := range judges {
			was := value()
			if agreed[i] != nil && (*agreed[i] == was || rewrote[i] && !j.Guard) || j.Concerned != nil && !j.Concerned() {
				continue
			}
			if round == Most {
				return false, &UnsettledError{j.Name}
			}
			again = true
			if j.Show() {
				return true, nil
			}
			now := value()
			agreed[i], rewrote[i] = &now, rewrote[i] || now != was
		}
		if !again {
			return false, nil
		}
	}
}
