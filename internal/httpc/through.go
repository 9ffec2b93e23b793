package httpc

import (
	"cmp"
	"net/http"
)

// Through returns a client whose requests go through trip, which sends them with next.
// Like any http.RoundTripper, trip must not change its request.
func Through(client *http.Client, trip func(req *http.Request, next http.RoundTripper) (*http.Response, error)) *http.Client {
	own := *client
	own.Transport = &through{cmp.Or(client.Transport, http.DefaultTransport), trip}
	return &own
}

type through struct {
	next http.RoundTripper
	trip func(*http.Request, http.RoundTripper) (*http.Response, error)
}

func (t *through) RoundTrip(req *http.Request) (*http.Response, error) { return t.trip(req, t.next) }

// CloseIdleConnections lets http.Client close the connections kept for reuse.
func (t *through) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
