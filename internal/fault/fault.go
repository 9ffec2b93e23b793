// Package fault tells what a failed call of a model service means: one kind
// and the flags that say what helps.
//
// A transport hands in what it has (status, headers, body, or the error of a
// connection) and turns the Verdict into its own error type. This is the only
// place that reads a service's words; everything above reads the verdict. The
// kinds are those of hermes.Class, by value: the package does not know the
// vocabulary.
//
// Start reading at Classify and the order in facts.go. The words stand in
// words.go, where to find them in body.go, what a status means in status.go,
// failures below HTTP in connection.go, and how long to wait in wait.go.
package fault

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Failure is a service's answer that is no answer. Transports wrap it, so that
// it is found wherever an error of theirs goes.
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

// Causes that transports wrap where no service's words exist.
var (
	// ErrCut means that an answer ended before it was complete.
	ErrCut = errors.New("the answer broke off before its end")
	// ErrEmpty means that the service answered with nothing at all.
	ErrEmpty = errors.New("the service answered with nothing")
	// ErrGarbage means that the answer is not what the protocol says; the
	// wrapping error shows its beginning.
	ErrGarbage = errors.New("the answer cannot be read")
	// ErrNotAPI means that the address serves something other than an API.
	ErrNotAPI = errors.New("the address answers with a web page, not with an API; check the base URL")
)

// Question is what there is to judge.
type Question struct {
	Err error // wraps a *Failure where the service answered
	Now time.Time
	// Tokens, Messages and Window tell how large the request was; 0 is not
	// known. They decide only where the service's words say nothing.
	Tokens, Messages, Window int
}

// Verdict says what failed and what helps. Class is a hermes.Class.
type Verdict struct {
	Class      string
	Status     int
	Message    string // the service's own words, shortened
	RetryAfter time.Duration

	Retry, Compress, Rotate, Fallback bool
}

// Classify judges a failed call. It never fails: what it cannot tell is
// unknown, which may be tried again. It may be called concurrently.
func Classify(q Question) Verdict {
	f := gather(q)
	v := f.verdict()
	v.Status = f.status
	v.Message = f.describe()
	v.RetryAfter = f.wait()
	return v
}
