package egress_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/proxy"

	"hermes/internal/egress"
	"hermes/internal/egress/egresstest"
	"hermes/internal/hostlist"
)

func TestAllowedHostsAreReachedByEveryProtocol(t *testing.T) {
	t.Parallel()
	w, a := newWorld(), egresstest.NewAuthority(t)
	w.Site(t, a, says("secure"), "a.example")
	w.plain(t, says("plain"), "a.example")
	c := w.allowed(t, "a.example")
	for address, want := range map[string]string{"https://a.example/": "secure", "http://a.example/x?a;b=%zz": "plain", "https://A.Example./": "secure"} {
		if code, body, err := fetch(c.client(t, a), address); err != nil || code != 200 || body != want {
			t.Errorf("%s: %d %q %v", address, code, body, err)
		}
	}
	// SOCKS5, to both ports
	d, err := proxy.SOCKS5("tcp", fmt.Sprintf("127.0.0.1:%d", c.port), &proxy.Auth{User: "hermes", Password: c.token()}, proxy.Direct)
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{DialContext: d.(proxy.ContextDialer).DialContext, DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: a.Pool}}
	for address, want := range map[string]string{"https://a.example/": "secure", "http://a.example/": "plain"} {
		if code, body, err := fetch(&http.Client{Transport: tr}, address); err != nil || code != 200 || body != want {
			t.Errorf("socks %s: %d %q %v", address, code, body, err)
		}
	}
	if _, dialled := w.Asked(); slices.ContainsFunc(dialled, func(d string) bool { return !strings.HasPrefix(d, egresstest.Public+":") }) {
		t.Errorf("dialled %v", dialled)
	}
	if r := c.Refused(time.Time{}); len(r) != 0 {
		t.Errorf("refused %+v", r)
	}
}

func TestAHostWithoutARuleIsRefusedBeforeTheLookup(t *testing.T) {
	t.Parallel()
	w, a := newWorld(), egresstest.NewAuthority(t)
	w.Site(t, a, says("secret"), "secret-data.evil.example")
	c := w.allowed(t, "a.example", "*.ok.example", "b.example:8443")
	before := time.Now()
	_, code, body := c.tunnel(t, "secret-data.evil.example:443")
	if code != 403 || !strings.Contains(body, "secret-data.evil.example:443") || !strings.Contains(body, `need: ["host secret-data.evil.example:443"]`) {
		t.Errorf("%d %q", code, body)
	}
	for _, to := range []string{"ok.example:443", "a.example:22", "b.example:443", "a.example.:8443", "xa.example:443", "93.184.216.34:443"} {
		if _, code, _ := c.tunnel(t, to); code != 403 {
			t.Errorf("%s: %d", to, code)
		}
	}
	if _, _, err := fetch(c.client(t, a), "http://evil.example/"); err != nil {
		t.Error(err)
	}
	if looked, dialled := w.Asked(); len(looked)+len(dialled) != 0 {
		t.Errorf("looked up %v, dialled %v", looked, dialled)
	}
	list := c.Refused(before)
	if len(list) != 8 || list[0].Host != "secret-data.evil.example" || list[0].Port != 443 || list[0].Count != 1 || !list[0].Askable {
		t.Errorf("%+v", list)
	}
	if later := c.Refused(time.Now().Add(time.Hour)); len(later) != 0 {
		t.Errorf("%+v", later)
	}
}

func TestDenyWins(t *testing.T) {
	t.Parallel()
	w, a := newWorld(), egresstest.NewAuthority(t)
	w.Site(t, a, says("x"), "a.example", "bad.a.example", "listed.example", "by-address.example")
	w.Name("by-address.example", "93.184.216.35")
	w.Name("by-nat64.example", "64:ff9b::5db8:d823")
	w.Name("by-rule.example", "93.184.216.36")
	list := &hostlist.Source{Entries: []string{"listed.example", "93.184.216.35"}}
	config := w.config()
	config.Deny = list.Match
	asked := 0
	config.Decide = func(context.Context, egress.Request) egress.Verdict { asked++; return egress.Verdict{Allow: true} }
	c := start(t, config, egress.SessionConfig{Allow: rules(t, "*"), Deny: rules(t, "bad.a.example", "93.184.216.36")})
	for to, want := range map[string]int{"a.example:443": 200, "bad.a.example:443": 403, "listed.example:443": 403, "by-address.example:443": 403,
		"by-nat64.example:443": 403, "by-rule.example:443": 403, "93.184.216.36:80": 403, "[64:ff9b::5db8:d823]:80": 403} {
		if _, code, body := c.tunnel(t, to); code != want || want == 403 && !strings.Contains(body, "cannot be allowed by asking") {
			t.Errorf("%s: %d %q", to, code, body)
		}
	}
	if asked != 0 {
		t.Errorf("asked %d times", asked)
	}
}

func TestPrivateAddressesAreRefusedAfterTheLookup(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.listen(t, "9", func(c net.Conn) {}, "x.example")
	list := []string{"127.0.0.1", "10.1.2.3", "192.168.0.1", "100.64.0.1", "169.254.1.1", "224.0.0.1", "0.0.0.0", "::1", "fe80::1", "fd00::1",
		"::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::", "169.254.169.254", "fd00:ec2::254", egresstest.Public + " 10.0.0.1"}
	for i, a := range list {
		w.Name(fmt.Sprintf("h%d.example", i), a)
	}
	c := w.allowed(t, "*")
	for i, a := range list {
		to := fmt.Sprintf("h%d.example:443", i)
		if _, code, body := c.tunnel(t, to); code != 403 || !strings.Contains(body, "leads to") {
			t.Errorf("%s (%v): %d %q", to, a, code, body)
		}
	}
	if _, dialled := w.Asked(); len(dialled) != 0 {
		t.Errorf("dialled %v", dialled)
	}
}

// TestAddressesOfThisMachineArePrivate is about public ones, as servers and all machines with
// IPv6 have them.
func TestAddressesOfThisMachineArePrivate(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for name, a := range map[string]string{"own4": "93.184.216.40", "own6": "2a00:1:2:3::5", "neighbour6": "2a00:1:2:3::99", "nat64": "64:ff9b::5db8:d828",
		"neighbour4": "93.184.216.41", "other6": "2a00:1:2:4::5"} {
		w.Name(name+".example", a)
	}
	config := w.config()
	config.Networks = func() []netip.Prefix {
		return []netip.Prefix{netip.MustParsePrefix("93.184.216.40/24"), netip.MustParsePrefix("2a00:1:2:3::5/64")}
	}
	c := start(t, config, egress.SessionConfig{Allow: rules(t, "*:8080")})
	for host, want := range map[string]int{"own4.example": 403, "own6.example": 403, "neighbour6.example": 403, "nat64.example": 403, "93.184.216.40": 403, "[2a00:1:2:3::99]": 403,
		"neighbour4.example": 502, "other6.example": 502} { // allowed, and nothing listens there
		if _, code, body := c.tunnel(t, host+":8080"); code != want || want == 403 && !strings.Contains(body, "this machine") {
			t.Errorf("%s: %d %q", host, code, body)
		}
	}
	if _, dialled := w.Asked(); len(dialled) != 2 {
		t.Errorf("dialled %v", dialled)
	}
}

func TestEverySpellingOfAnAddressIsJudged(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := w.allowed(t, "*", "*:80")
	for _, host := range []string{
		"0x7f.1", "127.1", "2130706433", "017700000001", "0x7f000001", "127.0.0.1", "127.0.0.1.", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:169.254.169.254]",
		"[64:ff9b::169.254.169.254]", "[2002:a9fe:a9fe::]", "169.254.43518", "LOCALHOST", "localhost.", "a.localhost", "Metadata.Google.Internal.", "metadata",
		"[fe80::1%25eth0]", "[fe80::1%eth0]", "0", "0.0.0.0", "[::]", "255.255.255.255", "100.100.100.200",
		"a@b.example", "user:pw@b.example", "a%00.example", "exаmple.example", "ｅxample.example", "a..example", "a_b c.example", "[127.0.0.1]", "[::1", "::1",
	} {
		if _, code, body := c.tunnel(t, host+":443"); code != 403 && code != 400 {
			t.Errorf("CONNECT %s: %d %q", host, code, body)
		}
		r := c.raw(t).send("GET http://" + host + "/ HTTP/1.1\r\nHost: a.example\r\n" + c.auth() + "\r\n")
		if code, body := r.answer("GET"); code != 403 && code != 400 {
			t.Errorf("GET %s: %d %q", host, code, body)
		}
	}
	for _, host := range []string{"0x7f.1", "127.1", "a\x00.example", "a\n.example", "", "localhost", "::1", "a@b", strings.Repeat("a", 255)} {
		if reply := c.socksTo(t, c.token(), host, 443); reply != 2 {
			t.Errorf("SOCKS %q: reply %d", host, reply)
		}
	}
	if looked, dialled := w.Asked(); len(looked)+len(dialled) != 0 {
		t.Errorf("looked up %v, dialled %v", looked, dialled)
	}
}

// socksTo does the handshake of SOCKS5 and returns the reply; 255 if it was ended before.
func (c *child) socksTo(t *testing.T, token, host string, port uint16) int {
	t.Helper()
	r := c.raw(t).send("\x05\x01\x02")
	head := make([]byte, 2)
	if _, err := io.ReadFull(r, head); err != nil || head[1] != 2 {
		return 255
	}
	r.send("\x01\x06hermes" + string(rune(len(token))) + token)
	if _, err := io.ReadFull(r, head); err != nil || head[1] != 0 {
		return 255
	}
	_, _ = r.Write(append(append([]byte{5, 1, 0, 3, byte(len(host))}, host...), byte(port>>8), byte(port)))
	reply := make([]byte, 10)
	if _, err := io.ReadFull(r, reply); err != nil {
		return 255
	}
	return int(reply[1])
}

func TestAPrivateHostNeedsARuleForItAlone(t *testing.T) {
	t.Parallel()
	w := newWorld()
	echo := func(c net.Conn) { _, _ = io.Copy(c, c) }
	w.Name("db.intern", "10.0.0.5")
	w.Name("meta.intern", "169.254.169.254")
	w.listen(t, "5432", echo, "db.intern")
	private := func(texts ...string) []egress.Rule {
		list := rules(t, texts...)
		for i := range list {
			list[i].Private = true
		}
		return list
	}
	c := start(t, w.config(), egress.SessionConfig{Allow: private("db.intern:5432", "10.0.0.5:5432", "*.intern", "meta.intern:80", "169.254.169.254:80", "db.intern")})
	for to, want := range map[string]int{"db.intern:5432": 200, "10.0.0.5:5432": 200, "db.intern:443": 403, "meta.intern:80": 200, "169.254.169.254:80": 403, "10.0.0.5:443": 403} {
		r, code, body := c.tunnel(t, to)
		if code != want {
			t.Errorf("%s: %d %q", to, code, body)
		}
		if to == "meta.intern:80" { // in a tunnel of plain HTTP each request is judged
			if code, _ := r.send("GET / HTTP/1.1\r\nHost: meta.intern\r\n\r\n").answer("GET"); code != 403 {
				t.Errorf("metadata answered %d", code)
			}
		}
	}
	without := start(t, w.config(), egress.SessionConfig{Allow: rules(t, "db.intern:5432")})
	if _, code, body := without.tunnel(t, "db.intern:5432"); code != 403 || !strings.Contains(body, "private") {
		t.Errorf("%d %q", code, body)
	}
}

func TestASecondAnswerIsNotAskedFor(t *testing.T) {
	t.Parallel()
	w, a := newWorld(), egresstest.NewAuthority(t)
	w.Site(t, a, says("first"), "rebind.example")
	w.plain(t, says("first"), "rebind.example")
	for _, scheme := range []string{"https", "http"} {
		w.Name("rebind.example", egresstest.Public, "127.0.0.1")
		c := w.allowed(t, "rebind.example")
		if _, body, err := fetch(c.client(t, a), scheme+"://rebind.example/"); err != nil || body != "first" {
			t.Errorf("%q %v", body, err)
		}
		code, _, err := fetch(c.client(t, a), scheme+"://rebind.example/")
		if err == nil && code != 403 {
			t.Errorf("%s: the second look-up led to %d", scheme, code)
		}
	}
	if _, dialled := w.Asked(); len(dialled) != 2 {
		t.Errorf("dialled %v", dialled)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	w := newWorld()
	var got atomic.Value
	w.plain(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { got.Store(r.Header.Clone()) }), "a.example")
	c, other := w.allowed(t, "a.example"), w.allowed(t, "a.example")
	for name, header := range map[string]string{
		"none": "", "wrong": "Proxy-Authorization: Basic aGVybWVzOndyb25n\r\n", "another session's": other.auth(), "empty": "Proxy-Authorization: Bearer \r\n",
		"twice": c.auth() + c.auth(), "not for a proxy": "Authorization: Bearer " + c.token() + "\r\n", "bad base64": "Proxy-Authorization: Basic ###\r\n",
	} {
		for _, line := range []string{"GET http://a.example/", "CONNECT a.example:443"} {
			method, _, _ := strings.Cut(line, " ")
			r := c.raw(t).send(line + " HTTP/1.1\r\nHost: a.example\r\n" + header + "\r\n")
			if code, body := r.answer(method); code != 407 || !strings.Contains(body, "token") {
				t.Errorf("%s, %s: %d %q", name, line, code, body)
			}
		}
	}
	for _, token := range []string{"", "wrong", other.token()} {
		if reply := c.socksTo(t, token, "a.example", 80); reply != 255 {
			t.Errorf("%q: %d", token, reply)
		}
	}
	r := c.raw(t).send("\x05\x01\x00") // no authentication
	head := make([]byte, 2)
	if _, err := io.ReadFull(r, head); err != nil || head[1] != 0xff {
		t.Errorf("%v %v", head, err)
	}
	if got.Load() != nil {
		t.Fatal("a request was passed on")
	}
	r = c.raw(t).send("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n" + c.auth() +
		"Proxy-Connection: keep-alive\r\nConnection: X-Hop, keep-alive\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nX-End: 2\r\nUpgrade: websocket\r\n\r\n")
	if code, _ := r.answer("GET"); code != 200 {
		t.Errorf("%d", code)
	}
	h := got.Load().(http.Header)
	for _, name := range []string{"Proxy-Authorization", "Proxy-Connection", "X-Hop", "Keep-Alive", "Upgrade", "X-Forwarded-For", "User-Agent"} {
		if h.Get(name) != "" {
			t.Errorf("%s is passed on: %q", name, h.Get(name))
		}
	}
	if h.Get("X-End") != "2" {
		t.Errorf("headers %v", h)
	}
}

func TestAnUndecidedHostIsAskedAboutOnce(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.listen(t, "443", func(c net.Conn) { _, _ = io.Copy(c, c) }, "new.example", "no.example")
	var asked atomic.Int32
	release := make(chan struct{})
	config := w.config()
	config.Decide = func(ctx context.Context, r egress.Request) egress.Verdict {
		asked.Add(1)
		if r.Session != "s" || r.Port != 443 || r.Private {
			t.Errorf("%+v", r)
		}
		<-release
		return egress.Verdict{Allow: r.Host == "new.example", Why: "the user said no"}
	}
	c := start(t, config, egress.SessionConfig{Name: "s"})
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if _, code, body := c.tunnel(t, "new.example:443"); code != 200 {
				t.Errorf("%d %q", code, body)
			}
		})
	}
	wg.Go(func() {
		if _, code, body := c.tunnel(t, "no.example:443"); code != 403 || !strings.Contains(body, "the user said no") {
			t.Errorf("%d %q", code, body)
		}
	})
	for asked.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond) // for those that would ask again
	if looked, _ := w.Asked(); len(looked) != 0 {
		t.Errorf("looked up %v before the answer", looked)
	}
	close(release)
	wg.Wait()
	if n := asked.Load(); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

func TestARuleCanBeAddedAndTakenOut(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.listen(t, "443", func(c net.Conn) {}, "a.example")
	c := w.allowed(t)
	try := func(want int) {
		t.Helper()
		if _, code, _ := c.tunnel(t, "a.example:443"); code != want {
			t.Errorf("%d, want %d", code, want)
		}
	}
	try(403)
	revoke := c.Allow(rules(t, "a.example")[0])
	try(200)
	revoke()
	revoke()
	try(403)
	if r := c.lastRefusal(t); r.Count != 2 {
		t.Errorf("%+v", r)
	}
}

// TestWhatOnlyARuleAllowedEndsWithIt: tunnels and requests that go on when the rule is taken
// out are ended, if no other rule allows them.
func TestWhatOnlyARuleAllowedEndsWithIt(t *testing.T) {
	t.Parallel()
	w := newWorld()
	echo := func(c net.Conn) { _, _ = io.Copy(c, c) }
	w.listen(t, "7000", echo, "a.example", "b.example")
	w.plain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}), "c.example")
	c := w.allowed(t, "b.example:7000")
	var once []func()
	for _, r := range rules(t, "a.example:7000", "b.example:7000", "c.example:80") {
		once = append(once, c.Allow(r))
	}
	again := c.Allow(rules(t, "a.example:7000")[0])
	open := map[string]*raw{}
	for _, host := range []string{"a.example", "b.example"} {
		r, code, body := c.tunnel(t, host+":7000")
		if code != 200 {
			t.Fatal(code, body)
		}
		open[host] = r
	}
	request := c.raw(t).send("GET http://c.example/ HTTP/1.1\r\nHost: c.example\r\n" + c.auth() + "\r\n")
	if line, err := request.r.ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatal(line, err)
	}
	works := func(host string) bool {
		open[host].send("x")
		var b [1]byte
		_, err := io.ReadFull(open[host], b[:])
		return err == nil
	}
	for _, revoke := range once {
		revoke()
	}
	if !works("a.example") || !works("b.example") {
		t.Error("what another rule allows was ended")
	}
	again()
	if works("a.example") || !works("b.example") {
		t.Error("the tunnel of a rule that was taken out goes on, or another one was ended")
	}
	if _, err := io.ReadAll(request.r); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the request of a rule that was taken out goes on")
	}
}

func TestHalfCloseIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.listen(t, "7000", func(c net.Conn) { // answers only after the end of what it is sent
		all, _ := io.ReadAll(c)
		_, _ = fmt.Fprintf(c, "got %d", len(all))
	}, "a.example")
	c := w.allowed(t, "a.example:7000")
	r, code, body := c.tunnel(t, "a.example:7000")
	if code != 200 {
		t.Fatal(code, body)
	}
	r.send(strings.Repeat("x", 200000))
	_ = r.Conn.(*net.TCPConn).CloseWrite()
	if all, err := io.ReadAll(r); string(all) != "got 200000" || err != nil {
		t.Errorf("%q %v", all, err)
	}
}

func TestALimitOfConnectionsAndOfTime(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.listen(t, "7000", func(c net.Conn) { _, _ = io.Copy(c, c) }, "a.example")
	config := w.config()
	config.Limits = egress.Limits{Conns: 3, Handshake: time.Second, Idle: time.Second, Header: 4096}
	c := start(t, config, egress.SessionConfig{Allow: rules(t, "a.example:7000")})
	var held []*raw
	for _, text := range []string{"CONNECT a.exa", "", "\x05\x01"} { // they never go on
		held = append(held, c.raw(t).send(text))
	}
	if _, code, _ := c.tunnel(t, "a.example:7000"); code != 0 { // they are accepted in turn
		t.Errorf("a fourth connection was served: %d", code)
	}
	for _, r := range held {
		begin := time.Now()
		_, _ = io.Copy(io.Discard, r)
		if d := time.Since(begin); d > 5*time.Second {
			t.Errorf("a slow client was served for %v", d)
		}
	}
	r, code, _ := c.tunnel(t, "a.example:7000")
	if code != 200 {
		t.Fatal(code)
	}
	for range 4 { // busy in one direction at least: it lives on
		time.Sleep(300 * time.Millisecond)
		if _, err := io.ReadFull(r.send("x"), make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	if _, err := io.ReadAll(r); time.Since(begin) > 5*time.Second {
		t.Errorf("an idle tunnel lived for %v, %v", time.Since(begin), err)
	}
	r = c.raw(t).send("CONNECT a.example:7000 HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("y", 20000) + "\r\n\r\n")
	if code, _ := r.answer("CONNECT"); code != 431 && code != 0 {
		t.Errorf("a large header got %d", code)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	w, a := newWorld(), egresstest.NewAuthority(t)
	release := make(chan struct{})
	site := w.Site(t, a, says("x"), "a.example")
	slow := w.plain(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { <-release }), "a.example")
	w.listen(t, "7000", func(c net.Conn) { _, _ = io.Copy(c, c) }, "a.example")
	config := w.config()
	config.Decide = func(ctx context.Context, _ egress.Request) egress.Verdict { <-ctx.Done(); return egress.Verdict{} }
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := egress.New(config)
	c := &child{Session: p.Session(egress.SessionConfig{Allow: rules(t, "a.example", "a.example:7000")}), proxy: p, port: l.Addr().(*net.TCPAddr).Port}
	c.url, _ = url.Parse(strings.TrimPrefix(c.Environ(c.port)[0], "HTTP_PROXY="))
	served := make(chan error, 1)
	go func() { served <- c.Serve(l) }()
	for range 10 {
		if _, _, err := fetch(c.client(t, a), "https://a.example/"); err != nil {
			t.Error(err)
		}
		c.tunnel(t, "a.example:7000")
		c.tunnel(t, "a.example:443")
		c.raw(t).send("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n" + c.auth() + "\r\n")
		c.raw(t).send("CONNECT undecided.example:443 HTTP/1.1\r\nHost: x\r\n" + c.auth() + "\r\n")
		c.raw(t).send("\x05")
		c.raw(t)
	}
	p.Close()
	if err := <-served; err == nil {
		t.Error("Serve returned no error")
	}
	if late := p.Session(egress.SessionConfig{}); late.Serve(mustListen(t)) == nil {
		t.Error("a session of a closed proxy serves")
	}
	close(release)
	slow.Close()
	site.Close()
	for range 200 {
		if runtime.NumGoroutine() <= before+3 { // the listeners of the world
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
}

func mustListen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestAFloodIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld()
	config := w.config()
	var log bytes.Buffer
	config.Log = slog.New(slog.NewTextHandler(&log, nil))
	config.Limits.Refusals = 10
	c := start(t, config, egress.SessionConfig{Name: "s9"})
	for i := range 300 {
		r := c.raw(t).send(fmt.Sprintf("GET http://h%d.example/path?q=1 HTTP/1.1\r\nHost: x\r\n%s\r\n", i, c.auth()))
		if code, _ := r.answer("GET"); code != 403 {
			t.Fatal(code)
		}
		_ = r.Close()
	}
	list := c.Refused(time.Time{})
	if len(list) != 10 || list[9].Host != "h299.example" {
		t.Errorf("%d refusals: %+v", len(list), list)
	}
	c.proxy.Close()
	text := log.String()
	if n := strings.Count(text, "\n"); n < 100 || n > 150 {
		t.Errorf("%d records", n)
	}
	if strings.Contains(text, "path") || strings.Contains(text, c.token()) || !strings.Contains(text, "session=s9") || !strings.Contains(text, "host=h0.example") {
		t.Errorf("records: %.300s", text)
	}
}

// TestAFloodOfWrongTokensIsBounded also looks for a refusal that comes after the flood.
func TestAFloodOfWrongTokensIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld()
	config := w.config()
	var log bytes.Buffer
	config.Log = slog.New(slog.NewTextHandler(&log, nil))
	c := start(t, config, egress.SessionConfig{Name: "s9"})
	for range 200 {
		r := c.raw(t).send(strings.Repeat("GET http://a.example/ HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic QQ==\r\n\r\n", 2))
		if all, _ := io.ReadAll(r); strings.Count(string(all), "HTTP/1.1 407") != 1 {
			t.Fatalf("the connection goes on: %q", all)
		}
		if reply := c.socksTo(t, "wrong", "a.example", 80); reply != 255 {
			t.Fatal(reply)
		}
	}
	_, code, _ := c.tunnel(t, "refused.example:443")
	c.proxy.Close()
	if n := strings.Count(log.String(), "\n"); n < 100 || n > 150 {
		t.Errorf("%d records", n)
	}
	if code != 403 || !strings.Contains(log.String(), "host=refused.example") {
		t.Errorf("%d, and the refusal is not in the log", code)
	}
}

func TestTheUpstreamProxyIsUsedAndItsPasswordStaysHere(t *testing.T) {
	t.Parallel()
	w, a := newWorld(), egresstest.NewAuthority(t)
	site := w.Site(t, a, says("secure"), "a.example")
	var seen sync.Map
	up := httptestProxy(t, site.Listener.Addr().String(), &seen)
	w.Name("proxy.example", "10.9.9.9")
	w.At("3128", up, "proxy.example")
	w.Name("a.example") // only the upstream proxy knows it
	w.Name("intern.example", "10.0.0.1")
	config := w.config()
	config.Upstream = func(*http.Request) (*url.URL, error) { return url.Parse("http://corp:s3cret@10.9.9.9:3128") }
	c := start(t, config, egress.SessionConfig{Allow: rules(t, "*.example")})
	if _, body, err := fetch(c.client(t, a), "https://a.example/"); err != nil || body != "secure" {
		t.Errorf("%q %v", body, err)
	}
	if _, body, err := fetch(c.client(t, a), "http://a.example/p"); err != nil || body != "by proxy http://a.example/p" {
		t.Errorf("%q %v", body, err)
	}
	for _, to := range []string{"CONNECT", "GET"} {
		if v, _ := seen.Load(to); v != "Basic Y29ycDpzM2NyZXQ=" {
			t.Errorf("%s: the proxy got %v", to, v)
		}
	}
	if _, code, _ := c.tunnel(t, "intern.example:443"); code != 403 {
		t.Errorf("a private host: %d", code)
	}
	for _, v := range c.Environ(1) {
		if strings.Contains(v, "s3cret") || strings.Contains(v, "corp") {
			t.Error(v)
		}
	}
	_, code, body := c.tunnel(t, "fails.example:443")
	if code != 502 || strings.Contains(body, "s3cret") || strings.Contains(body, "10.9.9.9") {
		t.Errorf("%d %q", code, body)
	}
}

// httptestProxy is a corporate proxy: CONNECT leads to one server, other requests are answered.
func httptestProxy(t *testing.T, server string, seen *sync.Map) string {
	t.Helper()
	l := mustListen(t)
	s := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		seen.Store(r.Method, r.Header.Get("Proxy-Authorization"))
		if strings.HasPrefix(r.Host, "fails.") {
			rw.WriteHeader(502)
			return
		}
		if r.Method != "CONNECT" {
			_, _ = io.WriteString(rw, "by proxy "+r.RequestURI)
			return
		}
		to, err := net.Dial("tcp", server)
		if err != nil {
			t.Error(err)
			return
		}
		defer to.Close()
		conn, _, _ := rw.(http.Hijacker).Hijack()
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(to, conn); _ = to.Close() }()
		_, _ = io.Copy(conn, to)
	})}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

func TestOtherAddressesAreTried(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.listen(t, "443", func(net.Conn) {}, "a.example")
	w.Name("a.example", "93.184.216.1 93.184.216.2 2606:2800::1 "+egresstest.Public)
	c := w.allowed(t, "a.example")
	if _, code, body := c.tunnel(t, "a.example:443"); code != 200 {
		t.Errorf("%d %q", code, body)
	}
	if looked, dialled := w.Asked(); len(looked) != 1 || len(dialled) != 4 {
		t.Errorf("looked up %v, dialled %v", looked, dialled)
	}
	w.Name("mapped.example", "::ffff:"+egresstest.Public) // as some resolvers write IPv4
	if _, code, body := w.allowed(t, "mapped.example").tunnel(t, "mapped.example:443"); code != 200 {
		t.Errorf("%d %q", code, body)
	}
	w.Name("a.example", "93.184.216.1")
	if _, code, body := c.tunnel(t, "a.example:443"); code != 502 || !strings.Contains(body, "could not be reached") {
		t.Errorf("%d %q", code, body)
	}
}

type swapper struct{ served atomic.Int32 }

func (s *swapper) Handles(host string, port uint16) bool { return host == "api.example" && port == 443 }
func (s *swapper) Environ(string) ([]string, error)      { return nil, nil }
func (s *swapper) Serve(ctx context.Context, c net.Conn, host string, port uint16, dial func(context.Context) (net.Conn, error)) error {
	s.served.Add(1)
	first := make([]byte, 1)
	if _, err := io.ReadFull(c, first); err != nil || first[0] != 22 {
		return fmt.Errorf("%v %w", first, err)
	}
	server, err := dial(ctx)
	if err != nil {
		return err
	}
	defer server.Close()
	_, err = io.WriteString(c, "swapped")
	return err
}

func TestADeclaredHostIsServedByTheSwapper(t *testing.T) {
	t.Parallel()
	w, s := newWorld(), &swapper{}
	w.listen(t, "443", func(net.Conn) {}, "api.example", "a.example")
	c := start(t, w.config(), egress.SessionConfig{Allow: rules(t, "*.example"), Swapper: s})
	r, code, _ := c.tunnel(t, "api.example:443")
	if code != 200 {
		t.Fatal(code)
	}
	r.send(string(clientHello(t, "api.example")))
	if got, _ := io.ReadAll(r); string(got) != "swapped" {
		t.Errorf("%q", got)
	}
	r, _, _ = c.tunnel(t, "api.example:443")
	r.send(string(clientHello(t, "a.example"))) // the name is judged before
	_, _ = io.ReadAll(r)
	if n := s.served.Load(); n != 1 {
		t.Errorf("served %d", n)
	}
	other := start(t, w.config(), egress.SessionConfig{Swapper: s})
	if _, code, _ := other.tunnel(t, "api.example:443"); code != 403 {
		t.Errorf("a declared host without a rule: %d", code)
	}
}

func TestRegistriesAreValidAndPublic(t *testing.T) {
	t.Parallel()
	for _, r := range egress.Registries() {
		again, err := egress.ParseRule(r.String())
		if err != nil || again != r || r.Private {
			t.Errorf("%v: %v %v", r, again, err)
		}
		if _, err := netip.ParseAddr(r.Pattern.Host); err == nil {
			t.Errorf("%v is an address", r)
		}
	}
	for _, bad := range []string{"a.example/ftp", "a b", ""} {
		if r, err := egress.ParseRule(bad); err == nil {
			t.Errorf("%q became %v", bad, r)
		}
	}
}

func TestAProcessCannotAskAboutManyHostsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld()
	var asked atomic.Int32
	config := w.config()
	config.Limits.Asking = 2
	config.Decide = func(ctx context.Context, r egress.Request) egress.Verdict {
		asked.Add(1)
		<-ctx.Done()
		return egress.Verdict{}
	}
	c := start(t, config, egress.SessionConfig{})
	for i := range 2 {
		c.raw(t).send(fmt.Sprintf("CONNECT h%d.example:443 HTTP/1.1\r\nHost: x\r\n%s\r\n", i, c.auth()))
	}
	for asked.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	if _, code, body := c.tunnel(t, "h2.example:443"); code != 403 || !strings.Contains(body, "several other hosts wait") {
		t.Errorf("%d %q", code, body)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

func TestConnectionsAreRecordedWithoutPaths(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.plain(t, says("answer"), "a.example")
	w.listen(t, "7000", func(c net.Conn) { _, _ = io.Copy(c, c) }, "a.example")
	var log bytes.Buffer
	config := w.config()
	config.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c := start(t, config, egress.SessionConfig{Name: "s7", Allow: rules(t, "a.example", "a.example:7000")})
	if code, _, err := fetch(c.client(t, nil), "http://a.example/secret-path"); err != nil || code != 200 {
		t.Error(code, err)
	}
	r, _, _ := c.tunnel(t, "a.example:7000")
	r.send("hello")
	_ = r.Conn.(*net.TCPConn).CloseWrite()
	_, _ = io.ReadAll(r)
	c.proxy.Close()
	for _, want := range []string{"host=a.example port=80 received=6 sent=0 session=s7", "host=a.example port=7000 received=5 sent=5 session=s7"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not in\n%s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "secret") || strings.Contains(log.String(), "answer") {
		t.Error(log.String())
	}
}

func TestALifeIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.listen(t, "7000", func(c net.Conn) { _, _ = io.Copy(c, c) }, "a.example")
	config := w.config()
	config.Limits.Total = 500 * time.Millisecond
	c := start(t, config, egress.SessionConfig{Allow: rules(t, "a.example:7000")})
	r, code, _ := c.tunnel(t, "a.example:7000")
	if code != 200 {
		t.Fatal(code)
	}
	for begin := time.Now(); ; {
		if _, err := io.ReadFull(r.send("x"), make([]byte, 1)); err != nil {
			return
		}
		if time.Since(begin) > 10*time.Second {
			t.Fatal("a busy tunnel lives on")
		}
	}
}
