// Package rest asks JSON services for the plugins that come along with Hermes: keys and tokens go
// along, answers and errors are bounded, and what a service refuses is worded for a model.
//
// It knows no service. Start at Client.
package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"hermes/internal/httpc"
	"hermes/internal/redact"
	"hermes/internal/text"
)

const (
	maxReply = 4 << 20 // bytes
	maxSaid  = 300     // characters of what a service says about a failure
	// maxPause is the longest wait that a service may ask for before a request is sent once more.
	maxPause = 5 * time.Second
	// requestTime bounds one request.
	requestTime = 60 * time.Second
)

// Client asks one service. Its methods may be called concurrently.
type Client struct {
	// Service is its name, for messages.
	Service string
	// Base is the address before all paths.
	Base string
	HTTP *http.Client
	// Authorize puts a key or a token into the header of a request; nil sends none.
	Authorize func(ctx context.Context, h http.Header) error
	// Renew gets another token for one that the service refused, as the header Authorization had it;
	// nil cannot. Then the request is sent once more.
	Renew func(ctx context.Context, refused string) error
	// Advice says what to do about a refusal; "" or nil is nothing special.
	Advice func(f *Failure) string
}

// Failure is a request that had no success.
type Failure struct {
	// Status is that of HTTP; 0 if the service could not be reached.
	Status int
	// Said is what the service says, and Reason its word for it; both may be empty.
	Said, Reason string
	// Wait is how long the service asks to wait; 0 if it does not say.
	Wait time.Duration

	text string
}

// Error says which service failed, why, and what to do.
func (f *Failure) Error() string { return f.text }

// Key returns what authorizes requests with a fixed header; an empty value sends none.
func Key(name, value string) func(context.Context, http.Header) error {
	return func(_ context.Context, h http.Header) error {
		if value != "" {
			h.Set(name, value)
		}
		return nil
	}
}

// Do sends one request and decodes its answer into a value, which may be nil. It reports whether the
// answer had a body. A read that the service has no time for is sent once more.
func (c *Client) Do(ctx context.Context, method, path string, query url.Values, body, into any) (found bool, err error) {
	var data []byte
	if body != nil {
		if data, err = json.Marshal(body); err != nil {
			return false, err
		}
	}
	address := strings.TrimRight(c.Base, "/") + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, requestTime, fmt.Errorf("%s did not answer within %v", c.Service, requestTime))
	defer cancel()
	for renewed, paused := false, false; ; {
		header := http.Header{}
		if c.Authorize != nil {
			if err := c.Authorize(ctx, header); err != nil {
				return false, err
			}
		}
		found, err = c.once(ctx, method, address, data, into, header)
		f, refused := errors.AsType[*Failure](err)
		switch {
		case !refused || ctx.Err() != nil:
			return found, err
		case f.Status == http.StatusUnauthorized && c.Renew != nil && !renewed:
			renewed = true
			if err := c.Renew(ctx, header.Get("Authorization")); err != nil {
				return false, err
			}
		case method == http.MethodGet && !paused && f.Wait > 0 && f.Wait <= maxPause && (f.Status == http.StatusTooManyRequests || f.Status == http.StatusServiceUnavailable):
			paused = true
			select {
			case <-time.After(f.Wait):
			case <-ctx.Done():
				return false, err
			}
		default:
			return found, err
		}
	}
}

func (c *Client) once(ctx context.Context, method, address string, data []byte, into any, header http.Header) (found bool, err error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(data))
	if err != nil {
		return false, fmt.Errorf("the address of %s cannot be used: %w", c.Service, err)
	}
	req.Header = header
	if data != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.HTTP.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		return false, &Failure{text: fmt.Sprintf("%s could not be reached: %s", c.Service, redact.Text(text.OneLine(err.Error(), maxSaid)))}
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil:
		return false, &Failure{text: c.Service + ": its answer was cut off"}
	case resp.StatusCode >= 300:
		return false, c.refusal(resp, reply)
	case len(reply) > maxReply:
		return false, fmt.Errorf("the answer of %s is larger than %s; ask for less at once", c.Service, text.Size(maxReply))
	}
	if len(bytes.TrimSpace(reply)) == 0 {
		return false, nil
	}
	if into == nil {
		return true, nil
	}
	if err := json.Unmarshal(reply, into); err != nil {
		return false, fmt.Errorf("the answer of %s cannot be read: %w", c.Service, err)
	}
	return true, nil
}

// refusal words an answer that is no success.
func (c *Client) refusal(resp *http.Response, body []byte) error {
	f := &Failure{Status: resp.StatusCode}
	f.Said, f.Reason = said(body)
	f.Said = redact.Text(text.OneLine(f.Said, maxSaid))
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		f.Wait = time.Duration(min(seconds, 1<<20)) * time.Second
	}
	f.text = fmt.Sprintf("%s answered %d", c.Service, f.Status)
	if f.Said != "" {
		f.text += ": " + f.Said
	}
	advice := ""
	if c.Advice != nil {
		advice = c.Advice(f)
	}
	if advice == "" && f.Status == http.StatusTooManyRequests {
		advice = "wait a minute and try it again"
		if f.Wait > 0 {
			advice = fmt.Sprintf("wait %v and try it again", f.Wait)
		}
	}
	if advice != "" {
		f.text += "; " + advice
	}
	return f
}

// said reads the forms in which services word a failure.
func said(body []byte) (text, reason string) {
	var form struct {
		Error   json.RawMessage `json:"error"`
		Detail  json.RawMessage `json:"detail"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &form) != nil {
		return string(body), ""
	}
	var nested struct {
		Message string          `json:"message"`
		Reason  string          `json:"reason"`
		Code    json.RawMessage `json:"code"`
		Status  json.RawMessage `json:"status"`
	}
	if json.Unmarshal(form.Error, &nested) == nil && nested.Message != "" {
		word := ""
		for _, raw := range []json.RawMessage{nested.Status, nested.Code} {
			_ = json.Unmarshal(raw, &word) // numbers are no words
		}
		return nested.Message, cmp.Or(nested.Reason, word)
	}
	for _, raw := range []json.RawMessage{form.Error, form.Detail} {
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return text, ""
		}
	}
	return cmp.Or(form.Message, string(form.Detail), string(body)), ""
}

// NewHTTP makes the HTTP client of a plugin. Behind its walls all requests go through their proxy, also
// those to this machine, and the authority that puts secrets in is trusted.
func NewHTTP(getenv func(string) string, agent string) (*http.Client, error) {
	o := httpc.Options{UserAgent: agent, MaxResponse: maxReply + 1}
	p := httpc.ProxiesOf(getenv)
	if p.HTTP != "" || p.HTTPS != "" {
		o.Proxy = func(req *http.Request) (*url.URL, error) {
			if req.URL.Scheme == "https" {
				return url.Parse(cmp.Or(p.HTTPS, p.HTTP))
			}
			return url.Parse(cmp.Or(p.HTTP, p.HTTPS))
		}
	}
	if file := getenv("SSL_CERT_FILE"); file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the authority of the walls: %w", err)
		}
		o.RootCAs = data
	}
	return httpc.New(o)
}
