// Package fault classifies failed calls of model services: it returns one class
// and the flags that say what helps.
//
// A transport passes in what it has (status, headers, body, or the error of a
// connection) and turns the Verdict into its own error type. Only this package
// reads the text of a service's error; everything above reads the verdict. The
// classes have the values of hermes.Class, but the package must not know the
// core package.
//
// Start reading at Classify and the order in facts.go. words.go lists the known
// phrases, body.go finds the texts, echo.go takes out what they repeat of the
// request, status.go interprets the status, connection.go handles failures below
// HTTP, and wait.go reads how long to wait.
package fault

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Failure is an error answer of a service. Transports wrap it, so that callers
// can find it in their errors.
type Failure struct {
	Status int         // HTTP status; 0 or 200 for an error inside a stream
	Header http.Header // may be nil
	Body   []byte      // as far as it was read
}

// Error shows the status and the service's own words.
func (f *Failure) Error() string {
	if msg := f.read().message; msg != "" {
		return fmt.Sprintf("status %d: %s", f.Status, msg)
	}
	return fmt.Sprintf("status %d", f.Status)
}

// Causes that transports wrap if the service sent no error text.
var (
	// ErrCut means that an answer ended before it was complete.
	ErrCut = errors.New("the answer was cut off")
	// ErrEmpty means that the service returned an empty answer.
	ErrEmpty = errors.New("the service returned an empty answer")
	// ErrGarbage means that the answer does not follow the protocol; the
	// wrapping error shows its beginning.
	ErrGarbage = errors.New("the answer cannot be read")
	// ErrNotAPI means that the address serves something other than an API.
	ErrNotAPI = errors.New("the address returned a web page, not an API answer; check the base URL")
)

// Question is the input of Classify.
type Question struct {
	Err error // wraps a *Failure where the service answered
	Now time.Time
	// Tokens, Messages and Window say how large the request was; 0 is unknown.
	// They matter only if the service's error text says nothing.
	Tokens, Messages, Window int
}

// Verdict says what failed and what helps. Class is the value of a hermes.Class.
type Verdict struct {
	Class      string
	Status     int
	Message    string // the service's error text, shortened
	RetryAfter time.Duration

	Retry, Compress, Rotate, Fallback bool
}

// Classify classifies a failed call. It never fails: the class of an
// unrecognized error is unknown, which may be retried. It may be called
// concurrently.
func Classify(q Question) Verdict {
	f := gather(q)
	v := f.verdict()
	if v == barred {
		v.Message = "this key may not use the model (its limit is 0); use another model or key: " + f.describe()
	} else {
		v.Message, v.RetryAfter = f.describe(), f.wait()
	}
	v.Status = f.status
	return v
}
