package websearch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hermes/internal/text"
)

// Class says what kind of failure an [Error] is.
type Class int

// The classes.
const (
	Down      Class = iota // the service did not answer, or answered with a failure of its own
	BadKey                 // the key is missing, wrong or has no right to this
	RateLimit              // too many requests; it works again later
	Quota                  // the plan or the money is used up
	BadAnswer              // the answer cannot be read
	Rejected               // the service does not accept this request
)

// Error is why a service gave no results, in words for the user and the model. It never holds a key.
type Error struct {
	Service string // its title
	Class   Class
	// After is how long to wait, as far as the service says.
	After time.Duration
	// Detail is what the service said, or what went wrong on the way; it may be empty.
	Detail string
	// Key is the variable of the key, for BadKey.
	Key    string
	status int // of the answer, 0 if there was none
	err    error
}

// Error says what happened and what to do.
func (e *Error) Error() string {
	s := e.Service + " "
	switch e.Class {
	case BadKey:
		s += "does not accept the key"
		if e.Key != "" {
			s += "; the user can check " + e.Key
		}
	case RateLimit:
		s += "has had too many requests"
		if e.After > 0 {
			s += fmt.Sprintf("; it works again in %d s", int(e.After.Round(time.Second).Seconds()))
		}
	case Quota:
		s += "says that the quota of the account is used up"
	case BadAnswer:
		s += "sent an answer that cannot be read"
	case Rejected:
		s += "does not accept this request"
	default:
		s += "cannot be reached or has a failure"
	}
	if e.Detail != "" {
		s += " (" + e.Detail + ")"
	}
	return s
}

// Unwrap returns the cause, such as a refusal of the HTTP client.
func (e *Error) Unwrap() error { return e.err }

// failure makes an error of a class with a text.
func failure(c Class, format string, args ...any) error {
	return &Error{Class: c, Detail: fmt.Sprintf(format, args...)}
}

// wrap names the service in an error, and takes its key out of it.
func (s *Service) wrap(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		return cause
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = &Error{Class: Down, Detail: plain(err), err: err}
	}
	e.Service = s.Title
	if len(s.Keys) > 0 {
		e.Key = s.Keys[0]
	}
	if key := s.key(); key != "" {
		e.Detail = strings.ReplaceAll(e.Detail, key, "***")
	}
	e.Detail = text.OneLine(e.Detail, maxDetail)
	return e
}

// maxDetail bounds what an error repeats of a service, in characters.
const maxDetail = 200

// plain returns the text of a network error without the address, whose query may be long or secret.
func plain(err error) string {
	if at, ok := errors.AsType[*url.Error](err); ok {
		if at.Timeout() {
			return "no answer in time"
		}
		return at.Err.Error()
	}
	return err.Error()
}

// refusal reads an answer that is no success.
func (s *Service) refusal(r *http.Response, body []byte) error {
	e := &Error{Class: Rejected, Detail: fmt.Sprintf("status %d", r.StatusCode), status: r.StatusCode}
	if said := message(body); said != "" {
		e.Detail += ": " + said
	}
	lower := strings.ToLower(e.Detail)
	switch {
	case r.StatusCode == http.StatusPaymentRequired, r.StatusCode == 432, r.StatusCode == 433: // the last two are Tavily's
		e.Class = Quota
	case r.StatusCode == http.StatusTooManyRequests, r.StatusCode == http.StatusAccepted: // the latter is DuckDuckGo's
		e.Class, e.After = RateLimit, after(r.Header)
		if strings.Contains(lower, "quota") || strings.Contains(lower, "credits") {
			e.Class = Quota
		}
	case r.StatusCode == http.StatusUnauthorized && len(s.Keys) > 0:
		e.Class = BadKey
	case r.StatusCode == http.StatusForbidden && s.key() != "" && speaksOfKeys(lower): // it may be about anything else
		e.Class = BadKey
	case r.StatusCode == http.StatusUnprocessableEntity && strings.Contains(lower, "token"): // Brave's answer to a wrong key
		e.Class = BadKey
	case r.StatusCode == http.StatusRequestTimeout, r.StatusCode >= 500:
		e.Class = Down
	}
	return e
}

// speaksOfKeys reports whether a text in lower case is about who asks.
func speaksOfKeys(s string) bool {
	return strings.Contains(s, "key") || strings.Contains(s, "token") || strings.Contains(s, "auth")
}

// maxAfter bounds the time that a service asks to wait.
const maxAfter = 24 * time.Hour

// after reads how long a service asks to wait.
func after(h http.Header) time.Duration {
	for _, name := range []string{"Retry-After", "X-RateLimit-Reset", "RateLimit-Reset"} {
		first, _, _ := strings.Cut(h.Get(name), ",") // Brave lists the second and the month
		if n, err := strconv.Atoi(strings.TrimSpace(first)); err == nil && n > 0 {
			return min(time.Duration(min(n, 1<<20))*time.Second, maxAfter)
		}
	}
	return 0
}
