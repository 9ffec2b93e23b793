package app

// ExitError ends the program with an exit status. Without an Err nothing is
// printed, because the command has already reported the error.
type ExitError struct {
	Status int
	Err    error
}

// Error returns the text of the cause.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *ExitError) Unwrap() error { return e.Err }
