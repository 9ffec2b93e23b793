package provider

import (
	"cmp"
	"net/http"
	"time"

	"hermes"
	"hermes/internal/ratelimit"
)

// Limits returns what the services said last about the limits of each credential
// that was used in this run, and the time of the question. It asks no service.
func (c *Catalogue) Limits() ([]ratelimit.Status, time.Time) {
	now := c.cfg.Now()
	return c.limits.Now(now), now
}

// watched returns a client that reads the limits in the headers of each answer,
// also of a refusal.
func (c *Catalogue) watched(client *http.Client, ch choice, key hermes.Key) *http.Client {
	own := *client
	own.Transport = &watching{base: client.Transport, read: func(h http.Header) {
		c.limits.Read(ch.id, cmp.Or(key.Label, key.ID), h, c.cfg.Now())
	}}
	return &own
}

type watching struct {
	base http.RoundTripper // nil is http.DefaultTransport
	read func(http.Header)
}

func (w *watching) RoundTrip(req *http.Request) (*http.Response, error) {
	base := w.base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(req)
	if err == nil {
		w.read(resp.Header)
	}
	return resp, err
}

// CloseIdleConnections lets http.Client close the connections kept for reuse.
func (w *watching) CloseIdleConnections() {
	if c, ok := w.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
