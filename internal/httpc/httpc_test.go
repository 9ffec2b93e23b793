package httpc_test

import (
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/httpc"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(body io.Reader) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body)}
}

func mustNew(t *testing.T, o httpc.Options) *http.Client {
	t.Helper()
	c, err := httpc.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestUserAgentIsSentUnlessNamed(t *testing.T) {
	t.Parallel()
	var got []string
	c := mustNew(t, httpc.Options{UserAgent: "hermes/1", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		got = append(got, r.Header.Get("User-Agent"))
		return answer(strings.NewReader("")), nil
	})})
	plain, _ := http.NewRequest("GET", "http://x/", nil)
	own, _ := http.NewRequest("GET", "http://x/", nil)
	own.Header.Set("User-Agent", "mine")
	for _, r := range []*http.Request{plain, own} {
		resp, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if diff := cmp.Diff(got, []string{"hermes/1", "mine"}); diff != "" {
		t.Error(diff)
	}
	if plain.Header.Get("User-Agent") != "" {
		t.Error("the caller's request was changed")
	}
}

func TestMaxResponse(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]error{"": nil, "12345": nil, "123456": httpc.ErrResponseTooLarge} {
		c := mustNew(t, httpc.Options{MaxResponse: 5, Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return answer(strings.NewReader(body)), nil
		})})
		resp, err := c.Get("http://x/")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if !errors.Is(err, want) || len(got) > 5 {
			t.Errorf("%q: read %q, error %v, want %v", body, got, err, want)
		}
	}
}

func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	addrs := map[string]bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { addrs[r.RemoteAddr] = true }))
	defer srv.Close()
	c := mustNew(t, httpc.Options{})
	defer c.CloseIdleConnections()
	for range 3 {
		resp, err := c.Get(srv.URL)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	if len(addrs) != 1 {
		t.Errorf("%d connections, want 1", len(addrs))
	}
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	srv.Config.ErrorLog = nil
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	tests := map[string]struct {
		o  httpc.Options
		ok bool
	}{
		"unknown":  {httpc.Options{}, false},
		"trusted":  {httpc.Options{RootCAs: root}, true},
		"insecure": {httpc.Options{Insecure: true}, true},
	}
	for name, tt := range tests {
		resp, err := mustNew(t, tt.o).Get(srv.URL)
		if (err == nil) != tt.ok {
			t.Errorf("%s: error %v", name, err)
		}
		if err == nil {
			resp.Body.Close()
		}
	}
	if _, err := httpc.New(httpc.Options{RootCAs: []byte("junk")}); err == nil {
		t.Error("junk was taken for a certificate")
	}
}

func TestProxyIsUsed(t *testing.T) {
	t.Parallel()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "by proxy: "+r.URL.String())
	}))
	defer proxy.Close()
	choose, err := httpc.Proxies{HTTP: proxy.URL}.Func()
	if err != nil {
		t.Fatal(err)
	}
	resp, err := mustNew(t, httpc.Options{Proxy: choose}).Get("http://model.invalid/v1")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, _ := io.ReadAll(resp.Body); string(got) != "by proxy: http://model.invalid/v1" {
		t.Errorf("got %q", got)
	}
}

func TestProxyChoice(t *testing.T) {
	t.Parallel()
	tests := []struct {
		p         httpc.Proxies
		url, want string
	}{
		{httpc.Proxies{HTTP: "http://p:1", HTTPS: "http://s:2"}, "http://a.org/", "http://p:1"},
		{httpc.Proxies{HTTP: "http://p:1", HTTPS: "http://s:2"}, "https://a.org/", "http://s:2"},
		{httpc.Proxies{HTTP: "p:1"}, "http://a.org/", "http://p:1"},
		{httpc.Proxies{HTTP: "http://p:1"}, "https://a.org/", ""},
		{httpc.Proxies{All: "socks5://p:1"}, "https://a.org/", "socks5://p:1"},
		{httpc.Proxies{All: "socks5://p:1", HTTPS: "http://s:2"}, "https://a.org/", "http://s:2"},
		{httpc.Proxies{All: "socks://p:1"}, "http://a.org/", "socks5://p:1"},

		{httpc.Proxies{All: "p:1"}, "http://localhost:11434/", ""},
		{httpc.Proxies{All: "p:1"}, "http://127.0.0.1:1/", ""},
		{httpc.Proxies{All: "p:1"}, "http://[::1]/", ""},
		{httpc.Proxies{All: "p:1", None: "*"}, "https://a.org/", ""},
		{httpc.Proxies{All: "p:1", None: "a.org"}, "https://a.org/", ""},
		{httpc.Proxies{All: "p:1", None: "a.org"}, "https://x.a.org/", ""},
		{httpc.Proxies{All: "p:1", None: "a.org"}, "https://ba.org/", "http://p:1"},
		{httpc.Proxies{All: "p:1", None: "A.ORG."}, "https://a.org./", ""},
		{httpc.Proxies{All: "p:1", None: ".a.org"}, "https://a.org/", "http://p:1"},
		{httpc.Proxies{All: "p:1", None: "*.a.org"}, "https://x.a.org/", ""},
		{httpc.Proxies{All: "p:1", None: "a.org:8443"}, "https://a.org:8443/", ""},
		{httpc.Proxies{All: "p:1", None: "a.org:8443"}, "https://a.org/", "http://p:1"},
		{httpc.Proxies{All: "p:1", None: "a.org:443"}, "https://a.org/", ""},
		{httpc.Proxies{All: "p:1", None: "b.org, 10.0.0.0/8"}, "http://10.1.2.3/", ""},
		{httpc.Proxies{All: "p:1", None: "10.0.0.0/8"}, "http://11.1.2.3/", "http://p:1"},
		{httpc.Proxies{All: "p:1", None: "192.168.1.5"}, "http://192.168.1.5:8000/", ""},
		{httpc.Proxies{All: "p:1"}, "http://app.localhost:3000/", ""},
		{httpc.Proxies{All: "p:1"}, "http://LocalHost./", ""},
		{httpc.Proxies{All: "p:1", None: "a.org."}, "https://x.a.org.:8443/", ""},
		{httpc.Proxies{All: "p:1", None: "b.org;c.org 10.0.0.1:80"}, "https://c.org/", ""},
		{httpc.Proxies{All: "p:1", None: "b.org;c.org 10.0.0.1:80"}, "http://10.0.0.1/", ""},
		{httpc.Proxies{All: "p:1", None: "10.0.0.1:80"}, "http://10.0.0.1:81/", "http://p:1"},
		{httpc.Proxies{All: "p:1", None: "[2001:db8::1]:443, bücher.example"}, "https://[2001:db8::1]/", ""},
		{httpc.Proxies{All: "p:1", None: "bücher.example"}, "https://xn--bcher-kva.example/", ""},
		{httpc.Proxies{All: "p:1", None: "10.0.0.0/8"}, "http://[::ffff:10.1.2.3]/", ""},
		{httpc.Proxies{All: "p:1"}, "http://[::ffff:127.0.0.1]/", ""},
		{httpc.Proxies{HTTP: " http://u:pw@p:1 "}, "http://a.org/", "http://u:pw@p:1"},
		{httpc.Proxies{All: "p:1", None: "."}, "https://a.org/", "http://p:1"},
	}
	for _, tt := range tests {
		choose, err := tt.p.Func()
		if err != nil {
			t.Errorf("%+v: %v", tt.p, err)
			continue
		}
		u, _ := url.Parse(tt.url)
		proxy, err := choose(&http.Request{URL: u})
		got := ""
		if proxy != nil {
			got = proxy.String()
		}
		if err != nil || got != tt.want {
			t.Errorf("%+v for %s: got %q, %v; want %q", tt.p, tt.url, got, err, tt.want)
		}
	}
}

func TestBrokenProxyIsNamedButNotShown(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"ftp://user:hunter2@h", "http://user:hunter2@%zz"} {
		_, err := httpc.Proxies{HTTPS: value}.Func()
		if err == nil || !strings.Contains(err.Error(), "HTTPS_PROXY") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: error %v", value, err)
		}
	}
	if choose, err := (httpc.Proxies{}).Func(); choose != nil || err != nil {
		t.Error("no settings must give no proxy")
	}
}
