package external

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hermes"
	"hermes/internal/httpc"
	"hermes/internal/memory/scan"
	"hermes/internal/redact"
	"hermes/internal/text"
)

// Access says how to reach a service.
type Access struct {
	BaseURL string // empty for the service's public address
	Key     hermes.Secret
	// User names the owner of the memories, Agent the agent.
	User, Agent string
	// HTTP sends the requests; nil is Go's usual client. It follows redirects as
	// httpc.WithinOrigin says.
	HTTP *http.Client
	// Pause is the wait before a request that failed temporarily is sent once
	// more; 0 is one second. Searches are not repeated, since a turn waits for
	// them.
	Pause time.Duration
}

const (
	maxReply = 1 << 20 // bytes
	// maxSent bounds the text sent of each side of a turn, in characters.
	maxSent = 8000
)

// Client speaks JSON with one service. Its methods may be called concurrently.
type Client struct {
	Access
	name string
	env  string // environment variable of the key, for messages
	auth func(h http.Header, key string)
}

// NewClient makes the client of the service with a name. env is the variable of its key,
// for messages; base its public address; auth sets the header with the key.
func NewClient(s Access, name, env, base string, auth func(http.Header, string)) *Client {
	if s.BaseURL == "" {
		s.BaseURL = base
	}
	s.BaseURL = strings.TrimRight(s.BaseURL, "/")
	s.HTTP = httpc.WithinOrigin.Client(s.HTTP)
	if s.Pause == 0 {
		s.Pause = time.Second
	}
	if s.User == "" {
		s.User = "hermes-user"
	}
	if s.Agent == "" {
		s.Agent = "hermes"
	}
	return &Client{s, name, env, auth}
}

// Bearer sends a key as most services expect it.
func Bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

// Name is the name of the service.
func (c *Client) Name() string { return c.name }

// SystemBlock is empty: memories come with each message.
func (*Client) SystemBlock(context.Context) (string, error) { return "", nil }

// Failure is an error that a service answered.
type Failure struct {
	Status  int // of HTTP; 503 if the service could not be reached
	service string
	text    string
}

// Error says which service failed, why, and what to do.
func (f *Failure) Error() string { return fmt.Sprintf("%s: %s", f.service, f.text) }

// temporary reports whether the same request may succeed a moment later.
func (f *Failure) temporary() bool {
	return f.Status == http.StatusTooManyRequests || f.Status >= 500
}

// Send sends something to store. A request that fails temporarily is sent once
// more.
func (c *Client) Send(ctx context.Context, path string, body any) error {
	err := c.Do(ctx, http.MethodPost, path, nil, body, nil)
	if f, ok := err.(*Failure); !ok || !f.temporary() {
		return err
	}
	timer := time.NewTimer(c.Pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return err
	}
	return c.Do(ctx, http.MethodPost, path, nil, body, nil)
}

// Do sends one request and decodes its answer into a value, which may be nil.
func (c *Client) Do(ctx context.Context, method, path string, query url.Values, body, into any) error {
	address := c.BaseURL + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	var sent io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, sent)
	if err != nil {
		return fmt.Errorf("%s: invalid address %q: %w", c.name, c.BaseURL, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	if key := c.Key.Reveal(); key != "" {
		c.auth(req.Header, key)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if no, ok := errors.AsType[*httpc.RedirectError](err); ok {
			return &Failure{no.Status, c.name, no.Error() + "; if you trust the new address, set it as the service's base URL"}
		}
		return &Failure{http.StatusServiceUnavailable, c.name, "could not be reached: " + err.Error()}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return &Failure{http.StatusServiceUnavailable, c.name, "its answer was cut off: " + err.Error()}
	}
	if resp.StatusCode >= 300 {
		return c.refusal(resp.StatusCode, data)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: its answer cannot be read: %w", c.name, err)
	}
	return nil
}

func (c *Client) refusal(status int, body []byte) error {
	said := redact.Text(text.Line(string(body), 200))
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &Failure{status, c.name, fmt.Sprintf("it refused the key (%d); check %s", status, c.env)}
	case http.StatusPaymentRequired, http.StatusTooManyRequests:
		return &Failure{status, c.name, fmt.Sprintf("its limit is reached (%d): %s", status, said)}
	}
	return &Failure{status, c.name, fmt.Sprintf("it answered %d: %s", status, said)}
}

// Bullets formats results as a list, best first, within the bound of a recall.
// It drops lines that look like orders, since a service also holds untrusted
// text.
func Bullets(lines []string) string {
	var b strings.Builder
	seen := map[string]bool{}
	free := hermes.MaxRecall
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || seen[line] || scan.Orders(line) != "" {
			continue
		}
		seen[line] = true
		item := "- " + strings.ReplaceAll(line, "\n", "\n  ") + "\n"
		if free -= len([]rune(item)); free < 0 {
			break
		}
		b.WriteString(item)
	}
	return strings.TrimSpace(b.String())
}

// Recalled returns a service's results as untrusted text: the service wrote
// them itself, from any text that it received.
func (c *Client) Recalled(lines []string) hermes.Recalled {
	return hermes.Recalled{Text: Bullets(lines), Provenance: hermes.ProvenanceSource("memory service", c.name)}
}

// Outgoing prepares one side of a turn for sending: without secrets, and
// bounded.
func Outgoing(said string) string { return redact.Text(text.Cut(said, maxSent)) }

// PlainID turns a text into an id that services accept: letters, digits, dash
// and underscore.
func PlainID(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, text)
}
