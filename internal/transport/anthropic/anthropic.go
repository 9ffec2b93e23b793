// Package anthropic speaks the Messages protocol, streaming or not, with
// Anthropic and the services that offer the same.
//
// It owns the wire form of requests and answers: the system prompt apart, tool
// results gathered in user turns, alternating roles, thinking blocks with the
// signatures that must come back, cache marks. What differs between Claude
// generations stands in wire.Claude. It turns every failure into a
// *hermes.ModelError and decides nothing about it.
//
// A request is written so that within a session each one begins with the bytes
// of the one before: model and tools, system prompt, messages, and then what
// may change from call to call. Two things move: the cache marks, each a
// cache_control field of its own, and the last turn, which may grow by blocks.
//
// Start reading at Model.Stream, then request.go, turns.go and answer.go.
package anthropic

import (
	"bytes"
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
	"hermes/internal/wire"
)

// Config says which model is asked, and how. It is not changed afterwards.
type Config struct {
	ID       string // the reference of the model, for hermes.Model.ID
	Provider string // for errors
	Model    string // the name that is sent
	BaseURL  string // up to the part before /v1/messages; a trailing /v1 may stand
	Key      hermes.Secret
	Header   http.Header // sent beside our own
	Client   *http.Client
	Clocks   httpc.Clocks
	Window   int              // the model's context length, 0 if unknown
	Now      func() time.Time // nil is time.Now
	Quirks   Quirks
}

// Quirks is what a service does differently. The zero value is Anthropic's own
// with an API key.
type Quirks struct {
	// Bearer sends the key as an Authorization header, as OAuth tokens and
	// most look-alikes want it.
	Bearer bool
	// OAuth marks the key as a token of a person's login: it goes as a bearer
	// with the header that permits it.
	OAuth bool
	// NoStream asks for whole answers.
	NoStream bool
	// CacheTTL is "5m" or "1h"; empty sets no marks.
	CacheTTL string
	// MaxTokens is the model's output limit where its name does not tell.
	MaxTokens int
}

// Model is a hermes.Model behind a Messages service.
type Model struct {
	cfg   Config
	url   string
	caps  wire.Claude
	tools wire.Tools
}

// New returns a model. It does no I/O.
func New(cfg Config) *Model {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Client == nil {
		cfg.Client = http.DefaultClient
	}
	return &Model{cfg: cfg, url: endpoint(cfg.BaseURL), caps: wire.ClaudeOf(cfg.Model)}
}

func endpoint(base string) string {
	base = strings.TrimRight(base, "/")
	if strings.HasSuffix(base, "/messages") {
		return base
	}
	return strings.TrimSuffix(base, "/v1") + "/v1/messages"
}

// ID returns the reference of the model.
func (m *Model) ID() string { return m.cfg.ID }

// Stream sends the request when the iteration begins; see hermes.Model.
func (m *Model) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		err := m.ask(ctx, r, func(d hermes.Delta) bool { return yield(d, nil) })
		if err == nil || errors.Is(err, wire.ErrStopped) {
			return
		}
		yield(hermes.Delta{}, m.judge(ctx, r, err))
	}
}

func (m *Model) ask(ctx context.Context, r *hermes.Request, yield func(hermes.Delta) bool) error {
	body, err := m.encode(r)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	m.setHeader(req.Header)
	x, err := httpc.Do(m.cfg.Client, req, m.cfg.Clocks)
	if err != nil {
		return err
	}
	defer x.Close()
	if x.Response.StatusCode != http.StatusOK {
		return refused(x.Response)
	}
	if err := newAnswer(yield).read(x); err != nil {
		return err
	}
	x.Drain(drainTime)
	return nil
}

// apiVersion is the protocol's version, as every request must name it.
const apiVersion = "2023-06-01"

func (m *Model) setHeader(h http.Header) {
	h.Set("Content-Type", "application/json")
	h.Set("Anthropic-Version", apiVersion)
	q := m.cfg.Quirks
	switch {
	case m.cfg.Key == "":
	case q.OAuth:
		h.Set("Authorization", "Bearer "+m.cfg.Key.Reveal())
		h.Set("Anthropic-Beta", "oauth-2025-04-20")
	case q.Bearer:
		h.Set("Authorization", "Bearer "+m.cfg.Key.Reveal())
	default:
		h.Set("X-Api-Key", m.cfg.Key.Reveal())
	}
	for k, v := range m.cfg.Header {
		h[k] = v
	}
}

// drainTime is how long the end of a stream may take after its last words.
const drainTime = 200 * time.Millisecond

// maxErrorBody bounds what is read of a refusal, in bytes.
const maxErrorBody = 64 << 10

func refused(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what came is enough
	return &fault.Failure{Status: resp.StatusCode, Header: resp.Header, Body: body}
}

// judge turns a failure into the error that is yielded.
func (m *Model) judge(ctx context.Context, r *hermes.Request, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("ask %s: %w", m.cfg.ID, context.Cause(ctx))
	}
	v := fault.Classify(fault.Question{Err: err, Now: m.cfg.Now(), Tokens: wire.Estimate(r), Messages: len(r.Messages), Window: m.cfg.Window})
	message := v.Message
	if key := m.cfg.Key.Reveal(); len(key) > 3 {
		message = strings.ReplaceAll(message, key, m.cfg.Key.String()) // some services repeat it
	}
	return &hermes.ModelError{
		Class: hermes.Class(v.Class), Status: v.Status, Message: message,
		Provider: m.cfg.Provider, Model: m.cfg.Model, RetryAfter: v.RetryAfter,
		Retry: v.Retry, Compress: v.Compress, Rotate: v.Rotate, Fallback: v.Fallback, Err: err,
	}
}
