// Package usage marks errors of wrong command-line usage, so that the program can
// exit with the status for that and point to the help. It must not know which
// commands exist.
package usage

import (
	"errors"
	"fmt"
)

// Error is an error of wrong usage.
type Error struct{ Err error }

// Errorf makes an Error from a text for the user, like fmt.Errorf.
func Errorf(format string, args ...any) error { return &Error{fmt.Errorf(format, args...)} }

// Error is the cause's text.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Wrong reports whether an error is one of wrong usage.
func Wrong(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok
}
