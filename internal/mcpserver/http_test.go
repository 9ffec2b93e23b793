package mcpserver_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes"
	"hermes/internal/mcpserver"
)

const token = "a-token-that-nobody-guesses"

// endpoint serves a rig over HTTP and returns its address.
func (r *rig) endpoint(h mcpserver.HTTP) string {
	r.t.Helper()
	valid, err := mcpserver.FixedToken(token)
	if err != nil {
		r.t.Fatal(err)
	}
	h.Addr = "127.0.0.1:0"
	if h.Valid == nil {
		h.Valid = valid
	}
	l, err := h.Listen(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.server.Serve(ctx, l, h) }() // ends with the test
	r.t.Cleanup(func() {
		end()
		if err := <-done; err != nil {
			r.t.Error(err)
		}
	})
	return l.Addr().String()
}

// ping is a request of either era.
const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// post sends a request and returns the status and the body.
func post(t *testing.T, addr, path, body string, change func(*http.Request)) (int, string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	q.Header.Set("Authorization", "Bearer "+token)
	if change != nil {
		change(q)
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

// TestTheEndpointIsGuarded: only the exact hosts and origins, and the token in its header.
func TestTheEndpointIsGuarded(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	addr := r.endpoint(mcpserver.HTTP{Hosts: []string{"Hermes.example"}, Origins: []string{"https://app.example"}})
	_, port, _ := net.SplitHostPort(addr)
	header := func(name, value string) func(*http.Request) {
		return func(q *http.Request) { q.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(q *http.Request) { q.Host = name } }
	for name, tt := range map[string]struct {
		path   string
		change func(*http.Request)
		want   int
	}{
		"as it should be":         {"/mcp", nil, 200},
		"by the name localhost":   {"/mcp", host("localhost:" + port), 200},
		"by an allowed name":      {"/mcp", host("hermes.example"), 200},
		"by its own origin":       {"/mcp", header("Origin", "http://localhost:"+port), 200},
		"by an allowed origin":    {"/mcp", header("Origin", "https://app.example"), 200},
		"a name that resolves":    {"/mcp", host("evil.example:" + port), 403},
		"without a port":          {"/mcp", host("localhost"), 403},
		"a page":                  {"/mcp", header("Origin", "https://evil.example"), 403},
		"a page of another port":  {"/mcp", header("Origin", "http://localhost:1"), 403},
		"a page like an allowed":  {"/mcp", header("Origin", "https://app.example.evil.example"), 403},
		"a page without a name":   {"/mcp", header("Origin", "null"), 403},
		"a page with no text":     {"/mcp", header("Origin", ""), 403},
		"no token":                {"/mcp", func(q *http.Request) { q.Header.Del("Authorization") }, 401},
		"the beginning of it":     {"/mcp", header("Authorization", "Bearer "+token[:20]), 401},
		"a longer one":            {"/mcp", header("Authorization", "Bearer "+token+"x"), 401},
		"as a password":           {"/mcp", func(q *http.Request) { q.SetBasicAuth("x", token) }, 401},
		"in the address":          {"/mcp?token=" + token, func(q *http.Request) { q.Header.Del("Authorization") }, 401},
		"behind a proxy's header": {"/mcp", func(q *http.Request) { q.Host = "evil.example"; q.Header.Set("X-Forwarded-Host", addr) }, 403},
		"another path":            {"/", nil, 404},
		"another path below":      {"/mcp/x", nil, 404},
	} {
		if got, body := post(t, addr, tt.path, ping, tt.change); got != tt.want {
			t.Errorf("%s: %d %s, want %d", name, got, body, tt.want)
		}
	}
	if got, _ := post(t, addr, "/mcp", strings.Repeat(" ", 1<<20)+ping, nil); got != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body: %d", got)
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, "http://"+addr+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Origin", "https://app.example")
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusNoContent || res.Header.Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Errorf("the question of a browser: %d %v", res.StatusCode, res.Header)
	}
}

// TestTheEndpointIsNotFlooded: who guesses tokens is slowed down, and does not keep others out.
func TestTheEndpointIsNotFlooded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC) // it stands still
	r := newRig(t, func(c *mcpserver.Config) { c.Now = func() time.Time { return now } })
	addr := r.endpoint(mcpserver.HTTP{})
	seen := map[int]int{}
	for range 30 {
		status, _ := post(t, addr, "/mcp", ping, func(q *http.Request) { q.Header.Set("Authorization", "Bearer guess") })
		seen[status]++
	}
	if seen[401] != 10 || seen[429] != 20 {
		t.Errorf("guesses get %v", seen)
	}
	seen = map[int]int{}
	for range 120 {
		status, _ := post(t, addr, "/mcp", ping, nil)
		seen[status]++
	}
	if seen[200] != 100 || seen[429] != 20 {
		t.Errorf("the right token gets %v", seen)
	}
}

// TestOnlyThisMachineReachesAnEndpointWithoutTLS.
func TestOnlyThisMachineReachesAnEndpointWithoutTLS(t *testing.T) {
	t.Parallel()
	yes := func(string) bool { return true }
	for want, h := range map[string]mcpserver.HTTP{
		"needs TLS":          {Addr: "0.0.0.0:0", Valid: yes},
		"so it needs TLS":    {Addr: ":0", Valid: yes},
		"[::]:0 can":         {Addr: "[::]:0", Valid: yes},
		"192.0.2.1:0 can":    {Addr: "192.0.2.1:0", Valid: yes},
		"example.com:80 can": {Addr: "example.com:80", Valid: yes},
		"needs a token":      {Addr: "127.0.0.1:0"},
		"needs both":         {Addr: "127.0.0.1:0", Valid: yes, Cert: "a.pem"},
		"invalid address":    {Addr: "8123", Valid: yes},
	} {
		l, err := h.Listen(t.Context())
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", h.Addr, err, want)
		}
	}
}

// TestATokenIsRevoked at once by removing its file, and by a new one; it ends at its time.
func TestATokenIsRevoked(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	f := mcpserver.TokenFile{Path: filepath.Join(t.TempDir(), "run", "mcp-token"), Now: func() time.Time { return now }}
	read := func() string {
		raw, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := bytes.Cut(raw, []byte("\n"))
		return string(first)
	}
	until, err := f.Make()
	if err != nil || !until.Equal(now.Add(mcpserver.TokenTime)) {
		t.Fatal(until, err)
	}
	first := read()
	if _, err := f.Make(); err != nil || read() != first {
		t.Errorf("the next start changes the token: %v", err)
	}
	if !f.Valid(first) || f.Valid(first[1:]) || f.Valid("") {
		t.Error("the token is not compared")
	}
	if info, _ := os.Stat(f.Path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v", info.Mode())
	}
	if _, err := f.Renew(); err != nil || f.Valid(first) || !f.Valid(read()) {
		t.Errorf("a new token does not revoke the old one: %v", err)
	}
	second := read()
	now = now.Add(mcpserver.TokenTime + time.Second)
	if f.Valid(second) {
		t.Error("a token is valid for ever")
	}
	if _, err := f.Make(); err != nil || read() == second {
		t.Errorf("a token that is over is kept: %v", err)
	}
	if err := os.Remove(f.Path); err != nil || f.Valid(second) {
		t.Errorf("a removed token is valid: %v", err)
	}
	if runtime.GOOS != "windows" {
		if _, err := f.Make(); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(f.Path, 0o644); err != nil || f.Valid(read()) {
			t.Errorf("a token that others can read is valid: %v", err)
		}
	}
	if _, err := mcpserver.FixedToken("short"); err == nil {
		t.Error("a short token is taken")
	}
}

// withToken adds the token to requests.
type withToken struct{}

func (w withToken) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.Header.Set("Authorization", "Bearer "+token)
	return http.DefaultTransport.RoundTrip(q)
}

// TestBothErasOfTheProtocol are spoken over HTTP: with a handshake, and without.
func TestBothErasOfTheProtocol(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.stored(hermes.Session{ID: "s1", Platform: "cli"}, hermes.UserText("hi"))
	addr := r.endpoint(mcpserver.HTTP{})
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		s, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(t.Context(),
			&mcp.StreamableClientTransport{Endpoint: "http://" + addr + "/mcp", HTTPClient: &http.Client{Transport: withToken{}}}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Errorf("%s: %v", version, err)
			continue
		}
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "messages_read", Arguments: map[string]any{"conversation_id": "s1"}})
		if err != nil || res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, `"text":"hi"`) {
			t.Errorf("%s: %+v, %v", version, res, err)
		}
		if got := s.InitializeResult().ProtocolVersion; got != version {
			t.Errorf("%s was asked for, and %s is spoken", version, got)
		}
		s.Close()
	}
}
