// Package base holds what every protocol of model services does alike: to send
// a request under its clocks, to end with one judged error, to keep the bytes
// of a tool list, to pair calls with their results.
//
// It knows the vocabulary, as hermestest does, and no protocol: what differs
// between services stands in internal/transport. It decides nothing about a
// failure but its class. Start reading at Config.Stream.
package base

import (
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

// Config says which model is asked, and how. It is not changed afterwards.
type Config struct {
	ID       string // the reference of the model, for hermes.Model.ID
	Provider string // for errors
	Model    string // the name that is sent
	BaseURL  string
	Key      hermes.Secret
	Header   http.Header // sent beside our own
	// Each adds what a service wants to know of a single request; nil adds
	// nothing.
	Each   func(http.Header, *hermes.Request)
	Client *http.Client
	Clocks httpc.Clocks
	Window int              // the model's context length, 0 if unknown; helps to read errors
	Now    func() time.Time // nil is time.Now
}

// Ready returns the configuration with its defaults filled in.
func (c Config) Ready() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Client == nil {
		c.Client = http.DefaultClient
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	return c
}

// ErrStopped ends an answer whose reader wants no more. It is never yielded.
var ErrStopped = errors.New("stopped")

// Yield passes a delta on; it returns ErrStopped where the reader wants no more.
type Yield func(hermes.Delta) error

// Stream makes the sequence of hermes.Model from a func that asks and yields.
// Nothing runs before the iteration begins. A failure becomes the last item, a
// *hermes.ModelError, or the cause of a context that ended.
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

// Send sends a request and returns the exchange of an answer with status 200;
// any other is a *fault.Failure. The caller closes the exchange. The headers of
// the configuration win over those that are set.
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

// DrainTime is how long the end of a stream may take after its last words.
const DrainTime = 200 * time.Millisecond

// maxErrorBody bounds what is read of a refusal, in bytes.
const maxErrorBody = 64 << 10

func refused(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what came is enough
	return &fault.Failure{Status: resp.StatusCode, Header: resp.Header, Body: body}
}

// judge turns a failure into the error that is yielded.
func (c Config) judge(ctx context.Context, r *hermes.Request, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("ask %s: %w", c.ID, context.Cause(ctx))
	}
	v := fault.Classify(fault.Question{Err: err, Now: c.Now(), Tokens: Estimate(r), Messages: len(r.Messages), Window: c.Window})
	message := v.Message
	if key := c.Key.Reveal(); len(key) > 3 {
		message = strings.ReplaceAll(message, key, c.Key.String()) // some services repeat it
	}
	return &hermes.ModelError{
		Class: hermes.Class(v.Class), Status: v.Status, Message: message,
		Provider: c.Provider, Model: c.Model, RetryAfter: v.RetryAfter,
		Retry: v.Retry, Compress: v.Compress, Rotate: v.Rotate, Fallback: v.Fallback, Err: err,
	}
}
