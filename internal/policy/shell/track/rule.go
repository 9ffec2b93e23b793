package track

import (
	"sync"

	"hermes/internal/policy/shell/getopt"
)

// Rule is a danger that the words of a command show.
type Rule struct {
	_ [0]func() // it is never compared, which saves the code for it

	Key, Reason string
	// Calls are the commands that have the danger, a line for each kind of program,
	// as [getopt.NewTable] reads them.
	Calls string
}

// Rules returns a func that asks about each rule that a command fits, in their order.
// The tables are read when it is first called. It may be called concurrently.
func Rules(list ...Rule) func(l *Line, name string, args []string) {
	tables := sync.OnceValue(func() []getopt.Table {
		all := make([]getopt.Table, len(list))
		for i, r := range list {
			all[i] = getopt.NewTable(r.Calls)
		}
		return all
	})
	return func(l *Line, name string, args []string) {
		for i, t := range tables() {
			if t.Has(name, args) {
				l.Ask(list[i].Key, list[i].Reason)
			}
		}
	}
}
