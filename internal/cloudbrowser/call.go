package cloudbrowser

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

	"hermes/internal/text"
)

const (
	maxAnswer = 1 << 20 // bytes
	maxDetail = 200     // characters of what a service says
)

// refusal is an answer of a service that is no success.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// send sends an object with the key, nil for none, and reads the answer into out, if that is not nil.
func (c *Client) send(ctx context.Context, limit time.Duration, method, path string, in map[string]any, out any) error {
	base, err := url.Parse(c.base())
	if err != nil || base.Hostname() == "" || base.User != nil || base.Scheme != "https" && !(base.Scheme == "http" && loopback(base.Hostname())) {
		return fmt.Errorf("%s must be an address that begins with https://", c.Address)
	}
	var body []byte
	if in != nil {
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.base()+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s is not valid", c.Address)
	}
	req.Header.Set("Accept", "application/json")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set(c.header, c.Secret())
	client := *c.HTTP
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("%s cannot be reached (%s)", c.Title, c.masked(plain(err)))
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return c.refuse(resp.StatusCode, raw)
	case err != nil:
		return fmt.Errorf("%s broke its answer off (%s)", c.Title, c.masked(plain(err)))
	case len(raw) > maxAnswer:
		return fmt.Errorf("the answer of %s is larger than %d MB", c.Title, maxAnswer>>20)
	case out == nil:
		return nil
	case json.Unmarshal(raw, out) != nil:
		return fmt.Errorf("the answer of %s is not the JSON that was expected; check %s if it is set", c.Title, c.Address)
	}
	return nil
}

// plain returns the text of a network error without the address.
func plain(err error) string {
	if at, ok := errors.AsType[*url.Error](err); ok {
		if at.Timeout() {
			return "no answer in time"
		}
		err = at.Err
	}
	return err.Error()
}

// masked returns a text on one line, short, and without the key.
func (c *Client) masked(s string) string {
	if key := c.Secret(); key != "" {
		s = strings.ReplaceAll(s, key, "***")
	}
	return text.OneLine(s, maxDetail)
}

// refuse says what an answer means that is no success, and what to do.
func (c *Client) refuse(status int, body []byte) error {
	detail := fmt.Sprintf("status %d", status)
	if said := message(body); said != "" {
		detail += ": " + said
	}
	said := ""
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		said = "does not accept the key: check " + c.Key
		if c.Project != "" {
			said += " and, if it is set, " + c.Project
		}
	case status == http.StatusPaymentRequired:
		said = "says that the account has no credit or no plan for this browser: check the account, or set browser.cloud_proxies to false if its plan has no proxies"
	case status == http.StatusTooManyRequests:
		said = "says that the account has too many browsers open or asks too often: release some, or try again later"
	case status >= 300 && status <= 399:
		said = "answers with another address, which does not get the key: check " + c.Address
	case status == http.StatusRequestTimeout, status >= 500:
		said = "has a failure: try again later"
	case status == http.StatusNotFound:
		said = "does not know this request: check " + c.Address + " if it is set"
	default:
		said = "does not accept the request: check browser.cloud_timeout and browser.cloud_proxies"
	}
	return &refusal{status, fmt.Sprintf("%s %s (%s)", c.Title, said, c.masked(detail))}
}

// message returns what the body of a failure says: a text of one of the usual fields.
func message(body []byte) string {
	var v map[string]json.RawMessage
	if json.Unmarshal(body, &v) != nil {
		return ""
	}
	for _, name := range []string{"message", "error", "detail"} {
		var s string
		if json.Unmarshal(v[name], &s) == nil && s != "" {
			return s
		}
		if said := message(v[name]); said != "" {
			return said
		}
	}
	return ""
}
