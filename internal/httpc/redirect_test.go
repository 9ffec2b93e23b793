package httpc_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/httpc"
)

// internet is a network of three servers. The names of home lead to one TLS
// server, port 80 to one without TLS, and everything else to a third one.
type internet struct {
	home, away, plain *httptest.Server
	location          func(r *http.Request) (status int, to string) // of home and away; "" answers

	mu   sync.Mutex
	seen map[string][]string // requests by server
}

const (
	canary = "canary-0123456789"
	origin = "https://api.example.com"
)

func newInternet(t *testing.T, location func(r *http.Request) (int, string)) *internet {
	t.Helper()
	n := &internet{location: location, seen: map[string][]string{}}
	n.home = httptest.NewTLSServer(n.server("home"))
	n.away = httptest.NewTLSServer(n.server("away"))
	n.plain = httptest.NewServer(n.server("plain"))
	for _, s := range []*httptest.Server{n.home, n.away, n.plain} {
		t.Cleanup(s.Close)
	}
	return n
}

func (n *internet) server(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var kept []string
		for _, h := range []string{"Authorization", "X-Api-Key", "Api-Key", "X-Own", "Cookie", "Referer"} {
			if r.Header.Get(h) != "" {
				kept = append(kept, h)
			}
		}
		n.mu.Lock()
		n.seen[name] = append(n.seen[name], fmt.Sprintf("%s %s %s%v", r.Method, r.URL.Path, body, kept))
		n.mu.Unlock()
		if status, to := n.location(r); to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(status)
			return
		}
		io.WriteString(w, "done")
	})
}

func (n *internet) dial(ctx context.Context, network, address string) (net.Conn, error) {
	to := n.away
	if _, port, _ := net.SplitHostPort(address); port == "80" {
		to = n.plain
	} else if strings.EqualFold(address, "api.example.com:443") {
		to = n.home
	}
	return (&net.Dialer{}).DialContext(ctx, network, to.Listener.Addr().String())
}

func (n *internet) client(t *testing.T, policy httpc.Redirects) *http.Client {
	t.Helper()
	transport := &http.Transport{DialContext: n.dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	return mustNew(t, httpc.Options{Redirects: policy, Transport: transport})
}

// ask sends a request that has keys everywhere, and returns the body.
func ask(t *testing.T, c *http.Client, method, path string) (string, error) {
	t.Helper()
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader("the prompt")
	}
	req, err := http.NewRequestWithContext(t.Context(), method, origin+path+"?key="+canary, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+canary)
	for _, h := range []string{"X-Api-Key", "Api-Key", "X-Own", "Cookie"} {
		req.Header.Set(h, canary)
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// once redirects the path /v1/chat only.
func once(status int, to string) func(*http.Request) (int, string) {
	return func(r *http.Request) (int, string) {
		if r.URL.Path != "/v1/chat" || r.Host != "api.example.com" {
			return 0, ""
		}
		return status, to
	}
}

var statuses = []int{301, 302, 303, 307, 308}

func TestKeysNeverLeaveTheirOrigin(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]string{
		"host":                "https://other.example.org/v1/chat",
		"port":                "https://api.example.com:8443/v1/chat",
		"plain http":          "http://api.example.com/v1/chat",
		"plain http, port":    "http://api.example.com:443/v1/chat",
		"subdomain":           "https://eu.api.example.com/v1/chat",
		"parent":              "https://example.com/v1/chat",
		"look-alike":          "https://api.example.com.evil.example/v1/chat",
		"user part":           "https://api.example.com@evil.example/v1/chat",
		"user, same host":     "https://me:pw@api.example.com/v1/other",
		"scheme-relative":     "//other.example.org/v1/chat",
		"key repeated":        "https://other.example.org/v1/chat?key=" + canary,
		"back slash":          `https://other.example.org\@api.example.com/`,
		"another scheme":      "ftp://api.example.com/v1/chat",
		"local server":        "http://127.0.0.1/v1/chat",
		"trailing dot":        "https://api.example.com./v1/chat",
		"upper case and port": "https://API.EXAMPLE.COM:444/v1/chat",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, status := range statuses {
				for _, method := range []string{"GET", "POST"} {
					n := newInternet(t, once(status, to))
					_, err := ask(t, n.client(t, httpc.WithinOrigin), method, "/v1/chat")
					if err == nil {
						t.Fatalf("%d %s: the redirect was followed", status, method)
					}
					if len(n.seen["away"])+len(n.seen["plain"]) > 0 || len(n.seen["home"]) != 1 {
						t.Errorf("%d %s: requests %v", status, method, n.seen)
					}
					no, ok := errors.AsType[*httpc.RedirectError](err)
					if !ok {
						if name != "back slash" { // net/http itself refuses this address
							t.Errorf("%d %s: error %v", status, method, err)
						}
						continue
					}
					if no.StatusCode() != status || !strings.Contains(no.Error(), "api.example.com") || strings.Contains(no.Error(), canary) || strings.Contains(no.Error(), "pw@") {
						t.Errorf("%d %s: error %q", status, method, no)
					}
				}
			}
		})
	}
}

func TestRedirectsWithinTheOriginAreFollowed(t *testing.T) {
	t.Parallel()
	all := "[Authorization X-Api-Key Api-Key X-Own Cookie"
	for _, to := range []string{"/v1/chat/", origin + "/v1/chat/", "https://API.example.com:443/v1/chat/", "chat/", "//api.example.com/v1/chat/"} {
		for _, status := range statuses {
			n := newInternet(t, once(status, to))
			c := n.client(t, httpc.WithinOrigin)
			if got, err := ask(t, c, "GET", "/v1/chat"); err != nil || got != "done" {
				t.Errorf("%d GET %s: %q, %v", status, to, got, err)
			}
			n.seen = map[string][]string{}
			if strings.Contains(to, "API") {
				continue // net/http drops some headers if the host is written differently
			}
			_, err := ask(t, c, "POST", "/v1/chat")
			if status < 307 { // it would become a GET without its body
				if _, ok := errors.AsType[*httpc.RedirectError](err); !ok || len(n.seen["home"]) != 1 {
					t.Errorf("%d POST %s: %v, requests %v", status, to, err, n.seen)
				}
				continue
			}
			want := []string{"POST /v1/chat the prompt" + all + "]", "POST /v1/chat/ the prompt" + all + "]"}
			if diff := cmp.Diff(n.seen["home"], want); diff != "" || err != nil {
				t.Errorf("%d POST %s: %v\n%s", status, to, err, diff)
			}
		}
	}
}

func TestEachStepOfAChainIsJudged(t *testing.T) {
	t.Parallel()
	n := newInternet(t, func(r *http.Request) (int, string) {
		switch r.URL.Path {
		case "/v1/chat":
			return 308, "/two"
		case "/two":
			return 307, "https://other.example.org/three"
		case "/loop":
			return 307, "/loop"
		}
		return 0, ""
	})
	c := n.client(t, httpc.WithinOrigin)
	_, err := ask(t, c, "POST", "/v1/chat")
	no, ok := errors.AsType[*httpc.RedirectError](err)
	if !ok || !strings.Contains(no.Error(), "other.example.org") || len(n.seen["away"]) > 0 || len(n.seen["home"]) != 2 {
		t.Errorf("error %v, requests %v", err, n.seen)
	}
	n.seen = map[string][]string{}
	if _, err = ask(t, c, "POST", "/loop"); err == nil || len(n.seen["home"]) > 6 {
		t.Errorf("a loop: %v, %d requests", err, len(n.seen["home"]))
	}
}

func TestPlainRedirectsStayOnThisMachine(t *testing.T) {
	t.Parallel()
	for host, follows := range map[string]bool{"127.0.0.1": true, "localhost": true, "model.lan": false, "192.168.1.5": false} {
		n := newInternet(t, once(0, ""))
		n.location = func(r *http.Request) (int, string) {
			if r.URL.Path == "/v1/chat" {
				return 307, "/v1/chat/"
			}
			return 0, ""
		}
		resp, err := n.client(t, httpc.WithinOrigin).Get("http://" + host + "/v1/chat")
		if err == nil {
			resp.Body.Close()
		}
		if (err == nil) != follows {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestDownloadsGoWithoutKeys(t *testing.T) {
	t.Parallel()
	n := newInternet(t, func(r *http.Request) (int, string) {
		switch r.Host + r.URL.Path {
		case "api.example.com/v1/chat":
			return 302, "https://files.example.org/a"
		case "files.example.org/a":
			return 302, origin + "/back"
		case "api.example.com/down":
			return 302, "http://files.example.org/a"
		case "api.example.com/local":
			return 302, "http://127.0.0.1/a"
		case "api.example.com/scheme":
			return 302, "ftp://files.example.org/a"
		case "api.example.com/whole":
			return 307, "https://files.example.org/a"
		}
		return 0, ""
	})
	c := n.client(t, httpc.Downloads)
	if got, err := ask(t, c, "GET", "/v1/chat"); err != nil || got != "done" {
		t.Errorf("%q, %v", got, err)
	}
	want := map[string][]string{
		"home": {"GET /v1/chat [Authorization X-Api-Key Api-Key X-Own Cookie]", "GET /back []"},
		"away": {"GET /a []"},
	}
	if diff := cmp.Diff(n.seen, want); diff != "" {
		t.Error(diff)
	}
	n.seen = map[string][]string{}
	for _, tt := range []struct{ method, path string }{{"GET", "/down"}, {"GET", "/local"}, {"GET", "/scheme"}, {"POST", "/v1/chat"}, {"POST", "/whole"}} {
		_, err := ask(t, c, tt.method, tt.path)
		if _, ok := errors.AsType[*httpc.RedirectError](err); !ok {
			t.Errorf("%s %s was followed: %v", tt.method, tt.path, err)
		}
	}
	if len(n.seen["plain"])+len(n.seen["away"]) > 0 {
		t.Errorf("requests to others: %v", n.seen)
	}
}

func TestPagesMayUsePlainHTTP(t *testing.T) {
	t.Parallel()
	n := newInternet(t, once(302, "http://www.example.org/page"))
	got, err := ask(t, n.client(t, httpc.Pages), "GET", "/v1/chat")
	if diff := cmp.Diff(n.seen["plain"], []string{"GET /page []"}); got != "done" || err != nil || diff != "" {
		t.Errorf("%q, %v\n%s", got, err, diff)
	}
	n = newInternet(t, once(307, "/page"))
	resp, err := n.client(t, httpc.Pages).Post("http://api.example.com/v1/chat", "text/plain", strings.NewReader("the prompt"))
	if err == nil {
		resp.Body.Close()
		t.Errorf("a redirect of what is sent without TLS was followed: %v", n.seen)
	}
}

func TestClientsFromElsewhereGetThePolicy(t *testing.T) {
	t.Parallel()
	n := newInternet(t, once(307, "https://other.example.org/"))
	own := &http.Client{Transport: n.client(t, httpc.Pages).Transport}
	if _, err := ask(t, httpc.WithinOrigin.Client(own), "POST", "/v1/chat"); err == nil || len(n.seen["away"]) > 0 {
		t.Errorf("%v, requests %v", err, n.seen)
	}
	if own.CheckRedirect != nil {
		t.Error("the client of the caller was changed")
	}
	if c := httpc.WithinOrigin.Client(nil); c.CheckRedirect == nil || c == http.DefaultClient {
		t.Error("without a client there is no policy")
	}
}

func TestTheNewBaseURLIsNamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ base, path, to, want string }{
		{origin + "/v1", "/v1/chat", "https://other.example.org/api/v1/chat", "https://other.example.org/api/v1"},
		{origin + "/v1", "/v1/chat", "https://other.example.org/v1/chat?key=" + canary, "https://other.example.org/v1"},
		{origin, "/v1/chat", "https://other.example.org/v1/chat", "https://other.example.org"},
		{origin + "/v1", "/api/chat", "https://other.example.org/api/chat", "https://other.example.org/v1"},
		{origin + "/v1", "/v1/chat", "https://other.example.org/login", ""},
		{origin + "/v1", "/v1/chat", "http://other.example.org/v1/chat", ""},
	} {
		n := newInternet(t, func(*http.Request) (int, string) { return 307, tt.to })
		_, err := ask(t, n.client(t, httpc.WithinOrigin), "GET", tt.path)
		no, ok := errors.AsType[*httpc.RedirectError](err)
		if !ok {
			t.Fatal(err)
		}
		if got := no.NewBase(tt.base); got != tt.want {
			t.Errorf("%s to %s: got %q, want %q", tt.base, tt.to, got, tt.want)
		}
	}
}
