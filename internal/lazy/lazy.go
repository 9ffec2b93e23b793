// Package lazy makes values of a program when they are first used, so that a start pays
// for none that it does not need.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a func that compiles a regular expression at its first call. It panics at
// that call if the expression is invalid; a test of package law compiles all of them. The
// func may be called concurrently.
//
// It is not inlined, because the copies would make the program larger.
//
//go:noinline
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
