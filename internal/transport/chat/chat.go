// Package chat implements the Chat Completions protocol, streaming or not, for the
// many services that offer it.
//
// It owns the format of requests and answers, and the differences between model
// families (families.go) and services (Quirks). It turns every failure into a
// *hermes.ModelError and must not decide on retries, other keys or other models:
// those are layers above.
//
// Within a session, each request begins with the bytes of the previous one, so
// that prompt caches match: first what never changes, then the messages, each
// encoded separately, then what may change from call to call. Only cache marks
// move. With marks, content is always a list of parts, so that only the
// cache_control field of a message changes.
//
// Start reading at Model.Stream, then request.go and answer.go.
package chat

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strings"

	"hermes"
	"hermes/internal/httpc"
	"hermes/internal/transport/base"
)

// Config says which model to call, and how. BaseURL is the part before
// /chat/completions.
type Config struct {
	base.Config
	Quirks Quirks
}

// Quirks says what a service does differently. The zero value is the plain
// protocol.
type Quirks struct {
	// NoStream requests answers without streaming.
	NoStream bool
	// NoUsageOption leaves out stream_options, for services that refuse it.
	NoUsageOption bool
	// MaxTokens names the field that bounds the answer; empty chooses by the
	// model's family.
	MaxTokens string
	// NoTemperature never sends a temperature.
	NoTemperature bool
	// Replay names the reasoning field that must be sent back:
	// "reasoning_content" or "reasoning_details".
	Replay string
	// CallSignature sends the signatures of tool calls back, as Gemini's
	// thinking models require.
	CallSignature bool
	// Effort is the form in which the effort is sent: "effort" for
	// reasoning_effort, "object" for reasoning.effort, "thinking" for a
	// thinking object, "enable_thinking" for a switch; empty sends none.
	Effort string
	// CacheTTL, "5m", "1h" or "auto" as in hermes.Request, puts cache marks on requests to Claude models.
	CacheTTL string
	// SessionField and SessionHeader name where the session id is sent.
	SessionField, SessionHeader string
	// KeyHeader is a header for the plain key, instead of Authorization.
	KeyHeader string
	// TextCalls looks for tool calls that the model writes as text, as small
	// local models do.
	TextCalls bool
	// Extra holds body fields that are sent unchanged, Tail those that are sent
	// after the messages: a change of them keeps the prefix of a session.
	Extra, Tail map[string]json.RawMessage
}

// Model is a hermes.Model behind a Chat Completions service.
type Model struct {
	cfg   Config
	url   string
	head  []byte // the body up to the tools
	tools base.Tools
}

// New returns a model. It does no I/O.
func New(cfg Config) *Model {
	cfg.Config = cfg.Config.Ready()
	m := &Model{cfg: cfg, url: endpoint(cfg.BaseURL)}
	m.head = m.encodeHead()
	return m
}

func endpoint(base string) string {
	base = strings.TrimRight(base, "/")
	if strings.HasSuffix(base, "/chat/completions") {
		return base
	}
	return base + "/chat/completions"
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
	m.setHeader(req.Header, r)
	a := newAnswer(r, yield, m.cfg.Quirks.Replay)
	if m.cfg.Quirks.TextCalls {
		a.scan = base.TextCalls(r)
	}
	return m.cfg.Ask(req, func(x *httpc.Exchange) error {
		// https://openrouter.ai/docs/guides/features/response-caching
		a.cached = x.Response.Header.Get("X-OpenRouter-Cache-Status") == "HIT"
		return base.Read(x, a)
	})
}

func (m *Model) setHeader(h http.Header, r *hermes.Request) {
	if !m.cfg.Quirks.NoStream {
		h.Set("Accept", "text/event-stream")
	}
	m.cfg.Sign(h, m.cfg.Quirks.KeyHeader)
	if name := m.cfg.Quirks.SessionHeader; name != "" && r.Session != "" {
		h.Set(name, r.Session)
	}
	if m.cfg.Each != nil {
		m.cfg.Each(h, r)
	}
}
