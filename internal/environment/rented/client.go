package rented

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hermes/internal/httpc"
	"hermes/internal/redact"
	"hermes/internal/text"
)

const (
	maxReply    = 8 << 20 // bytes of an answer that is read whole
	requestTime = 2 * time.Minute
	attempts    = 4
	longestWait = 30 * time.Second
	longestMake = 10 * time.Minute
)

// Client speaks HTTP with one service. Its methods may be called concurrently.
type Client struct {
	Name string // of the service, for messages
	Base string // the address of the API
	// KeyName is the environment variable of the key, for messages.
	KeyName string
	// Sign adds the key to the header of each request.
	Sign func(http.Header)
	// HTTP, Sleep and Now are those of the configuration.
	HTTP  *http.Client
	Sleep func(context.Context, time.Duration) error
	Now   func() time.Time
}

// NewClient makes a Client for the service with a name. public is the address of its API
// if the configuration has none.
func NewClient(c Config, name, public, keyName string, sign func(http.Header)) *Client {
	sleep := c.Sleep
	if sleep == nil {
		sleep = realSleep
	}
	return &Client{name, strings.TrimRight(cmp.Or(c.BaseURL, public), "/"), keyName, sign, httpc.WithinOrigin.Client(c.HTTP), sleep, c.clock()}
}

func realSleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Request is one request to a service.
type Request struct {
	Method string
	Path   string // after the base address
	Query  url.Values
	// JSON is the body as JSON; nil is none. Body with its Type is any other body.
	JSON any
	Body []byte
	Type string
	// Again says that the request may be sent twice: it changes nothing, or the same.
	Again bool
	// Base, if set, is another address than that of the API, and Header is added to the
	// request.
	Base   string
	Header map[string]string
}

// Failure is an error that a service answered, or that kept a request from it.
type Failure struct {
	Status int  // of HTTP; 0 if there was no answer
	Unsent bool // the service certainly did not receive the request
	what   string
	cause  error
}

// NewFailure makes the failure of an answer that tells its status in another way.
func NewFailure(status int, what string) *Failure { return &Failure{Status: status, what: what} }

// Error says which service failed, why, and what to do.
func (f *Failure) Error() string { return f.what }

// Unwrap returns what kept the request from the service, if anything did.
func (f *Failure) Unwrap() error { return f.cause }

// Gone reports whether an error says that the sandbox does not exist any more.
func Gone(err error) bool {
	f, ok := errors.AsType[*Failure](err)
	return ok && (f.Status == http.StatusNotFound || f.Status == http.StatusGone)
}

// Do sends a request and decodes its answer into a value, which may be nil, or a *[]byte
// for the answer as it is.
func (c *Client) Do(ctx context.Context, r Request, into any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, requestTime, fmt.Errorf("%s did not answer within %v", c.Name, requestTime))
	defer cancel()
	resp, err := c.Open(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return &Failure{what: c.Name + ": its answer was cut off: " + err.Error(), cause: err}
	}
	switch into := into.(type) {
	case nil:
		return nil
	case *[]byte:
		*into = data
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: its answer cannot be read: %w", c.Name, err)
	}
	return nil
}

// Open sends a request and returns its answer, whose status is below 300. The caller closes
// its body. A request that the service refuses for now is sent again, and one with Again
// also after an error that passes.
func (c *Client) Open(ctx context.Context, r Request) (resp *http.Response, err error) {
	err = c.Repeat(ctx, r.Again, func() (wait time.Duration, err error) {
		resp, wait, err = c.Once(ctx, r)
		return wait, err
	})
	return resp, err
}

// Repeat calls once until it succeeds, as long as its error may pass without anything done
// twice; again says that doing it twice is no harm. once also returns how long the service
// asks to wait.
func (c *Client) Repeat(ctx context.Context, again bool, once func() (wait time.Duration, err error)) error {
	for n := 1; ; n++ {
		wait, err := once()
		f, ok := errors.AsType[*Failure](err)
		if !ok || n == attempts || wait > longestWait || !c.passes(f, again) {
			return err
		}
		if err := c.Sleep(ctx, cmp.Or(wait, time.Duration(n)*500*time.Millisecond)); err != nil {
			return &Failure{Status: f.Status, Unsent: f.Unsent, what: f.what, cause: err}
		}
	}
}

// passes reports whether the same request may succeed a moment later, without doing
// anything twice.
func (c *Client) passes(f *Failure, again bool) bool {
	return f.Status == http.StatusTooManyRequests || again && (f.Status >= 500 || f.Status == 0 && f.cause != nil)
}

// Once is Open without a second attempt. It also returns how long the service asks to wait.
func (c *Client) Once(ctx context.Context, r Request) (*http.Response, time.Duration, error) {
	if ctx.Err() != nil {
		return nil, 0, context.Cause(ctx)
	}
	req, err := c.request(ctx, r)
	if err != nil {
		return nil, 0, err
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, 0, c.unanswered(ctx, err)
	}
	if resp.StatusCode < 300 {
		return resp, 0, nil
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what was read is shown
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
	return nil, time.Duration(seconds) * time.Second, c.Refusal(resp.StatusCode, message(data))
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	address := cmp.Or(r.Base, c.Base) + r.Path
	if len(r.Query) > 0 {
		address += "?" + r.Query.Encode()
	}
	data, kind := r.Body, r.Type
	if r.JSON != nil {
		var err error
		if data, err = json.Marshal(r.JSON); err != nil {
			return nil, err
		}
		kind = cmp.Or(kind, "application/json")
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, address, bytes.NewReader(data))
	if err != nil {
		return nil, &Failure{Unsent: true, what: fmt.Sprintf("%s: invalid address %q", c.Name, address), cause: err}
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	c.Sign(req.Header)
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	return req, nil
}

// unanswered says why there is no answer. A request is certainly unsent if there was no
// connection.
func (c *Client) unanswered(ctx context.Context, err error) error {
	if no, ok := errors.AsType[*httpc.RedirectError](err); ok {
		return &Failure{Unsent: true, what: c.Name + ": " + no.Error() + "; if you trust the new address, set it as the base URL"}
	}
	unsent := neverMade(err)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return &Failure{Unsent: unsent, what: c.Name + " could not be reached: " + err.Error(), cause: err}
}

// neverMade reports whether an error says that there was no connection.
func neverMade(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// Refusal makes the failure of an answer with a status of HTTP, or one that means the same,
// and what it says.
func (c *Client) Refusal(status int, said string) error {
	said = redact.Text(text.Line(said, 300))
	what := fmt.Sprintf("%s answered %d: %s", c.Name, status, said)
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		what = fmt.Sprintf("%s refused the key (%d): %s; check %s", c.Name, status, said, c.KeyName)
	case http.StatusPaymentRequired, http.StatusTooManyRequests:
		what = fmt.Sprintf("the limit of %s is reached (%d): %s; wait, or end sandboxes that are not needed", c.Name, status, said)
	}
	return &Failure{Status: status, what: what}
}

// message finds the sentence in an error's JSON; services put it in different places.
func message(body []byte) string {
	var said struct {
		Message string          `json:"message"`
		Error   json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &said) != nil {
		return string(body)
	}
	if said.Message != "" {
		return said.Message
	}
	if inner := message(said.Error); len(said.Error) > 0 && inner != "" {
		return inner
	}
	return string(body)
}

// Until calls done until it reports true, with growing waits, for ten minutes at most. what
// says what is waited for.
func (c *Client) Until(ctx context.Context, what string, done func() (bool, error)) error {
	for waited, wait := time.Duration(0), 250*time.Millisecond; ; waited, wait = waited+wait, min(wait*3/2, 3*time.Second) {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		if waited > longestMake {
			return fmt.Errorf("%s: %s took longer than %v", c.Name, what, longestMake)
		}
		if err := c.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// Missing says which of some keys is not set; "" if none. names and keys come in pairs.
func Missing(pairs ...[2]string) string {
	var names []string
	for _, p := range pairs {
		if p[1] == "" {
			names = append(names, p[0])
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " is not set; put the key into .env"
	}
	return strings.Join(names, " and ") + " are not set; put them into .env"
}
