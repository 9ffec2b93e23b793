package login_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"hermes/internal/mcp/login"
	"hermes/internal/netguard"
	"hermes/internal/oauth"
)

// TestHostileMetadata has a server or a login service that says something it must not. The
// login fails, the browser is not opened, no token is asked for, and nothing is kept.
func TestHostileMetadata(t *testing.T) {
	t.Parallel()
	redirect := func(path, to string) func(w *world) {
		return func(w *world) {
			w.bounce = func(rw http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != path {
					return false
				}
				http.Redirect(rw, r, to, http.StatusTemporaryRedirect)
				return true
			}
		}
	}
	meta := func(key string, value any) func(*world) { return func(w *world) { w.meta[key] = value } }
	resource := func(key string, value any) func(*world) { return func(w *world) { w.resource[key] = value } }
	for _, row := range []struct {
		name string
		do   func(w *world)
		want string
	}{
		{"another issuer", meta("issuer", "https://login.example"), "both have to be the same text"},
		{"a slash more", func(w *world) { w.meta["issuer"] = w.as.URL + "/" }, "both have to be the same text"},
		{"no issuer", meta("issuer", ""), "both have to be the same text"},
		{"another resource", resource("resource", "https://bank.example/mcp"), "not this server"},
		{"a resource that only begins alike", func(w *world) { w.resource["resource"] = w.url() + "-admin" }, "not this server"},
		{"a resource below", func(w *world) { w.resource["resource"] = w.url() + "/below" }, "not this server"},
		{"a resource with a user", func(w *world) { w.resource["resource"] = strings.Replace(w.url(), "//", "//x@", 1) }, "not this server"},
		{"no resource", resource("resource", ""), "not this server"},
		{"no service", resource("authorization_servers", []string{}), "names no login service"},
		{"a service with a query", func(w *world) { w.resource["authorization_servers"] = []string{w.as.URL + "?x=1"} }, "not a valid address"},
		{"a service that is a file", resource("authorization_servers", []string{"file:///etc/passwd"}), "not a valid address"},
		{"a service in the metadata network", resource("authorization_servers", []string{"https://169.254.169.254"}), "metadata service"},
		{"a service in the metadata network, unencrypted", resource("authorization_servers", []string{"http://169.254.169.254"}), "not encrypted"},
		{"a service in a private network", resource("authorization_servers", []string{"https://10.0.0.7"}), "private network"},
		{"a service at a link-local address", resource("authorization_servers", []string{"https://[fe80::1]"}), "link-local"},
		{"a service by the name of metadata", resource("authorization_servers", []string{"https://metadata.google.internal"}), "metadata service"},
		{"a script to open", meta("authorization_endpoint", "javascript:alert(1)"), "not a web address"},
		{"a file to open", meta("authorization_endpoint", "file:///etc/passwd"), "not a web address"},
		{"data to open", meta("authorization_endpoint", "data:text/html,x"), "not a web address"},
		{"a private page to open", meta("authorization_endpoint", "https://192.168.1.1/reboot"), "private network"},
		{"an unencrypted page to open", meta("authorization_endpoint", "http://login.example/a"), "not encrypted"},
		{"a page with a user", meta("authorization_endpoint", "https://bank.example@evil.example/a"), "user name"},
		{"tokens to the metadata network", meta("token_endpoint", "https://169.254.169.254/token"), "metadata service"},
		{"tokens to a file", meta("token_endpoint", "file:///tmp/x"), "not a web address"},
		{"no place for tokens", meta("token_endpoint", ""), "not a web address"},
		{"a registration in a private network", meta("registration_endpoint", "https://172.16.0.1/r"), "private network"},
		{"no PKCE", meta("code_challenge_methods_supported", []string{"plain"}), "PKCE"},
		{"metadata that are not JSON", func(w *world) { w.meta["issuer"] = 7 }, "not a JSON document"},
		{"huge metadata", meta("padding", strings.Repeat("x", 2<<20)), "too large"},
		{"huge metadata of the server", resource("padding", strings.Repeat("x", 2<<20)), "too large"},
		{"a redirect to the metadata network", redirect(resourcePlace+"/mcp", "http://169.254.169.254/latest/meta-data/"), "not followed"},
		{"an open redirect", redirect(resourcePlace+"/mcp", "https://evil.example/metadata"), "not followed"},
		{"metadata elsewhere that are private", func(w *world) { w.challenge = `Bearer resource_metadata="http://169.254.169.254/latest/"` }, "not encrypted"},
		{"metadata elsewhere that are private, encrypted", func(w *world) { w.challenge = `Bearer resource_metadata="https://169.254.169.254/latest/"` }, "metadata service"},
		{"metadata in a file", func(w *world) { w.challenge = `Bearer resource_metadata="file:///etc/passwd"` }, "not a valid address"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mu.Lock()
			row.do(w)
			w.mu.Unlock()
			c := w.config()
			b, err := w.enter(c)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v; want %q", err, row.want)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			if len(b.visited) > 0 || len(w.tokens) > 0 || w.clients > 0 {
				t.Errorf("visited %q, %d requests for tokens, %d clients", b.visited, len(w.tokens), w.clients)
			}
			if _, err := os.Stat(c.Path); err == nil {
				t.Error("something is kept")
			}
		})
	}
}

// TestAPublicServerNamesNoPrivateService has a server with a public name, whose network is this
// test.
func TestAPublicServerNamesNoPrivateService(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, service := range []string{w.as.URL, "https://127.0.0.1:1", "https://localhost:1", "https://[::1]:1", "https://2130706433", "https://intranet.example"} {
		const address = "http://docs.example/mcp"
		w.mu.Lock()
		w.resource["resource"], w.resource["authorization_servers"] = address, []string{service}
		w.mu.Unlock()
		g := netguard.Guard{
			Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
				if host == "intranet.example" {
					return []netip.Addr{netip.MustParseAddr("10.1.2.3")}, nil
				}
				return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
			},
			Connect: dialer(w.mcp.Listener.Addr().String()),
		}
		c := w.config()
		c.URL, c.Link = address, w.link(address, g)
		b, err := w.enter(c)
		if _, refused := errors.AsType[*netguard.Refused](err); !refused || len(b.visited) > 0 {
			t.Errorf("%s: %v, visited %q", service, err, b.visited)
		}
	}
}

// TestMixedUpAnswers has a browser that comes back with what another service said.
func TestMixedUpAnswers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		sent     bool // the service says that it names itself
		returned func(w *world, q url.Values)
		want     error
	}{
		{"itself", true, func(w *world, q url.Values) { q.Set("iss", w.as.URL) }, nil},
		{"itself, unannounced", false, func(w *world, q url.Values) { q.Set("iss", w.as.URL) }, nil},
		{"another one", true, func(_ *world, q url.Values) { q.Set("iss", "https://honest.example") }, oauth.ErrIssuer},
		{"another one, unannounced", false, func(_ *world, q url.Values) { q.Set("iss", "https://honest.example") }, oauth.ErrIssuer},
		{"a slash more", true, func(w *world, q url.Values) { q.Set("iss", w.as.URL+"/") }, oauth.ErrIssuer},
		{"none", true, func(*world, url.Values) {}, oauth.ErrIssuer},
		{"an error of another one", true, func(_ *world, q url.Values) { q.Set("iss", "https://x.example"); q.Set("error", "access_denied") }, oauth.ErrIssuer},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.meta["authorization_response_iss_parameter_supported"] = row.sent
			w.returned = func(q url.Values) { row.returned(w, q) }
			_, err := w.enter(w.config())
			if !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
				t.Errorf("%v, want %v", err, row.want)
			}
			if w.mu.Lock(); row.want != nil && len(w.tokens) > 0 {
				t.Error("the code was sent")
			}
			w.mu.Unlock()
		})
	}
}

// TestAnotherServiceLater has a server that names another service once there is a login.
func TestAnotherServiceLater(t *testing.T) {
	t.Parallel()
	w, evil := newWorld(t), newWorld(t)
	c := w.config()
	if _, err := w.enter(c); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	w.resource["authorization_servers"] = []string{evil.as.URL}
	w.mu.Unlock()
	if b, err := w.enter(c); err == nil || !strings.Contains(err.Error(), "now names another login service") || len(b.visited) > 0 {
		t.Errorf("%v, visited %q", err, b.visited)
	}
	if got, err := w.get(c); got != "welcome" {
		t.Errorf("the login that was there: %q, %v", got, err)
	}
}

// TestATokenIsSentToItsServerOnly redirects a request with a token.
func TestATokenIsSentToItsServerOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config()
	if _, err := w.enter(c); err != nil {
		t.Fatal(err)
	}
	var got []string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = append(got, fmt.Sprint(r.Method, r.Header))
	}))
	defer thief.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		w.mu.Lock()
		w.bounce = func(rw http.ResponseWriter, r *http.Request) bool {
			http.Redirect(rw, r, thief.URL, status)
			return true
		}
		w.mu.Unlock()
		if _, err := w.get(c); err == nil {
			t.Errorf("status %d was followed", status)
		}
	}
	if len(got) > 0 {
		t.Errorf("the other server got %q", got)
	}
}

// TestARedirectedTokenRequest redirects the exchange, with the code and the verifier in it.
func TestARedirectedTokenRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var got int
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got++ }))
	defer thief.Close()
	front := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer front.Close()
	for _, key := range []string{"token_endpoint", "registration_endpoint"} {
		w.mu.Lock()
		was := w.meta[key]
		w.meta[key] = front.URL
		w.mu.Unlock()
		if _, err := w.enter(w.config()); err == nil {
			t.Error(key + " was redirected")
		}
		w.mu.Lock()
		w.meta[key] = was
		w.mu.Unlock()
	}
	if got > 0 {
		t.Errorf("the other server got %d requests", got)
	}
}

// TestNothingSaysASecret looks for tokens, codes and keys in all errors of a login and its file
// in what is printed.
func TestNothingSaysASecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config()
	c.URL += "?key=canary-query"
	c.Link = w.link(c.URL, netguard.Guard{})
	c.Client = login.Client{ID: "mine", Secret: "canary-secret"}
	w.meta["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
	var all strings.Builder
	note := func(err error) {
		if err == nil {
			t.Error("it did not fail")
			return
		}
		fmt.Fprintf(&all, "%v\n%+v\n", err, err)
	}
	if _, err := w.enter(c); err != nil {
		t.Fatal(err)
	}
	c.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	w.oauth.Revoke()
	_, err := w.get(c)
	var inner *url.Error // what holds the address is worded by whoever connects
	if !errors.As(err, &inner) {
		t.Fatal(err)
	}
	note(inner.Err)
	w.mu.Lock()
	w.meta["token_endpoint"] = w.as.URL + "/nothing?key=canary-endpoint"
	w.mu.Unlock()
	_, err = w.enter(c)
	note(err)
	w.as.Close()
	_, err = w.enter(c)
	note(err)
	w.mcp.Close()
	_, err = w.enter(c)
	note(err)
	if strings.Contains(all.String(), "canary") {
		t.Error(all.String())
	}
}

// TestADamagedFile has files that no version wrote.
func TestADamagedFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config()
	if _, err := w.enter(c); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{", "[]", `{"server_url": 7}`, strings.Repeat(" ", 2<<20)} {
		if err := os.WriteFile(c.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := w.get(c); err == nil || !strings.Contains(err.Error(), "hermes mcp login docs") {
			t.Errorf("%.20q: %v", text, err)
		}
		if _, err := w.enter(c); err != nil {
			t.Errorf("%.20q: log in again: %v", text, err)
		}
	}
	var m map[string]any
	raw, _ := os.ReadFile(c.Path)
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Error(err)
	}
}

// dialer connects to one address, whatever was asked for.
func dialer(to string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, to)
	}
}
