package faultserver

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
)

// quiet is the log of servers whose failures are intended.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// network has broken network paths to a server. Each of them really fails, as
// far as that is possible on one machine.
type network struct {
	refused string // an address without a listener
	alert   *httptest.Server
	plain   *httptest.Server
	proxy   *httptest.Server
}

func newNetwork() *network {
	n := &network{}
	n.alert = httptest.NewUnstartedServer(http.NotFoundHandler())
	n.alert.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return nil, errors.New("no handshake today")
	}}
	n.alert.Config.ErrorLog = quiet()
	n.alert.StartTLS()
	n.plain = httptest.NewUnstartedServer(http.NotFoundHandler()) // its certificate is unknown
	n.plain.Config.ErrorLog = quiet()
	n.plain.StartTLS()
	n.proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no way", http.StatusBadGateway)
	}))
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		n.refused = l.Addr().String()
		_ = l.Close()
	}
	return n
}

func (n *network) close() {
	n.alert.Close()
	n.plain.Close()
	n.proxy.Close()
}

// ways are the faults below HTTP: on the path to the server.
func ways() []Fault {
	return []Fault{
		{Name: "TLS alert", way: func(n *network) http.RoundTripper {
			return elsewhere{base: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, to: n.alert.URL}
		}},
		{Name: "certificate", way: func(n *network) http.RoundTripper {
			return elsewhere{base: &http.Transport{DisableKeepAlives: true}, to: n.plain.URL}
		}},
		{Name: "TLS spoken to a plain server", way: func(n *network) http.RoundTripper {
			u, _ := url.Parse(n.proxy.URL) // the server's own address is valid
			return elsewhere{base: &http.Transport{DisableKeepAlives: true}, to: "https://" + u.Host}
		}},
		{Name: "refused", way: func(n *network) http.RoundTripper {
			return elsewhere{base: &http.Transport{DisableKeepAlives: true}, to: "http://" + n.refused}
		}},
		{Name: "no such name", way: func(*network) http.RoundTripper { return &http.Transport{DisableKeepAlives: true, DialContext: noName} }},
		{Name: "proxy refuses", way: func(n *network) http.RoundTripper {
			proxy, err := url.Parse(n.proxy.URL)
			return elsewhere{base: &http.Transport{DisableKeepAlives: true, Proxy: func(*http.Request) (*url.URL, error) { return proxy, err }}, to: "https://service.invalid"}
		}},
		{Name: "proxy is down", way: func(n *network) http.RoundTripper {
			return elsewhere{base: &http.Transport{DisableKeepAlives: true, Proxy: func(*http.Request) (*url.URL, error) {
				return &url.URL{Scheme: "http", Host: n.refused}, nil
			}}, to: "https://service.invalid"}
		}},
	}
}

// elsewhere sends requests to another server.
type elsewhere struct {
	base *http.Transport
	to   string
}

func (e elsewhere) RoundTrip(req *http.Request) (*http.Response, error) {
	to, err := url.Parse(e.to)
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.Host = to.Scheme, to.Host, ""
	return e.base.RoundTrip(req)
}

// noName fails like a resolver. A real query would go to the network.
func noName(_ context.Context, network, address string) (net.Conn, error) {
	host, _, _ := net.SplitHostPort(address)
	return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}}
}
