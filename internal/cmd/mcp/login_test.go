package mcp_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/cmd/mcp"
	"hermes/internal/oauthserver"
)

// world is a home with an MCP server that demands a login.
type world struct {
	t       *testing.T
	home    string
	server  *httptest.Server
	oauth   *oauthserver.Server
	browser func(address string)

	mu     sync.Mutex
	opened []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, home: t.TempDir(), oauth: oauthserver.New()}
	t.Cleanup(w.oauth.Close)
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.well-known/oauth-protected-resource/mcp":
			fmt.Fprintf(rw, `{"resource":"%s/mcp","authorization_servers":[%[1]q],"scopes_supported":["read"]}`, w.server.URL)
		case "/.well-known/oauth-authorization-server":
			fmt.Fprintf(rw, `{"issuer":%q,"authorization_endpoint":"%s/authorize","token_endpoint":"%[2]s/token","device_authorization_endpoint":"%[2]s/device","code_challenge_methods_supported":["S256"]}`, w.server.URL, w.oauth.URL)
		case "/mcp":
			if !w.oauth.Valid(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")) {
				rw.WriteHeader(http.StatusUnauthorized)
			}
		case "/open":
		default:
			http.NotFound(rw, r)
		}
	}))
	t.Cleanup(w.server.Close)
	w.browser = func(address string) { // follows redirects, as browsers do
		if resp, err := http.Get(address); err == nil {
			resp.Body.Close()
		}
	}
	config := "mcp_servers:\n  docs: {url: " + w.server.URL + "/mcp, oauth: {client_id: hermes}}\n  open: {url: " + w.server.URL + "/open}\n"
	if err := os.WriteFile(filepath.Join(w.home, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) run(in io.Reader, args ...string) (out string, err error) {
	w.t.Helper()
	var buf lockedBuffer
	f := factory.New(app.Options{Home: w.home, Getenv: func(string) string { return "" }}, factory.IO{
		In: in, Out: &buf, Err: &buf,
		Browse: func(_ context.Context, address string) error {
			w.mu.Lock()
			w.opened = append(w.opened, address)
			w.mu.Unlock()
			go w.browser(address)
			return nil
		},
	})
	defer f.Close()
	cmd := mcp.NewCmd(f)
	cmd.SetArgs(args)
	cmd.SetIn(in)
	cmd.SetOut(&buf)
	cmd.SetErr(&buf)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(w.t.Context())
	return buf.String(), err
}

// lockedBuffer is written by the reader of what is pasted, too.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestLogInAndOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	never, end := io.Pipe() // a terminal at which nothing is typed
	defer end.Close()
	out, err := w.run(never, "login", "docs")
	if err != nil || !strings.Contains(out, "You are logged in at docs.") || !strings.Contains(out, w.oauth.URL+"/authorize?") || len(w.opened) != 1 {
		t.Fatalf("%q, %v", out, err)
	}
	if strings.Contains(out, "canary") {
		t.Errorf("it shows a secret: %q", out)
	}
	path := filepath.Join(w.home, "mcp-tokens", "docs.json")
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	if out, err := w.run(never, "logout", "docs"); err != nil || !strings.Contains(out, "You are logged out of docs.") {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the tokens are still there")
	}
	if out, err := w.run(never, "logout", "docs"); err != nil || !strings.Contains(out, "You were not logged in") {
		t.Errorf("%q, %v", out, err)
	}
}

// TestLogInFromElsewhere pastes a wrong address first, then the final one of the browser.
func TestLogInFromElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lines, keyboard := io.Pipe()
	defer keyboard.Close()
	seen := make(chan string, 1)
	w.browser = func(address string) { seen <- address }
	go func() { // the browser of another machine cannot reach the redirect, and shows it
		c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		resp, err := c.Get(<-seen)
		if err != nil {
			return
		}
		resp.Body.Close()
		fmt.Fprintf(keyboard, "http://127.0.0.1:1/callback?code=x&state=of-another-login\n%s\n", resp.Header.Get("Location"))
	}()
	out, err := w.run(lines, "login", "docs")
	if err != nil || !strings.Contains(out, "belongs to another login") || !strings.Contains(out, "You are logged in at docs.") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestLogInWithACode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out, err := w.run(strings.NewReader(""), "login", "docs", "--device", "--no-browser")
	if err != nil || !strings.Contains(out, "enter the code WDJB-MJHT") || len(w.opened) > 0 {
		t.Errorf("%q, %v, opened %q", out, err, w.opened)
	}
}

func TestALoginThatIsNotPossibleSaysWhatToDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if out, err := w.run(strings.NewReader(""), "login", "open"); err != nil || !strings.Contains(out, "answers without a login") {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := w.run(strings.NewReader(""), "login", "nothing"); err == nil || !strings.Contains(err.Error(), "no MCP server") {
		t.Error(err)
	}
}
