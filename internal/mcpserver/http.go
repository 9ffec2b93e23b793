package mcpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where the endpoint is.
const Path = "/mcp"

// HTTP says how an endpoint is guarded.
type HTTP struct {
	// Addr is the address to listen on, such as 127.0.0.1:8123.
	Addr string
	// Valid reports whether a token is the right one, in a time that does not depend on it.
	Valid func(token string) bool
	// Cert and Key are the files of a certificate and its key; both empty is no TLS, which only
	// an address of this machine may have.
	Cert, Key string
	// Hosts and Origins are allowed beside those of the address, exactly as clients send them.
	Hosts, Origins []string
}

// The limits of the endpoint.
const (
	maxBody     = 1 << 20
	maxHeader   = 16 << 10
	maxRequests = 64 // at once
	perSecond   = 50 // requests with the right token
	refusals    = 5  // a second that are told that their token is wrong
	headTime    = 10 * time.Second
	bodyTime    = 30 * time.Second
	idleTime    = 2 * time.Minute
	endTime     = 3 * time.Second
)

// Listen opens the address. It refuses one that other machines reach, unless there are a
// certificate and a check of tokens.
func (h HTTP) Listen(ctx context.Context) (net.Listener, error) {
	host, _, err := net.SplitHostPort(h.Addr)
	if err != nil {
		return nil, fmt.Errorf("invalid address %q: write it as 127.0.0.1:8123", h.Addr)
	}
	switch secure := h.Cert != "" && h.Key != ""; {
	case h.Valid == nil:
		return nil, errors.New("an endpoint needs a token")
	case (h.Cert == "") != (h.Key == ""):
		return nil, errors.New("TLS needs both a certificate and its key: use --tls-cert and --tls-key")
	case !loopback(host) && !secure:
		return nil, fmt.Errorf("%s can be reached from other machines, so it needs TLS: use 127.0.0.1, or add --tls-cert and --tls-key", h.Addr)
	case secure:
		if err := (&certificate{cert: h.Cert, key: h.Key}).load(); err != nil {
			return nil, err
		}
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", h.Addr)
}

// loopback reports whether only this machine reaches an address. The name localhost is resolved
// by the system, and counts.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Serve serves clients at the listener until ctx ends, which ends all that the server does. It
// closes the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener, h HTTP) error {
	defer context.AfterFunc(ctx, s.cancel)() // also of calls that wait
	server := &http.Server{
		Handler: s.Handler(h, l.Addr()), ReadHeaderTimeout: headTime, ReadTimeout: bodyTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug), // faults of clients; they see them themselves
	}
	if h.Cert != "" {
		c := &certificate{cert: h.Cert, key: h.Key, log: s.cfg.Log}
		if err := c.load(); err != nil {
			l.Close()
			return err
		}
		server.TLSConfig = &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12}
	}
	done := make(chan error, 1)
	go func() { // ends with the server
		if h.Cert != "" {
			done <- server.ServeTLS(l, "", "")
			return
		}
		done <- server.Serve(l)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if server.Shutdown(end) != nil {
		_ = server.Close() // who is slow is cut off
	}
	<-done
	return nil
}

// Handler returns the endpoint: it checks where a request came from and its token before
// anything of it is read. It speaks the versions of MCP with and without a handshake, and keeps
// nothing between requests.
func (s *Server) Handler(h HTTP, addr net.Addr) http.Handler {
	return guard(h, addr, s.cfg.Now, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Stateless: true, MaxRequestBodyBytes: maxBody, Logger: s.cfg.Log, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true, // the guard has the exact list
	}))
}

// guard refuses what may not reach the endpoint.
func guard(h HTTP, addr net.Addr, now func() time.Time, next http.Handler) http.Handler {
	hosts, origins := h.allowed(addr)
	requests, refused := newRate(perSecond, now), newRate(refusals, now)
	places := make(chan struct{}, maxRequests)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		switch {
		case !slices.Contains(hosts, strings.ToLower(r.Host)):
			http.Error(w, "this host is not allowed; add it with --allow-host", http.StatusForbidden)
			return
		case len(r.Header.Values("Origin")) > 0 && !slices.Contains(origins, origin):
			http.Error(w, "this origin is not allowed; add it with --allow-origin", http.StatusForbidden)
			return
		case r.URL.Path != Path:
			http.Error(w, "the endpoint is "+Path, http.StatusNotFound)
			return
		}
		if origin != "" {
			cors(w, origin)
		}
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if !h.Valid(bearer(r)) {
			if !refused.allow() {
				tooMany(w)
				return
			}
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the token is missing or wrong: send it as Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		if !requests.allow() {
			tooMany(w)
			return
		}
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
			next.ServeHTTP(w, r)
		default:
			tooMany(w)
		}
	})
}

// allowed returns the hosts and origins that clients may name.
func (h HTTP) allowed(addr net.Addr) (hosts, origins []string) {
	own, port, _ := net.SplitHostPort(addr.String())
	hosts = append(hosts, net.JoinHostPort(own, port))
	if loopback(own) {
		hosts = append(hosts, "localhost:"+port, "127.0.0.1:"+port, "[::1]:"+port)
	}
	scheme := "http"
	if h.Cert != "" {
		scheme = "https"
	}
	for _, host := range hosts {
		origins = append(origins, scheme+"://"+host)
	}
	for _, host := range h.Hosts {
		hosts = append(hosts, strings.ToLower(host))
	}
	return hosts, append(origins, h.Origins...)
}

// CheckOrigin returns an error, worded for the user, if a text is no origin.
func CheckOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme+"://"+u.Host != origin {
		return fmt.Errorf("invalid origin %q: write it as https://app.example", origin)
	}
	return nil
}

// cors lets pages of an allowed origin call the endpoint.
func cors(w http.ResponseWriter, origin string) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Vary", "Origin")
	h.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
}

// bearer returns the token of a request, which only its header may have.
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func tooMany(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "too many requests; try again in a second", http.StatusTooManyRequests)
}
