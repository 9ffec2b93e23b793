package chain

import (
	"iter"

	"hermes"
)

// attempt is one call of the model below.
type attempt struct {
	spent hermes.Usage
	usage hermes.Usage
	shown bool // something was yielded that must be withdrawn
	err   error
}

// run passes the deltas on. It returns true if the attempt failed, false if
// there is nothing more to do.
func (a *attempt) run(answer iter.Seq2[hermes.Delta, error], yield func(hermes.Delta, error) bool) bool {
	for d, err := range answer {
		if err != nil {
			a.err = err
			return true
		}
		switch {
		case d.Reset != "":
			a.shown = false
		case HasContent(d):
			a.shown = true
		case d.Usage != nil:
			a.usage = *d.Usage
			all := a.spent.Add(a.usage)
			d.Usage = &all
		}
		if !yield(d, nil) {
			return false
		}
	}
	return false
}

// HasContent reports whether a delta is a part of an answer.
func HasContent(d hermes.Delta) bool {
	return d.Text != "" || d.Reasoning != "" || d.Call != nil || d.Block != nil
}

const cutOff = "the answer was cut off"

// again prepares another attempt after one that failed: it withdraws what was shown,
// and tells the user what happens next. It returns false if the reader has stopped.
func (a *attempt) again(yield func(hermes.Delta, error) bool, reset, notice string) bool {
	if a.shown && !yield(hermes.Delta{Reset: reset}, nil) || notice != "" && !yield(hermes.Delta{Notice: notice}, nil) {
		return false
	}
	*a = attempt{spent: a.spent.Add(a.usage)}
	return true
}
