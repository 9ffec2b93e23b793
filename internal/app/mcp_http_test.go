package app_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes"
	"hermes/internal/mcp"
	"hermes/internal/mcp/login"
	"hermes/internal/oauth"
	"hermes/internal/oauthserver"
)

// documents is an MCP server on the network that demands a login.
type documents struct {
	http  *httptest.Server
	oauth *oauthserver.Server

	mu   sync.Mutex
	seen []http.Header
}

func newDocuments(t *testing.T) *documents {
	t.Helper()
	d := &documents{oauth: oauthserver.New()}
	t.Cleanup(d.oauth.Close)
	s := sdk.NewServer(&sdk.Implementation{Name: "docs", Version: "1"}, nil)
	type args struct {
		Title string `json:"title"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "read", Description: "Reads a document.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, in args) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "the text of " + in.Title}}}, nil, nil
		})
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true})
	d.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/.well-known/oauth-protected-resource/mcp":
			fmt.Fprintf(w, `{"resource":"%s/mcp","authorization_servers":[%[1]q]}`, d.http.URL)
		case r.URL.Path == "/.well-known/oauth-authorization-server":
			fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":"%s/authorize","token_endpoint":"%[2]s/token","code_challenge_methods_supported":["S256"]}`, d.http.URL, d.oauth.URL)
		case r.URL.Path != "/mcp":
			http.NotFound(w, r)
		case !d.oauth.Valid(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")):
			w.WriteHeader(http.StatusUnauthorized)
		default:
			d.mu.Lock()
			d.seen = append(d.seen, r.Header.Clone())
			d.mu.Unlock()
			h.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() { d.http.CloseClientConnections(); d.http.Close() })
	return d
}

// clicker is a user whose browser confirms everything.
type clicker struct{}

func (clicker) Visit(ctx context.Context, address string, _ bool, _ func(string) error) {
	go func() {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
		}
	}()
}
func (clicker) Confirm(context.Context, oauth.Device) {}

// phase waits until a server is in a phase.
func (s *scene) phase(name string, want mcp.Phase) mcp.State {
	s.t.Helper()
	late := time.After(time.Minute)
	for {
		for _, st := range s.app.KnownMCP() {
			if st.Name == name && st.Phase == want {
				return st
			}
		}
		select {
		case <-time.After(20 * time.Millisecond): // the session takes the server's own signal
		case <-late:
			s.t.Fatalf("%s is never %s: %+v", name, want, s.app.KnownMCP())
		}
	}
}

// TestAServerOnTheNetworkIsUsedAfterALogin goes from the settings to the result of a call.
func TestAServerOnTheNetworkIsUsedAfterALogin(t *testing.T) {
	d := newDocuments(t)
	s := newScene(t, hermes.AllowOnce)
	s.config = `
mcp_servers:
  docs: {url: "` + d.http.URL + `/mcp", headers: {X-Team: "blue"}, identity_header: X-User, oauth: {client_id: hermes}}
`
	s.say("hello") // servers are started with the first turn
	if st := s.phase("docs", mcp.Failed); st.Reason != "it demands a login; log in with `hermes mcp login docs`" {
		t.Errorf("the reason is %q", st.Reason)
	}
	l, device, err := s.app.ServerLogin("docs")
	if err != nil || device {
		t.Fatal(err, device)
	}
	e, err := l.Enter(t.Context(), clicker{}, false)
	if err != nil || !e.Renewed || e.Issuer != d.http.URL {
		t.Fatalf("%+v, %v", e, err)
	}
	info, err := os.Stat(filepath.Join(s.home, "mcp-tokens", "docs.json"))
	if err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	s.phase("docs", mcp.Connected)
	s.say(`CALL tool_call {"name":"mcp__docs__read","arguments":{"title":"Plan"}}`)
	if got := s.model.results(); !strings.Contains(got, "the text of Plan") {
		t.Errorf("the model read %q", got)
	}
	d.mu.Lock()
	for _, h := range d.seen {
		if h.Get("X-Team") != "blue" || h.Get("X-User") != "default" || !strings.HasPrefix(h.Get("User-Agent"), "hermes/") {
			t.Errorf("a request with the headers %v", h)
		}
	}
	d.mu.Unlock()
	if was, _, err := l.Out(t.Context()); !was || err != nil {
		t.Error(was, err)
	}
	s.say(`CALL tool_call {"name":"mcp__docs__read","arguments":{"title":"Notes"}}`)
	if got := s.model.results(); strings.Contains(got, "the text of Notes") || !strings.Contains(got, "hermes mcp login docs") {
		t.Errorf("after the logout the model read %q", got)
	}
}

// TestABlockedHostIsNoServer has the website blocklist of the user.
func TestABlockedHostIsNoServer(t *testing.T) {
	d := newDocuments(t)
	s := newScene(t, hermes.AllowOnce)
	s.config = `
mcp_servers: {docs: {url: "` + d.http.URL + `/mcp"}}
security: {website_blocklist: {enabled: true, domains: ["127.0.0.1"]}}
`
	s.say("hello") // servers are started with the first turn
	if st := s.phase("docs", mcp.Failed); !strings.Contains(st.Reason, "forbids") {
		t.Errorf("the reason is %q", st.Reason)
	}
}

// TestLoginsThatDoNotExist says why.
func TestLoginsThatDoNotExist(t *testing.T) {
	s := newScene(t, hermes.AllowOnce)
	s.config = `
mcp_servers:
  program: {command: "/nothing"}
  keyed: {url: "https://docs.example/mcp", headers: {authorization: "Bearer x"}}
  broken: {url: "https://docs.example/mcp", ssl_verify: /nothing.pem}
`
	s.enter()
	for name, want := range map[string]string{"program": "is a program", "keyed": "header Authorization", "broken": "ssl_verify", "other": "no MCP server"} {
		var l *login.Login
		l, _, err := s.app.ServerLogin(name)
		if l != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
