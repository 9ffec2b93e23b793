package app

// ExitError ends the program with a status of its own. Without an Err
// nothing is printed: the command has said what there is to say.
type ExitError struct {
	Status int
	Err    error
}

// Error is the cause's text.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *ExitError) Unwrap() error { return e.Err }
