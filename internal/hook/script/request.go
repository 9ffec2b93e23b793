package script

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"hermes"
)

// webAddress says what is wrong with the address of a service.
func webAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return errors.New("is missing")
	case err != nil:
		return errors.New("is not an address")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return errors.New("is not an address that begins with https:// or http://")
	case u.User != nil:
		return errors.New("has a password in it: use headers, or secret_env")
	}
	return nil
}

// delivery is one body on its way to a service. A repeat has the same id.
type delivery struct {
	id, event string
	body      []byte
	request   Request
	secret    hermes.Secret
}

// newID names a delivery.
func newID() string { return rand.Text() }

// signature is that of a body, as GitHub writes it; "" without a secret.
func signature(secret hermes.Secret, body []byte) string {
	if secret.Reveal() == "" {
		return ""
	}
	sum := hmac.New(sha256.New, []byte(secret.Reveal()))
	sum.Write(body)
	return "sha256=" + hex.EncodeToString(sum.Sum(nil))
}

// tries is how often a body is sent: once more after an error of the network or of the service.
const tries = 2

// errStatus is an answer that counts as a failure.
type errStatus int

func (e errStatus) Error() string {
	if e >= 300 && e < 400 {
		return fmt.Sprintf("the service answered %d: redirects are not followed", int(e))
	}
	return fmt.Sprintf("the service answered %d", int(e))
}

// send sends a body and returns the answer.
func (d delivery) send(ctx context.Context, client *http.Client) (answer []byte, err error) {
	for range tries {
		answer, err = d.try(ctx, client)
		if status, ok := errors.AsType[errStatus](err); err == nil || ok && status < 500 || ctx.Err() != nil {
			break
		}
	}
	return answer, err
}

func (d delivery) try(ctx context.Context, client *http.Client) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.request.URL, bytes.NewReader(d.body))
	if err != nil {
		return nil, err
	}
	for name, value := range d.request.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Hermes-Event", d.event)
	req.Header.Set("X-Hermes-Delivery", d.id)
	if sign := signature(d.secret, d.body); sign != "" {
		req.Header.Set("X-Hermes-Signature-256", sign)
	}
	if client == nil {
		return nil, errors.New("there is no way to send requests")
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, errStatus(resp.StatusCode)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(answer) > maxAnswer {
		err = errors.New("the answer is longer than 1 MB")
	}
	return answer, err
}

// secretOf finds the secret of a request. One that is named and missing is an error: unsigned requests
// would be believed by no one.
func secretOf(q Request, lookup func(string) (string, bool)) (hermes.Secret, error) {
	if q.SecretEnv == "" {
		return q.Secret, nil
	}
	if lookup != nil {
		if value, ok := lookup(q.SecretEnv); ok && value != "" {
			return hermes.Secret(value), nil
		}
	}
	return "", fmt.Errorf("the variable %s has no value: put it into Hermes' .env", q.SecretEnv)
}

// request asks a service.
func (r *runner) request(ctx context.Context, h Entry, input []byte) Verdict {
	secret, err := secretOf(h.Request, r.config.LookupEnv)
	if err == nil && r.config.Client == nil {
		err = errors.New("there is no way to send requests")
	}
	if err != nil {
		return Verdict{Failed: err}
	}
	answer, err := delivery{newID(), h.Event, input, h.Request, secret}.send(ctx, r.config.Client)
	if err != nil {
		return Verdict{Failed: err}
	}
	v := verdict(h.event, 0, answer, nil)
	v.Unread = v.Unread || len(bytes.TrimSpace(answer)) == 0 // a page in between, such as that of a login, has no answer
	return v
}
