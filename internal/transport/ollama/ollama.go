// Package ollama implements the native protocol of Ollama, which streams lines of
// JSON.
//
// It is needed because the server's other protocol does not accept num_ctx: a
// model loaded without it gets 4,096 tokens and forgets the beginning of a prompt.
// So the package asks for the model's real limit once (show.go), sends it with
// every request, and has longer prompts refused instead of cut. It also finds the
// calls that small models write as text. It must not decide on retries.
//
// Within a session, each request begins with the bytes of the previous one, for
// the server's prompt cache.
//
// Start reading at Model.Stream, then request.go and answer.go.
package ollama

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/transport/base"
)

// Config says which model to call, and how. BaseURL is the server's address; a
// trailing /v1 or /api is allowed. Window, if set, is the context length to
// request, up to the model's limit.
type Config struct {
	base.Config
	Quirks Quirks
	// Learn is called with the context length that is requested, once it is
	// known; it may be nil.
	Learn func(context int)
}

// Quirks says what a server does differently. The zero value is the usual server.
type Quirks struct {
	// NoStream requests answers without streaming.
	NoStream bool
	// KeepAlive is how long the model stays loaded, as the server writes
	// durations; empty leaves it to the server.
	KeepAlive string
}

// Model is a hermes.Model behind an Ollama server.
type Model struct {
	cfg   Config
	base  string
	tools base.Tools

	mu    sync.Mutex
	shown *shown // what the server reported about the model; nil before
}

// New returns a model. It does no I/O.
func New(cfg Config) *Model {
	cfg.Config = cfg.Config.Ready()
	base := strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(cfg.BaseURL, "/v1"), "/api"), "/")
	return &Model{cfg: cfg, base: base}
}

// ID returns the reference of the model.
func (m *Model) ID() string { return m.cfg.ID }

// Stream sends the request when the iteration begins; see hermes.Model.
func (m *Model) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return m.cfg.Stream(ctx, r, func(yield base.Yield) error { return m.ask(ctx, r, yield) })
}

func (m *Model) ask(ctx context.Context, r *hermes.Request, yield base.Yield) error {
	body, err := m.encode(r, m.show(ctx))
	if err != nil {
		return err
	}
	req, err := m.post(ctx, "/api/chat", body)
	if err != nil {
		return err
	}
	return m.cfg.Ask(req, newAnswer(r, yield).read)
}

func (m *Model) post(ctx context.Context, path string, body []byte) (*http.Request, error) {
	req, err := base.Post(ctx, m.base+path, body)
	if err == nil {
		m.cfg.Sign(req.Header, "")
	}
	return req, err
}
