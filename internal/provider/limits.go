package provider

import (
	"cmp"
	"net/http"
	"time"

	"hermes"
	"hermes/internal/httpc"
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
	return httpc.Through(client, func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err == nil {
			c.limits.Read(ch.id, cmp.Or(key.Label, key.ID), resp.Header, c.cfg.Now())
		}
		return resp, err
	})
}
