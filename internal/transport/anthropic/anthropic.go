// Package anthropic implements the Messages protocol, streaming or not, for
// Anthropic and compatible services.
//
// It owns the format of requests and answers: the separate system prompt, tool
// results in user turns, alternating roles, thinking blocks with the signatures
// that must be sent back, cache marks. base.Claude describes the Claude
// generations. It turns every failure into a *hermes.ModelError and must not
// decide on retries, other keys or other models.
//
// Within a session, each request begins with the bytes of the previous one, so
// that prompt caches match: model and tools, system prompt, messages, and then
// what may change from call to call. Only two things move: the cache marks, each a
// separate cache_control field, and the last turn, which may get more blocks.
//
// Start reading at Model.Stream, then request.go, turns.go and answer.go.
package anthropic

import (
	"context"
	"iter"
	"net/http"
	"strings"

	"hermes"
	"hermes/internal/httpc"
	"hermes/internal/transport/base"
)

// Config says which model to call, and how. BaseURL is the part before
// /v1/messages; a trailing /v1 is allowed. Each is not used.
type Config struct {
	base.Config
	Quirks Quirks
}

// Quirks says what a service does differently. The zero value is Anthropic's own
// service with an API key.
type Quirks struct {
	// Bearer sends the key as an Authorization header, as OAuth tokens and most
	// compatible services need it.
	Bearer bool
	// OAuth marks the key as the token of a user's login: it is sent as a bearer
	// token with the header that permits it.
	OAuth bool
	// NoStream requests answers without streaming.
	NoStream bool
	// CacheTTL is "5m", "1h" or "auto" as in hermes.Request; empty sets no marks.
	CacheTTL string
	// Tier is the service_tier to ask for; empty sends none.
	Tier string
	// MaxTokens is the model's output limit if its name does not imply it.
	MaxTokens int
}

// Model is a hermes.Model behind a Messages service.
type Model struct {
	cfg   Config
	url   string
	caps  base.Claude
	tools base.Tools
}

// New returns a model. It does no I/O.
func New(cfg Config) *Model {
	cfg.Config = cfg.Config.Ready()
	return &Model{cfg: cfg, url: endpoint(cfg.BaseURL), caps: base.ClaudeOf(cfg.Model)}
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
	return m.cfg.Stream(ctx, r, func(yield base.Yield) error { return m.ask(ctx, r, yield) })
}

func (m *Model) ask(ctx context.Context, r *hermes.Request, yield base.Yield) error {
	body, err := m.encode(r)
	if err != nil {
		return err
	}
	req, err := base.Post(ctx, m.url, body)
	if err != nil {
		return err
	}
	m.setHeader(req.Header)
	return m.cfg.Ask(req, func(x *httpc.Exchange) error { return base.Read(x, newAnswer(r, yield)) })
}

// apiVersion is the protocol's version, as every request must name it.
const apiVersion = "2023-06-01"

func (m *Model) setHeader(h http.Header) {
	h.Set("Anthropic-Version", apiVersion)
	q := m.cfg.Quirks
	if q.OAuth && m.cfg.Key != "" {
		h.Set("Anthropic-Beta", "oauth-2025-04-20")
	}
	header := "X-Api-Key"
	if q.OAuth || q.Bearer {
		header = ""
	}
	m.cfg.Sign(h, header)
}
