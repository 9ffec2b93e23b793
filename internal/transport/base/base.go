// Package base holds what the transports of all model services share: sending a
// request with its time limits, ending with one classified error, caching the
// bytes of a tool list, pairing calls with their results.
//
// It may use the core package, but must not know any protocol: those are in the
// packages below internal/transport. It only classifies a failure and decides
// nothing else about it. Start reading at Config.Stream.
package base

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/httpc"
)

// Config says which model to call, and how. It must not be changed after its first
// use.
type Config struct {
	ID       string // the reference of the model, for hermes.Model.ID
	Provider string // for errors
	Model    string // the name that is sent
	BaseURL  string
	Setting  string // the setting that has BaseURL, for errors; may be empty
	Key      hermes.Secret
	Header   http.Header // sent in addition to our own
	// Each adds headers that a service wants for single requests; nil adds
	// nothing.
	Each func(http.Header, *hermes.Request)
	// Client sends the requests; nil is Go's usual one. It follows redirects as
	// httpc.WithinOrigin says, whatever its own policy is.
	Client *http.Client
	Clocks httpc.Clocks
	Window int // the context length that the user set, in tokens; 0 is none
	// Limits returns the model's context length and the longest answer, in
	// tokens, as they are known at the time of a call; 0 is unknown. It may be
	// called concurrently. Nil knows only Window.
	Limits func() (window, output int)
	Now    func() time.Time // nil is time.Now
}

// Ready returns the configuration with its defaults filled in.
func (c Config) Ready() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Limits == nil {
		window := c.Window
		c.Limits = func() (int, int) { return window, 0 }
	}
	c.Client = httpc.WithinOrigin.Client(c.Client)
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	return c
}

// ErrStopped ends an answer whose reader has stopped. It is never yielded.
var ErrStopped = errors.New("stopped")

// Yield passes a delta on; it returns ErrStopped if the reader has stopped.
type Yield func(hermes.Delta) error

// Stream makes the sequence of hermes.Model from a func that makes the call and
// yields. Nothing runs before the iteration begins. A failure becomes the last
// item: a *hermes.ModelError, or the cause of a context that ended.
func (c Config) Stream(ctx context.Context, r *hermes.Request, ask func(Yield) error) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		err := ask(func(d hermes.Delta) error {
			if !yield(d, nil) {
				return ErrStopped
			}
			return nil
		})
		if err == nil || errors.Is(err, ErrStopped) {
			return
		}
		yield(hermes.Delta{}, c.judge(ctx, r, err))
	}
}

// Post makes a request with a JSON body.
func Post(ctx context.Context, url string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err == nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, err
}

// Sign puts the key, if there is one, as it is in the header of this name, or as a
// bearer token in Authorization if the name is empty.
func (c Config) Sign(h http.Header, name string) {
	switch {
	case c.Key == "":
	case name != "":
		h.Set(name, c.Key.Reveal())
	default:
		h.Set("Authorization", "Bearer "+c.Key.Reveal())
	}
}

// Ask sends a request and lets read process the exchange of an answer with status
// 200; see Send. Then it awaits the rest of the body for a moment: only then the
// connection can be used again, also for the call that follows a failure.
func (c Config) Ask(req *http.Request, read func(*httpc.Exchange) error) error {
	x, err := c.Send(req)
	if err != nil {
		return err
	}
	defer x.Close()
	if err = read(x); !errors.Is(err, ErrStopped) {
		x.Drain(DrainTime)
	}
	return err
}

// Send sends a request and returns the exchange of an answer with status 200;
// any other status is a *fault.Failure. The caller closes the exchange. The
// headers of the configuration win over those of the request.
func (c Config) Send(req *http.Request) (*httpc.Exchange, error) {
	for k, v := range c.Header {
		req.Header[k] = v
	}
	x, err := httpc.Do(c.Client, req, c.Clocks)
	if err != nil {
		return nil, err
	}
	if x.Response.StatusCode == http.StatusOK {
		return x, nil
	}
	defer x.Close()
	return nil, refused(x.Response)
}

// moved returns the next step if the service redirects to another address.
func (c Config) moved(err error) string {
	no, ok := errors.AsType[*httpc.RedirectError](err)
	if !ok {
		return ""
	}
	return "; " + NewAddress(no, c.BaseURL, c.Setting)
}

// NewAddress says what to set after a redirect that was not followed, if the
// user wants the new address.
func NewAddress(no *httpc.RedirectError, baseURL, setting string) string {
	setting = cmp.Or(setting, "the base URL")
	if to := no.NewBase(baseURL); to != "" {
		return fmt.Sprintf("if you trust %s, set %s to %s", no.To.Host, setting, to)
	}
	return "check " + setting
}

// DrainTime is how long the end of a stream may take after its last event.
const DrainTime = 200 * time.Millisecond

// maxErrorBody bounds how much of an error answer is read, in bytes.
const maxErrorBody = 64 << 10

func refused(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // a partial body is enough
	return &fault.Failure{Status: resp.StatusCode, Header: resp.Header, Body: body}
}

// judge returns the error to yield for a failure.
func (c Config) judge(ctx context.Context, r *hermes.Request, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("call %s: %w", c.ID, context.Cause(ctx))
	}
	window, _ := c.Limits()
	v := fault.Classify(fault.Question{Err: err, Now: c.Now(), Tokens: Estimate(r), Messages: len(r.Messages), Window: window})
	message := v.Message + c.moved(err)
	if key := c.Key.Reveal(); len(key) > 3 {
		message = strings.ReplaceAll(message, key, c.Key.String()) // some services repeat it
	}
	return &hermes.ModelError{
		Class: hermes.Class(v.Class), Status: v.Status, Message: message,
		Provider: c.Provider, Model: c.Model, RetryAfter: v.RetryAfter,
		Retry: v.Retry, Compress: v.Compress, Rotate: v.Rotate, Fallback: v.Fallback, Err: err,
	}
}
