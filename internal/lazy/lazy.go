// Package lazy makes values of a program when they are first used, so that a start pays
// for none that it does not need.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a func that compiles a regular expression at its first call. It panics at
// that call if the expression is invalid, so a test must reach it. The func may be called
// concurrently.
//
//go:noinline
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
