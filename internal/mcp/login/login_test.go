package login_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/mcp/login"
	"hermes/internal/mcp/remote"
	"hermes/internal/netguard"
	"hermes/internal/oauth"
	"hermes/internal/oauthserver"
)

// world is an MCP server that demands a login, and a login service.
type world struct {
	t     *testing.T
	mcp   *httptest.Server
	oauth *oauthserver.Server // grants codes and tokens
	as    *httptest.Server    // the same, with metadata and a registration

	mu        sync.Mutex
	challenge string         // of a 401; "" is the usual one
	status    int            // of a request with a good token; 0 is 200
	resource  map[string]any // its metadata; nil is none
	meta      map[string]any // of the service
	places    []string       // where metadata were read
	asked     []url.Values   // of authorize
	tokens    []url.Values   // of token requests
	clients   int            // registered
	seen      []string       // tokens that the MCP server got
	bounce    func(w http.ResponseWriter, r *http.Request) bool
	returned  func(q url.Values) // changes what the browser comes back with
}

const resourcePlace = "/.well-known/oauth-protected-resource"

func newWorld(t *testing.T) *world {
	w := &world{t: t, oauth: oauthserver.New()}
	t.Cleanup(w.oauth.Close)
	w.as = httptest.NewServer(http.HandlerFunc(w.serveAS))
	t.Cleanup(w.as.Close)
	w.mcp = httptest.NewServer(http.HandlerFunc(w.serveMCP))
	t.Cleanup(w.mcp.Close)
	w.resource = map[string]any{"resource": w.url(), "authorization_servers": []string{w.as.URL}, "scopes_supported": []string{"read"}}
	w.meta = map[string]any{
		"issuer": w.as.URL, "authorization_endpoint": w.as.URL + "/authorize", "token_endpoint": w.as.URL + "/token", "registration_endpoint": w.as.URL + "/register",
		"device_authorization_endpoint": w.as.URL + "/device", "code_challenge_methods_supported": []string{"S256"},
	}
	return w
}

func (w *world) url() string { return w.mcp.URL + "/mcp" }

func (w *world) serveMCP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bounce != nil && w.bounce(rw, r) {
		return
	}
	if strings.HasPrefix(r.URL.Path, "/.well-known/") {
		w.places = append(w.places, r.URL.Path)
		if w.resource == nil || r.URL.Path != resourcePlace+"/mcp" {
			http.NotFound(rw, r)
			return
		}
		reply(rw, w.resource)
		return
	}
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	w.seen = append(w.seen, token)
	if !w.oauth.Valid(token) {
		rw.Header().Set("WWW-Authenticate", w.challenge)
		rw.WriteHeader(http.StatusUnauthorized)
		return
	}
	if w.status != 0 {
		rw.Header().Set("WWW-Authenticate", w.challenge)
		rw.WriteHeader(w.status)
		return
	}
	fmt.Fprint(rw, "welcome")
}

func (w *world) serveAS(rw http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/.well-known/") {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.places = append(w.places, r.URL.Path)
		if w.meta == nil || r.URL.Path != "/.well-known/oauth-authorization-server" {
			http.NotFound(rw, r)
			return
		}
		reply(rw, w.meta)
		return
	}
	body, _ := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body))
	w.mu.Lock()
	switch r.URL.Path {
	case "/authorize":
		w.asked = append(w.asked, r.URL.Query())
	case "/token", "/device":
		w.tokens = append(w.tokens, form)
	case "/register":
		w.clients++
		w.mu.Unlock()
		rw.WriteHeader(http.StatusCreated)
		reply(rw, map[string]any{"client_id": "registered", "token_endpoint_auth_method": "none"})
		return
	}
	w.mu.Unlock()
	to, _ := url.Parse(w.oauth.URL)
	out, _ := http.NewRequestWithContext(r.Context(), r.Method, to.String()+r.URL.RequestURI(), strings.NewReader(string(body)))
	out.Header = r.Header.Clone()
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Do(out)
	if err != nil {
		http.Error(rw, "gone", http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	maps.Copy(rw.Header(), resp.Header)
	if at, err := resp.Location(); err == nil && w.returned != nil {
		q := at.Query()
		w.returned(q)
		at.RawQuery = q.Encode()
		rw.Header().Set("Location", at.String())
	}
	rw.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(rw, resp.Body)
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// config is a login at the server, with the tokens in a folder of its own.
func (w *world) config() login.Config {
	w.t.Helper()
	return login.Config{
		Server: "docs", URL: w.url(), Path: filepath.Join(w.t.TempDir(), "mcp-tokens", "docs.json"), Link: w.link(w.url(), netguard.Guard{}),
		Sleep: func(context.Context, time.Duration) error { return nil },
	}
}

func (w *world) link(address string, g netguard.Guard) *remote.Link {
	w.t.Helper()
	l, err := remote.New(remote.Config{URL: address, Guard: g})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(l.CloseIdleConnections)
	return l
}

// browser is a user whose browser follows every redirect.
type browser struct {
	t       *testing.T
	visited []string
	code    string
	paste   string // what is pasted in place of using the browser; "" follows
}

func (b *browser) Visit(ctx context.Context, address string, listening bool, offer func(string) error) {
	b.visited = append(b.visited, address)
	if b.paste != "" {
		if err := offer(b.paste); err != nil {
			b.t.Error(err)
		}
		return
	}
	go func() {
		c := http.Client{}
		if !listening { // as a browser that shows the final address
			c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		}
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		resp, err := c.Do(req)
		if err != nil {
			return // the login times out, which the test shows
		}
		resp.Body.Close()
		if !listening {
			_ = offer(resp.Header.Get("Location"))
		}
	}()
}

func (b *browser) Confirm(_ context.Context, d oauth.Device) { b.code = d.UserCode }

func (w *world) enter(c login.Config) (*browser, error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	b := &browser{t: w.t}
	_, err := login.New(c).Enter(ctx, b, false)
	return b, err
}

// get sends a request as the connection to the server does.
func (w *world) get(c login.Config) (string, error) {
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, c.URL, strings.NewReader("hello"))
	if err != nil {
		return "", err
	}
	resp, err := login.New(c).Through(c.Link.Server).Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return string(raw), err
}

func kept(t *testing.T, path string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestALoginInTheBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config()
	if _, err := w.get(c); err == nil || !strings.Contains(err.Error(), "it demands a login; log in with `hermes mcp login docs`") {
		t.Fatalf("without a login: %v", err)
	}
	if _, ok := errors.AsType[*login.NeededError](func() error { _, err := w.get(c); return err }()); !ok {
		t.Error("the error does not say that a login is needed")
	}
	if _, err := os.Stat(c.Path); err == nil {
		t.Error("a request wrote a file")
	}
	if _, err := w.enter(c); err != nil {
		t.Fatal(err)
	}
	if got, err := w.get(c); got != "welcome" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	ask, token := w.asked[0], w.tokens[0]
	for _, row := range [][2]string{
		{ask.Get("resource"), w.url()}, {token.Get("resource"), w.url()}, {ask.Get("code_challenge_method"), "S256"}, {ask.Get("scope"), "read"},
		{ask.Get("client_id"), "registered"}, {token.Get("client_id"), "registered"}, {ask.Get("redirect_uri"), token.Get("redirect_uri")},
	} {
		if row[0] != row[1] {
			t.Errorf("got %q, want %q", row[0], row[1])
		}
	}
	if want := []string{resourcePlace + "/mcp", "/.well-known/oauth-authorization-server"}; !slices.Equal(w.places, want) {
		t.Errorf("read %q, want %q", w.places, want)
	}
	info, err := os.Stat(c.Path)
	if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestARegistrationIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config()
	for range 2 {
		if _, err := w.enter(c); err != nil {
			t.Fatal(err)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.clients != 1 {
		t.Errorf("registered %d times", w.clients)
	}
	if w.asked[0].Get("redirect_uri") != w.asked[1].Get("redirect_uri") {
		t.Error("the redirect is not the registered one")
	}
}

func TestADocumentAndAClientOfTheSettings(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		client login.Client
		want   string
	}{
		{"document", login.Client{Document: "https://hermes.example/client.json"}, "https://hermes.example/client.json"},
		{"settings", login.Client{ID: "mine", Secret: "canary-secret", Document: "https://hermes.example/client.json"}, "mine"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.meta["client_id_metadata_document_supported"] = true
			w.meta["token_endpoint_auth_methods_supported"] = []string{"none", "client_secret_post"}
			c := w.config()
			c.Client = row.client
			if _, err := w.enter(c); err != nil {
				t.Fatal(err)
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			if got := w.asked[0].Get("client_id"); got != row.want || w.clients != 0 {
				t.Errorf("client %q, %d registered", got, w.clients)
			}
			if row.client.ID == "" {
				u, _ := url.Parse(w.asked[0].Get("redirect_uri"))
				if p := u.Port(); p < "27890" || p > "27894" {
					t.Errorf("the port is %s", p)
				}
			}
			if raw, _ := os.ReadFile(c.Path); strings.Contains(string(raw), "canary-secret") {
				t.Error("the secret of the settings is kept in another file")
			}
		})
	}
}

func TestALoginWithACode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.oauth.Device("authorization_pending")
	c := w.config()
	b := &browser{t: t}
	if _, err := login.New(c).Enter(t.Context(), b, true); err != nil {
		t.Fatal(err)
	}
	if b.code == "" || len(b.visited) > 0 {
		t.Errorf("code %q, visited %q", b.code, b.visited)
	}
	w.mu.Lock()
	if got := w.tokens[0].Get("resource"); got != w.url() {
		t.Errorf("the resource is %q", got)
	}
	w.mu.Unlock()
	if got, err := w.get(c); got != "welcome" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestAPastedAddress has a redirect that is not this machine.
func TestAPastedAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config()
	c.Redirect.URI = "https://hermes.example/done"
	if _, err := w.enter(c); err != nil {
		t.Fatal(err)
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config()
	w.challenge = `Bearer scope="files:read"`
	w.meta["scopes_supported"] = []string{"files:read", "offline_access"}
	if _, err := w.enter(c); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	w.status, w.challenge = http.StatusForbidden, `Bearer error="insufficient_scope", scope="files:write"`
	w.mu.Unlock()
	_, err := w.get(c)
	if n, ok := errors.AsType[*login.NeededError](err); !ok || !strings.Contains(n.Error(), "files:write") {
		t.Fatal(err)
	}
	w.mu.Lock()
	w.status, w.challenge = 0, ""
	w.mu.Unlock()
	if _, err := w.enter(c); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	first, second := w.asked[0], w.asked[1]
	if got := first.Get("scope"); got != "files:read offline_access" || first.Get("prompt") != "consent" {
		t.Errorf("asked for %q", got)
	}
	for _, s := range []string{"files:write", "all", "read"} { // all is what the service granted
		if got := second.Get("scope"); !slices.Contains(strings.Fields(got), s) {
			t.Errorf("asked for %q, which lacks %s", got, s)
		}
	}
}

// TestATokenIsRenewedOnce has many requests and several processes at the same time.
func TestATokenIsRenewedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config()
	if _, err := w.enter(c); err != nil {
		t.Fatal(err)
	}
	c.Now = func() time.Time { return time.Now().Add(time.Hour) } // the token has ended
	w.oauth.Lifetime = 7200                                       // that of the next one has not
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { // each has its own Login, as processes do
			if got, err := w.get(c); got != "welcome" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	all.Wait()
	if n := w.oauth.Counts(); n.Refreshes != 1 || n.Replays != 0 {
		t.Errorf("%+v", n)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := w.tokens[len(w.tokens)-1].Get("resource"); got != w.url() {
		t.Errorf("renewed for the resource %q", got)
	}
}

func TestARefusedTokenIsRenewed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config()
	if _, err := w.enter(c); err != nil {
		t.Fatal(err)
	}
	m := kept(t, c.Path)
	m["access_token"] = "canary-access-stale"
	raw, _ := json.Marshal(m)
	if err := os.WriteFile(c.Path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := w.get(c); got != "welcome" {
		t.Errorf("%q, %v", got, err)
	}
	w.oauth.Revoke()
	_, err := w.get(c)
	if n, ok := errors.AsType[*login.NeededError](err); !ok || !strings.Contains(n.Error(), "no longer valid") {
		t.Errorf("revoked: %v", err)
	}
	if m := kept(t, c.Path); m["access_token"] != nil || m["refresh_token"] != nil || m["client"] == nil {
		t.Errorf("kept %v", slices.Sorted(maps.Keys(m)))
	}
}

// TestACancelledRequestLosesNoToken cancels the request while the service answers.
func TestACancelledRequestLosesNoToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config()
	if _, err := w.enter(c); err != nil {
		t.Fatal(err)
	}
	c.Now = func() time.Time { return time.Now().Add(time.Hour) }
	w.oauth.Lifetime = 7200
	reached, answer := make(chan struct{}), make(chan struct{})
	w.oauth.Hold = func() { close(reached); <-answer }
	ctx, cancel := context.WithCancel(t.Context())
	l := login.New(c)
	done := make(chan error)
	go func() {
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, nil)
		resp, err := l.Through(c.Link.Server).Do(req)
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	<-reached
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	close(answer)
	if got, err := w.get(c); got != "welcome" {
		t.Errorf("%q, %v", got, err)
	}
	if n := w.oauth.Counts(); n.Refreshes != 1 || n.Replays != 0 {
		t.Errorf("%+v", n)
	}
}

func TestTokensOfAnotherAddressAreNotSent(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t), newWorld(t)
	c := w.config()
	if _, err := w.enter(c); err != nil {
		t.Fatal(err)
	}
	c.URL, c.Link = other.url(), other.link(other.url(), netguard.Guard{})
	if _, err := w.get(c); err == nil || !strings.Contains(err.Error(), "it demands a login") {
		t.Error(err)
	}
	other.mu.Lock()
	defer other.mu.Unlock()
	if got := strings.Join(other.seen, ""); got != "" {
		t.Errorf("the other server got %q", got)
	}
}

func TestALogoutForgetsTheLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.meta["revocation_endpoint"] = w.as.URL + "/revoke"
	c := w.config()
	if _, err := w.enter(c); err != nil {
		t.Fatal(err)
	}
	was, notified, err := login.New(c).Out(t.Context())
	if !was || err != nil || notified == nil || !strings.Contains(notified.Error(), "404") { // oauthserver has none
		t.Errorf("%v, %v, %v", was, notified, err)
	}
	if _, err := os.Stat(c.Path); err == nil {
		t.Error("the file is still there")
	}
	if was, _, err := login.New(c).Out(t.Context()); was || err != nil {
		t.Errorf("the second time: %v, %v", was, err)
	}
}

func TestAServerWithoutALogin(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mcp" {
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	w := newWorld(t)
	c := w.config()
	c.URL, c.Link = s.URL+"/mcp", w.link(s.URL+"/mcp", netguard.Guard{})
	if _, err := w.enter(c); !errors.Is(err, login.ErrNotDemanded) {
		t.Error(err)
	}
}

// TestAServerOfTheOldProtocol is its own login service: with metadata, and at fixed addresses.
func TestAServerOfTheOldProtocol(t *testing.T) {
	t.Parallel()
	for _, described := range []bool{true, false} {
		w := newWorld(t)
		w.resource = nil
		w.bounce = func(rw http.ResponseWriter, r *http.Request) bool {
			switch r.URL.Path {
			case "/.well-known/oauth-authorization-server":
				if described {
					reply(rw, map[string]any{"issuer": w.mcp.URL + "/", "authorization_endpoint": w.as.URL + "/authorize", "token_endpoint": w.as.URL + "/token", "registration_endpoint": w.as.URL + "/register", "code_challenge_methods_supported": []string{"S256"}})
				} else {
					http.NotFound(rw, r)
				}
			case "/authorize":
				http.Redirect(rw, r, w.as.URL+r.URL.RequestURI(), http.StatusFound)
			case "/token", "/register":
				w.mu.Unlock()
				w.serveAS(rw, r)
				w.mu.Lock()
			default:
				return false
			}
			return true
		}
		c := w.config()
		if _, err := w.enter(c); err != nil {
			t.Fatal(err)
		}
		if got, err := w.get(c); got != "welcome" {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// TestOpenIDConnect finds the metadata at the places of OpenID Connect, also below a path.
func TestOpenIDConnect(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ path, place string }{
		{"", "/.well-known/openid-configuration"},
		{"/tenant", "/.well-known/oauth-authorization-server/tenant"},
		{"/tenant", "/.well-known/openid-configuration/tenant"},
		{"/tenant", "/tenant/.well-known/openid-configuration"},
		{"/tenant/", "/tenant/.well-known/openid-configuration"},
	} {
		w := newWorld(t)
		var as *httptest.Server
		as = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path != row.place {
				http.NotFound(rw, r)
				return
			}
			m := maps.Clone(w.meta)
			m["issuer"] = as.URL + row.path
			reply(rw, m)
		}))
		defer as.Close()
		w.resource["authorization_servers"] = []string{as.URL + row.path}
		if _, err := w.enter(w.config()); err != nil {
			t.Errorf("%s of %s: %v", row.place, row.path, err)
		}
	}
}
