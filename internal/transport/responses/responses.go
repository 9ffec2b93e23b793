// Package responses implements OpenAI's Responses protocol, streaming or not, for
// OpenAI, compatible services, and the Codex back end of ChatGPT accounts.
//
// It owns the format of requests and answers: items instead of messages, encrypted
// reasoning that is sent back because nothing is stored at the service, call ids
// that pair calls with results. Item ids are never sent back. families.go has the
// differences between model families. It turns every failure into a
// *hermes.ModelError and must not decide on retries.
//
// Within a session, each request begins with the bytes of the previous one, so
// that prompt caches match: what never changes, tools, instructions, items, and
// then what may change from call to call.
//
// Start reading at Model.Stream, then request.go, items.go and answer.go.
package responses

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"iter"
	"net/http"
	"strings"

	"hermes"
	"hermes/internal/httpc"
	"hermes/internal/transport/base"
)

// Config says which model to call, and how. BaseURL is the part before
// /responses.
type Config struct {
	base.Config
	Quirks Quirks
}

// Quirks says what a service does differently. The zero value is OpenAI's own
// service.
type Quirks struct {
	// Codex is the back end of ChatGPT accounts: the system prompt is sent as
	// instructions, limits and temperature are refused, and a header names the
	// account.
	Codex bool
	// NoStream requests answers without streaming. The Codex back end always
	// streams.
	NoStream bool
	// NoReasoning leaves out the fields that request reasoning and its encrypted
	// form.
	NoReasoning bool
	// KeyHeader is a header for the plain key, instead of Authorization.
	KeyHeader string
	// SessionHeader is a header for the session id.
	SessionHeader string
	// Extra holds body fields that are sent unchanged, Tail those that are sent
	// after the conversation: a change of them keeps the prefix of a session.
	Extra, Tail map[string]json.RawMessage
}

// Model is a hermes.Model behind a Responses service.
type Model struct {
	cfg   Config
	url   string
	head  []byte // the body up to the session
	tools base.Tools
}

// New returns a model. It does no I/O.
func New(cfg Config) *Model {
	cfg.Config = cfg.Config.Ready()
	if cfg.Quirks.Codex {
		cfg.Quirks.NoStream = false
	}
	m := &Model{cfg: cfg, url: endpoint(cfg.BaseURL)}
	m.head = m.encodeHead()
	return m
}

// endpoint adds the path and keeps the query, which Azure's addresses have.
func endpoint(base string) string {
	path, query, has := strings.Cut(base, "?")
	path = strings.TrimRight(path, "/")
	if !strings.HasSuffix(path, "/responses") {
		path += "/responses"
	}
	if has {
		path += "?" + query
	}
	return path
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
	return m.cfg.Ask(req, func(x *httpc.Exchange) error { return base.Read(x, newAnswer(r, yield)) })
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
	if !m.cfg.Quirks.Codex {
		return
	}
	h.Set("OpenAI-Beta", "responses=experimental")
	if account := accountOf(m.cfg.Key.Reveal()); account != "" {
		h.Set("ChatGPT-Account-Id", account)
	}
}

// accountOf reads the account from the token of a ChatGPT login, whose second
// part is JSON. Nothing is verified: the service does that.
func accountOf(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return ""
	}
	var claims struct {
		Auth struct {
			Account string `json:"chatgpt_account_id"`
		} `json:"https://api.openai.com/auth"`
	}
	if json.Unmarshal(raw, &claims) != nil {
		return ""
	}
	return claims.Auth.Account
}
