package netguard_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"hermes/internal/httpc"
	"hermes/internal/netguard"
)

// web is a public network in one server: every address leads to it.
type web struct {
	*httptest.Server
	mu      sync.Mutex
	dialled []string
	seen    []*http.Request
}

func newWeb(t *testing.T, pages map[string]http.HandlerFunc) *web {
	t.Helper()
	w := &web{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.seen = append(w.seen, r)
		w.mu.Unlock()
		page, ok := pages[r.Host+r.URL.Path]
		if !ok {
			http.NotFound(rw, r)
			return
		}
		page(rw, r)
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *web) connect(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialled = append(w.dialled, address)
	w.mu.Unlock()
	var d net.Dialer
	return d.DialContext(ctx, network, w.Listener.Addr().String())
}

func to(target string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, target, http.StatusFound) }
}

func says(text string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, text) }
}

func get(t *testing.T, c *http.Client, address string, header ...string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

func client(t *testing.T, g *netguard.Guard, l netguard.Limits) *http.Client {
	t.Helper()
	c := g.Client(l)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func TestTheConnectionGoesToWhatWasJudged(t *testing.T) {
	t.Parallel()
	w := newWeb(t, map[string]http.HandlerFunc{"example.org/": says("hello")})
	asked := 0
	g := &netguard.Guard{Connect: w.connect, Resolve: func(context.Context, string) ([]netip.Addr, error) {
		asked++
		if asked > 1 { // the name now resolves to this machine
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
	}}
	text, err := get(t, client(t, g, netguard.Limits{UserAgent: "hermes/test"}), "http://example.org/")
	if err != nil || text != "hello" || asked != 1 || len(w.dialled) != 1 || w.dialled[0] != "93.184.216.34:80" {
		t.Errorf("%q, %v; asked %d times, dialled %v", text, err, asked, w.dialled)
	}
	if ua := w.seen[0].UserAgent(); ua != "hermes/test" {
		t.Errorf("user agent %q", ua)
	}
	c := client(t, g, netguard.Limits{})
	if _, err := get(t, c, "http://example.org/"); !refused(err) {
		t.Errorf("the second look-up led to %v", err)
	}
	if len(w.dialled) != 1 {
		t.Errorf("dialled %v", w.dialled)
	}
}

func refused(err error) bool {
	_, ok := errors.AsType[*netguard.Refused](err)
	return ok
}

func TestPrivateServersNeedTheSwitch(t *testing.T) {
	t.Parallel()
	w := newWeb(t, nil)
	for _, g := range []*netguard.Guard{{}, {Private: true}} {
		_, err := get(t, client(t, g, netguard.Limits{}), w.URL+"/nothing")
		if (err == nil) != g.Private || err != nil && !refused(err) {
			t.Errorf("private %v: %v", g.Private, err)
		}
	}
}

func TestRedirectsAreJudgedAgain(t *testing.T) {
	t.Parallel()
	w := newWeb(t, map[string]http.HandlerFunc{
		"a.example/in":   to("http://10.0.0.1/"),
		"a.example/meta": to("http://metadata.google.internal/"),
		"a.example/file": to("file:///etc/passwd"),
		"a.example/name": to("http://intern.example/"),
		"a.example/1":    to("/2"), "a.example/2": to("/3"), "a.example/3": says("third"),
		"a.example/loop": to("/loop"),
	})
	g := &netguard.Guard{Connect: w.connect, Resolve: names(map[string]string{"a.example": "93.184.216.34", "intern.example": "192.168.0.9"})}
	c := client(t, g, netguard.Limits{Redirect: httpc.Pages.UpTo(2)})
	for _, path := range []string{"in", "meta", "name"} {
		if _, err := get(t, c, "http://a.example/"+path); !refused(err) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := get(t, c, "http://a.example/file"); err == nil {
		t.Error("a redirect led to a file")
	}
	if text, err := get(t, c, "http://a.example/1"); err != nil || text != "third" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := get(t, c, "http://a.example/loop"); err == nil || !strings.Contains(err.Error(), "more than 2 times") {
		t.Errorf("%v", err)
	}
	for _, d := range w.dialled {
		if d != "93.184.216.34:80" {
			t.Errorf("dialled %s", d)
		}
	}
}

func TestRedirectsAreAPolicyOfTheCaller(t *testing.T) {
	t.Parallel()
	w := newWeb(t, map[string]http.HandlerFunc{"a.example/1": to("/2"), "a.example/2": says("two")})
	g := &netguard.Guard{Connect: w.connect, Resolve: names(map[string]string{"a.example": "93.184.216.34"})}
	if text, err := get(t, client(t, g, netguard.Limits{}), "http://a.example/1"); err == nil {
		t.Errorf("without a policy the redirect led to %q", text)
	}
}

func TestCredentialsStayWithTheirHost(t *testing.T) {
	t.Parallel()
	w := newWeb(t, map[string]http.HandlerFunc{
		"a.example/same": to("/end"), "a.example/end": says(""),
		"a.example/away": to("http://sub.a.example/back"), "sub.a.example/back": to("http://a.example/end"),
	})
	g := &netguard.Guard{Connect: w.connect, Resolve: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
	}}
	c := client(t, g, netguard.Limits{Redirect: httpc.Pages.Check})
	for path, keeps := range map[string]bool{"same": true, "away": false} {
		w.mu.Lock()
		w.seen = nil
		w.mu.Unlock()
		if _, err := get(t, c, "http://a.example/"+path, "Authorization", "Bearer x", "X-Api-Key", "y", "Cookie", "c=d", "Accept", "text/html"); err != nil {
			t.Fatal(err)
		}
		for i, r := range w.seen[1:] {
			for _, name := range []string{"Authorization", "X-Api-Key", "Cookie"} {
				if got := r.Header.Get(name) != ""; got != keeps {
					t.Errorf("%s, hop %d to %s: %s is sent: %v", path, i+1, r.Host, name, got)
				}
			}
			if r.Header.Get("Accept") != "text/html" || r.Header.Get("Referer") != "" {
				t.Errorf("%s, hop %d: headers %v", path, i+1, r.Header)
			}
		}
	}
}

func TestSizeIsBoundedAfterDecompression(t *testing.T) {
	t.Parallel()
	w := newWeb(t, map[string]http.HandlerFunc{
		"a.example/fits": says(strings.Repeat("x", 1000)),
		"a.example/long": says(strings.Repeat("x", 1001)),
		"a.example/bomb": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(rw)
			_, _ = z.Write(make([]byte, 10<<20))
			_ = z.Close()
		},
	})
	g := &netguard.Guard{Connect: w.connect, Resolve: names(map[string]string{"a.example": "93.184.216.34"})}
	c := client(t, g, netguard.Limits{Bytes: 1000})
	if text, err := get(t, c, "http://a.example/fits"); err != nil || len(text) != 1000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	for _, path := range []string{"long", "bomb"} {
		if text, err := get(t, c, "http://a.example/"+path); !errors.Is(err, netguard.ErrTooLarge) || len(text) != 1000 {
			t.Errorf("%s: %d bytes, %v", path, len(text), err)
		}
	}
}

func TestAProxyIsUsedAndTheTargetJudged(t *testing.T) {
	t.Parallel()
	w := newWeb(t, map[string]http.HandlerFunc{"only-the-proxy-knows.example/": says("by proxy"), "evil.example/": to("http://10.0.0.1/")})
	proxy := &url.URL{Scheme: "http", Host: "127.0.0.1:3128"} // the user's own: it is not checked
	g := &netguard.Guard{Connect: w.connect, Resolve: names(nil), Proxy: func(*http.Request) (*url.URL, error) { return proxy, nil }}
	c := client(t, g, netguard.Limits{Redirect: httpc.Pages.Check})
	if text, err := get(t, c, "http://only-the-proxy-knows.example/"); err != nil || text != "by proxy" {
		t.Errorf("%q, %v", text, err)
	}
	for _, d := range w.dialled {
		if d != "127.0.0.1:3128" {
			t.Errorf("dialled %s", d)
		}
	}
	for _, address := range []string{"http://10.0.0.1/", "http://169.254.169.254/", "http://evil.example/"} {
		if _, err := get(t, c, address); !refused(err) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestOtherAddressesOfANameAreTried(t *testing.T) {
	t.Parallel()
	w := newWeb(t, map[string]http.HandlerFunc{"a.example/": says("there")})
	g := &netguard.Guard{
		Resolve: names(map[string]string{"a.example": "93.184.216.34 93.184.216.35 2606:2800::1"}),
		Connect: func(ctx context.Context, network, address string) (net.Conn, error) {
			if !strings.HasPrefix(address, "[") {
				return nil, errors.New("no way")
			}
			return w.connect(ctx, network, address)
		},
	}
	if text, err := get(t, client(t, g, netguard.Limits{}), "http://a.example/"); err != nil || text != "there" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestFamiliesAreTriedByTurns(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"":                                      "",
		"1.1.1.1":                               "1.1.1.1",
		"2::1 2::2 1.1.1.1":                     "1.1.1.1 2::1 2::2",
		"1.1.1.1 1.1.1.2 2::1 2::2":             "1.1.1.1 2::1 1.1.1.2 2::2",
		"1.1.1.1 1.1.1.2 1.1.1.3 2::1":          "1.1.1.1 2::1 1.1.1.2 1.1.1.3",
		"2::1 2::2 2::3 2::4 2::5":              "2::1 2::2 2::3 2::4",
		"1.1.1.1 1.1.1.2 2::1 2::2 2::3":        "1.1.1.1 2::1 1.1.1.2 2::2",
		"::ffff:1.1.1.1 ::ffff:1.1.1.2 1.1.1.1": "1.1.1.1 ::ffff:1.1.1.1 ::ffff:1.1.1.2",
	} {
		var given []netip.Addr
		for a := range strings.FieldsSeq(list) {
			given = append(given, netip.MustParseAddr(a))
		}
		var got []string
		for _, a := range netguard.InTurn(given) {
			got = append(got, a.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", list, got, want)
		}
	}
}

func TestIPv4Only(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip(err)
	}
	s := httptest.NewUnstartedServer(says("hello"))
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	defer s.Close()
	for only, want := range map[bool]bool{false: true, true: false} {
		c := client(t, &netguard.Guard{Private: true, IPv4: only}, netguard.Limits{})
		if text, err := get(t, c, s.URL); (err == nil && text == "hello") != want {
			t.Errorf("IPv4 only is %t: %q, %v", only, text, err)
		}
	}
}

// TestBlockedHostsAreNotLookedUp: the list is asked first, for requests and redirects, with
// and without a proxy, with the port that is meant.
func TestBlockedHostsAreNotLookedUp(t *testing.T) {
	t.Parallel()
	w := newWeb(t, map[string]http.HandlerFunc{"a.example/in": to("https://Bad.example./")})
	g := &netguard.Guard{Connect: w.connect, Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
		if host != "a.example" {
			t.Errorf("%s was looked up", host)
		}
		return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
	}, Blocked: func(host string, port uint16) (string, bool) {
		if host == "bad.example" && port == 443 {
			return "number 7", true
		}
		return "", false
	}}
	through := *g
	through.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse("http://proxy.example:3128") }
	for _, g := range []*netguard.Guard{g, &through} {
		if _, err := g.Judge(t.Context(), "https://BAD.example"); !refused(err) || err.Error() != "bad.example is blocked: the rule number 7 forbids it" {
			t.Errorf("got %v", err)
		}
		if _, err := get(t, client(t, g, netguard.Limits{}), "https://bad.example:443/"); !refused(err) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := get(t, client(t, g, netguard.Limits{Redirect: httpc.Pages.Check}), "http://a.example/in"); !refused(err) {
		t.Errorf("after a redirect: %v", err)
	}
}

// TestOwnHostsMayBePrivate: only the hosts that the user chose, and never a metadata service.
func TestOwnHostsMayBePrivate(t *testing.T) {
	t.Parallel()
	g := &netguard.Guard{Own: []string{"intern.example", "169.254.169.254"}, Resolve: names(map[string]string{"intern.example": "10.0.0.1", "other.example": "10.0.0.1"})}
	for address, want := range map[string]bool{"http://intern.example": true, "http://other.example": false, "http://10.0.0.1": false, "http://169.254.169.254": false} {
		if _, err := g.Judge(t.Context(), address); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
}
