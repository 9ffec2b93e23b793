// Package gemini implements Google's generateContent protocol, streaming or not.
//
// It owns the format of requests and answers: alternating turns of user and model,
// results as parts after their calls, the thought signatures that must be sent
// back on the same part. models.go has the differences between model generations;
// schema.Gemini converts the tool schemas. It turns every failure into a
// *hermes.ModelError and must not decide on retries.
//
// Within a session, each request begins with the bytes of the previous one, so
// that prompt caches match: tools, system instruction, turns, and then what may
// change from call to call. The last turn may get more parts.
//
// Start reading at Model.Stream, then request.go, turns.go and answer.go.
package gemini

import (
	"context"
	"iter"
	"net/url"
	"strings"

	"hermes"
	"hermes/internal/httpc"
	"hermes/internal/transport/base"
)

// Config says which model to call, and how. BaseURL is the part before
// /models/…:generateContent.
type Config struct {
	base.Config
	Quirks Quirks
}

// Quirks says what a service does differently. The zero value is Google's own
// service with an API key.
type Quirks struct {
	// NoStream requests answers without streaming.
	NoStream bool
	// Bearer sends the key as an Authorization header.
	Bearer bool
}

// Model is a hermes.Model behind a generateContent service.
type Model struct {
	cfg   Config
	url   string
	caps  capabilities
	tools base.Tools
}

// New returns a model. It does no I/O.
func New(cfg Config) *Model {
	cfg.Config = cfg.Config.Ready()
	name := strings.TrimPrefix(cfg.Model, "models/")
	verb := ":streamGenerateContent?alt=sse"
	if cfg.Quirks.NoStream {
		verb = ":generateContent"
	}
	return &Model{cfg: cfg, url: cfg.BaseURL + "/models/" + url.PathEscape(name) + verb, caps: capabilitiesOf(name)}
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
	header := "X-Goog-Api-Key"
	if m.cfg.Quirks.Bearer {
		header = ""
	}
	m.cfg.Sign(req.Header, header)
	return translate(m.cfg.Ask(req, func(x *httpc.Exchange) error { return base.Read(x, newAnswer(r, yield)) }))
}
