// Package usage marks errors that say that a command was called wrongly, so that
// the program can end with the status for that and point at the help. It does
// not know which commands there are.
package usage

import (
	"errors"
	"fmt"
)

// Error is wrong use of a command.
type Error struct{ Err error }

// Errorf makes an Error from a text for the person, in the manner of fmt.Errorf.
func Errorf(format string, args ...any) error { return &Error{fmt.Errorf(format, args...)} }

// Error is the cause's text.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Wrong reports whether an error is wrong use.
func Wrong(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok
}
