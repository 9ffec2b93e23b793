// Package bedrock implements Amazon Bedrock's Converse protocol, streaming or not.
//
// It owns the format of requests and answers: content blocks, results in user
// turns, cache points, reasoning with its signature, events in AWS's binary
// frames. It signs requests with the credentials that the AWS tools would use,
// which it looks up at the first call, or sends a Bedrock API key. It turns every
// failure into a *hermes.ModelError and must not decide on retries.
//
// Within a session, each request begins with the bytes of the previous one, so
// that prompt caches match: tools, system prompt, turns, and then what may change
// from call to call. The cache points move, and the last turn may get more blocks.
//
// Start reading at Model.Stream, then request.go, turns.go and answer.go.
package bedrock

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"hermes"
	"hermes/internal/transport/base"
)

// Config says which model to call, and how. An empty BaseURL means the region's
// own. Key is a Bedrock API key; without one, requests are signed.
type Config struct {
	base.Config
	Access Access
	Quirks Quirks
}

// Quirks says what a model or account does differently. The zero value is the
// usual behaviour.
type Quirks struct {
	// NoStream requests answers without streaming.
	NoStream bool
	// CacheTTL is "5m", "1h" or "auto" as in hermes.Request; empty sets no cache points.
	CacheTTL string
}

// Model is a hermes.Model of Bedrock's. It may be used concurrently.
type Model struct {
	cfg    Config
	claude base.Claude
	tools  base.Tools
	signer signer
}

// New returns a model. It does no I/O.
func New(cfg Config) *Model {
	cfg.Config = cfg.Config.Ready()
	return &Model{cfg: cfg, claude: base.ClaudeOf(cfg.Model), signer: signer{access: cfg.Access}}
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
	req, err := m.request(ctx, body)
	if err != nil {
		return err
	}
	return translate(m.cfg.Ask(req, newAnswer(r, yield).read))
}

// request makes the signed request.
func (m *Model) request(ctx context.Context, body []byte) (*http.Request, error) {
	address := m.cfg.BaseURL
	region := regionOf(address)
	if address == "" {
		var err error
		if region, err = m.signer.region(ctx); err != nil {
			return nil, err
		}
		address = "https://bedrock-runtime." + region + ".amazonaws.com"
	}
	verb := "/converse-stream"
	if m.cfg.Quirks.NoStream {
		verb = "/converse"
	}
	// The colon is escaped like in AWS's own clients: the signature covers it.
	name := strings.ReplaceAll(url.PathEscape(m.cfg.Model), ":", "%3A")
	req, err := base.Post(ctx, address+"/model/"+name+verb, body)
	if err != nil {
		return nil, err
	}
	if m.cfg.Key != "" {
		m.cfg.Sign(req.Header, "")
		return req, nil
	}
	return req, m.signer.sign(ctx, req, body, region, m.cfg.Now())
}

// regionOf reads the region from an address such as
// https://bedrock-runtime.eu-central-1.amazonaws.com; empty if it names none.
func regionOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	parts := strings.Split(u.Hostname(), ".")
	for i, p := range parts[:len(parts)-1] {
		if strings.HasPrefix(p, "bedrock-runtime") || strings.HasPrefix(p, "bedrock-fips") {
			return parts[i+1]
		}
	}
	return ""
}
