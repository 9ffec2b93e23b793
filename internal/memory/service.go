package memory

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
	"hermes/internal/redact"
)

// Service says how to reach an external service.
type Service struct {
	BaseURL string // empty for the service's public address
	Key     hermes.Secret
	// User names the owner of the memories, Agent the agent.
	User, Agent string
	// Client sends the requests; nil is Go's usual one. It follows redirects as
	// httpc.WithinOrigin says.
	Client *http.Client
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

// client speaks JSON with one service.
type client struct {
	Service
	name string
	env  string // environment variable of the key, for messages
	auth func(h http.Header, key string)
}

func newClient(s Service, name, env, base string, auth func(http.Header, string)) *client {
	if s.BaseURL == "" {
		s.BaseURL = base
	}
	s.BaseURL = strings.TrimRight(s.BaseURL, "/")
	s.Client = httpc.WithinOrigin.Client(s.Client)
	if s.Pause == 0 {
		s.Pause = time.Second
	}
	if s.User == "" {
		s.User = "hermes-user"
	}
	if s.Agent == "" {
		s.Agent = "hermes"
	}
	return &client{s, name, env, auth}
}

func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

// failure is an error that a service answered.
type failure struct {
	service string
	status  int
	text    string
}

func (f *failure) Error() string { return fmt.Sprintf("%s: %s", f.service, f.text) }

// temporary reports whether the same request may succeed a moment later.
func (f *failure) temporary() bool {
	return f.status == http.StatusTooManyRequests || f.status >= 500
}

// send sends something to store. A request that fails temporarily is sent once
// more.
func (c *client) send(ctx context.Context, path string, body any) error {
	err := c.do(ctx, http.MethodPost, path, nil, body, nil)
	if f, ok := err.(*failure); !ok || !f.temporary() {
		return err
	}
	timer := time.NewTimer(c.Pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return err
	}
	return c.do(ctx, http.MethodPost, path, nil, body, nil)
}

// do sends one request and decodes its answer into a value, which may be nil.
func (c *client) do(ctx context.Context, method, path string, query url.Values, body, into any) error {
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
	resp, err := c.Client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if no, ok := errors.AsType[*httpc.RedirectError](err); ok {
			return &failure{c.name, no.Status, no.Error() + "; if you trust the new address, set it as the service's base URL"}
		}
		return &failure{c.name, http.StatusServiceUnavailable, "could not be reached: " + err.Error()}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return &failure{c.name, http.StatusServiceUnavailable, "its answer was cut off: " + err.Error()}
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

func (c *client) refusal(status int, body []byte) error {
	said := redact.Text(shorten(string(body), 200))
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &failure{c.name, status, fmt.Sprintf("it refused the key (%d); check %s", status, c.env)}
	case http.StatusPaymentRequired, http.StatusTooManyRequests:
		return &failure{c.name, status, fmt.Sprintf("its limit is reached (%d): %s", status, said)}
	}
	return &failure{c.name, status, fmt.Sprintf("it answered %d: %s", status, said)}
}

// bullets formats results as a list, best first, within the bound of a recall.
// It drops lines that look like orders, since a service also holds untrusted
// text.
func bullets(lines []string) string {
	var b strings.Builder
	seen := map[string]bool{}
	free := hermes.MaxRecall
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || seen[line] || scanOrders(line) != "" {
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

// recalled returns a service's results as untrusted text: the service wrote
// them itself, from any text that it received.
func (c *client) recalled(lines []string) hermes.Recalled {
	return hermes.Recalled{Text: bullets(lines), Provenance: hermes.ProvenanceSource("memory service", c.name)}
}

// outgoing prepares one side of a turn for sending: without secrets, and
// bounded.
func outgoing(text string) string { return redact.Text(cut(text, maxSent)) }

// plainID turns a text into an id that services accept: letters, digits, dash
// and underscore.
func plainID(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, text)
}
