package egress_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/egress"
	"hermes/internal/egress/egresstest"
)

// clientHello returns the first message of TLS for a server's name; "" sends none.
func clientHello(t *testing.T, name string) []byte {
	t.Helper()
	here, there := net.Pipe()
	defer here.Close()
	go func() {
		_ = tls.Client(there, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake()
		_ = there.Close()
	}()
	head := make([]byte, 5)
	if _, err := io.ReadFull(here, head); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, int(head[3])<<8|int(head[4]))
	if _, err := io.ReadFull(here, body); err != nil {
		t.Fatal(err)
	}
	return append(head, body...)
}

// fragments cuts a record into records of n bytes.
func fragments(record []byte, n int) []byte {
	var out []byte
	for body := record[5:]; len(body) > 0; {
		part := body[:min(n, len(body))]
		body = body[len(part):]
		out = append(append(out, 22, 3, 1, byte(len(part)>>8), byte(len(part))), part...)
	}
	return out
}

// sink counts the bytes that a server gets.
type sink struct {
	mu  sync.Mutex
	got bytes.Buffer
}

func (s *sink) serve(c net.Conn) {
	buf := make([]byte, 1024)
	for {
		n, err := c.Read(buf)
		s.mu.Lock()
		s.got.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
		_, _ = c.Write([]byte("ok"))
	}
}

func (s *sink) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got.Len()
}

func TestTheNameInTLSMustBeTheHost(t *testing.T) {
	t.Parallel()
	hello := clientHello(t, "a.example")
	ech := func(b []byte) []byte { // appends an extension of encrypted_client_hello
		ext := []byte{0xfe, 0x0d, 0, 4, 0, 1, 2, 3}
		return withExtension(b, ext)
	}
	for name, c := range map[string]struct {
		to    string
		bytes []byte
		ok    bool
	}{
		"the host":              {"a.example:443", hello, true},
		"in capitals":           {"A.EXAMPLE:443", clientHello(t, "A.Example"), true},
		"in two records":        {"a.example:443", fragments(hello, len(hello)/2), true},
		"in tiny records":       {"a.example:443", fragments(hello, 7), true},
		"ech, outer the host":   {"a.example:443", ech(hello), true},
		"ech, outer another":    {"a.example:443", ech(clientHello(t, "cover.example")), false},
		"another host":          {"a.example:443", clientHello(t, "b.example"), false},
		"a host below":          {"a.example:443", clientHello(t, "x.a.example"), false},
		"no name":               {"a.example:443", clientHello(t, ""), false},
		"no name, an address":   {egresstest.Public + ":443", clientHello(t, ""), true},
		"a name, an address":    {egresstest.Public + ":443", hello, false},
		"not TLS":               {"a.example:443", []byte("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"), false},
		"SSH":                   {"a.example:443", []byte("SSH-2.0-x\r\n"), false},
		"nothing":               {"a.example:443", nil, false},
		"half":                  {"a.example:443", hello[:60], false},
		"two names":             {"a.example:443", withExtension(hello, []byte{0, 0, 0, 14, 0, 12, 0, 0, 9, 'b', '.', 'e', 'x', 'a', 'm', 'p', 'l', 'e'}), false},
		"two names, one right":  {"a.example:443", withExtension(clientHello(t, "b.example"), []byte{0, 0, 0, 14, 0, 12, 0, 0, 9, 'a', '.', 'e', 'x', 'a', 'm', 'p', 'l', 'e'}), false},
		"more in the record":    {"a.example:443", longer(hello), false},
		"another port, named":   {"a.example:8443", hello, true},
		"another port, another": {"a.example:8443", clientHello(t, "b.example"), false},
		"another port, text":    {"a.example:8443", []byte("hello"), true},
		"declared for ssh":      {"ssh.example:443", []byte("SSH-2.0-x\r\n"), true},
		"ssh, but TLS":          {"ssh.example:443", hello, false},
		"port 22":               {"a.example:22", []byte("SSH-2.0-x\r\n"), true},
		"port 22, but TLS":      {"a.example:22", hello, false},
		"port 22, but HTTP":     {"a.example:22", []byte("GET / HTTP/1.1\r\nHost: b.example\r\n\r\n"), false},
		"declared as any":       {"any.example:443", []byte("hello"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := newWorld(), &sink{}
			for _, port := range []string{"443", "8443", "22"} {
				w.listen(t, port, s.serve, "a.example", "ssh.example", "any.example")
			}
			config := w.config()
			if !c.ok {
				config.Limits.Handshake = time.Second
			}
			ch := start(t, config, egress.SessionConfig{Allow: rules(t, "a.example", "a.example:8443", "a.example:22", "ssh.example:443/ssh", "any.example:443/any", egresstest.Public)})
			r, code, body := ch.tunnel(t, c.to)
			if code != 200 {
				t.Fatal(code, body)
			}
			r.send(string(c.bytes))
			if c.ok {
				if got, err := io.ReadFull(r, make([]byte, 2)); err != nil {
					t.Fatalf("%d bytes, %v; refused %+v", got, err, ch.Refused(time.Time{}))
				}
				s.mu.Lock()
				defer s.mu.Unlock()
				if !bytes.HasPrefix(c.bytes, s.got.Bytes()) {
					t.Error("the server got other bytes")
				}
				return
			}
			if _, err := io.ReadAll(r); err != nil && !strings.Contains(err.Error(), "reset") {
				t.Error(err)
			}
			if s.size() != 0 {
				t.Errorf("the server got %d bytes", s.size())
			}
			if f := ch.lastRefusal(t); f.Why == "" || f.Askable || f.Port == 0 {
				t.Errorf("%+v", f)
			}
		})
	}
}

// longer appends a byte to the record, but not to the message in it.
func longer(record []byte) []byte {
	b := append(bytes.Clone(record), 0)
	b[3], b[4] = byte((len(b)-5)>>8), byte(len(b)-5)
	return b
}

// withExtension appends an extension to a ClientHello in one record.
func withExtension(record, ext []byte) []byte {
	b := bytes.Clone(record)
	at := 5 + 4 + 2 + 32
	at += 1 + int(b[at])
	at += 2 + int(b[at])<<8 + int(b[at+1])
	at += 1 + int(b[at])
	b = append(b, ext...)
	for _, f := range []struct{ at, size int }{{at, len(b) - at - 2}, {3, len(b) - 5}, {7, len(b) - 9}} {
		b[f.at], b[f.at+1] = byte(f.size>>8), byte(f.size)
	}
	return b
}

// recorder is a web server that remembers the hosts that it was asked for.
type recorder struct {
	mu   sync.Mutex
	seen []string
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	r.seen = append(r.seen, req.Host+req.URL.Path+string(body))
	r.mu.Unlock()
	_, _ = io.WriteString(w, "from "+req.Host)
}

func (r *recorder) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.seen...)
}

func TestPlainRequestsAreJudgedOneByOne(t *testing.T) {
	t.Parallel()
	w, s := newWorld(), &recorder{}
	w.plain(t, s, "a.example", "b.example")
	c := w.allowed(t, "a.example")
	auth := c.auth()

	// The URL counts, and Host is made from it.
	r := c.raw(t).send("GET http://a.example/1 HTTP/1.1\r\nHost: b.example\r\n" + auth + "\r\n")
	if code, body := r.answer("GET"); code != 200 || body != "from a.example" {
		t.Errorf("%d %q", code, body)
	}
	// A second request on the connection, to a host that is not allowed; with and without waiting.
	r.send("GET http://b.example/2 HTTP/1.1\r\nHost: a.example\r\n" + auth + "\r\n")
	if code, body := r.answer("GET"); code != 403 || !strings.Contains(body, "b.example:80") {
		t.Errorf("%d %q", code, body)
	}
	r = c.raw(t).send("GET http://a.example/3 HTTP/1.1\r\nHost: a.example\r\n" + auth + "\r\nGET http://b.example/4 HTTP/1.1\r\nHost: a.example\r\n" + auth + "\r\n")
	if code, _ := r.answer("GET"); code != 200 {
		t.Errorf("%d", code)
	}
	if code, _ := r.answer("GET"); code != 403 {
		t.Errorf("%d", code)
	}
	// Each request needs the token.
	r = c.raw(t).send("GET http://a.example/5 HTTP/1.1\r\nHost: a.example\r\n" + auth + "\r\nGET http://a.example/6 HTTP/1.1\r\nHost: a.example\r\n\r\n")
	r.answer("GET")
	if code, _ := r.answer("GET"); code != 407 {
		t.Errorf("%d", code)
	}
	// In a tunnel to port 80 each request must be for its host.
	r, code, _ := c.tunnel(t, "a.example:80")
	if code != 200 {
		t.Fatal(code)
	}
	r.send("GET /7 HTTP/1.1\r\nHost: a.example\r\n\r\n")
	if code, body := r.answer("GET"); code != 200 || body != "from a.example" {
		t.Errorf("%d %q", code, body)
	}
	r.send("GET /8 HTTP/1.1\r\nHost: b.example\r\n\r\n")
	if code, body := r.answer("GET"); code != 403 || !strings.Contains(body, "b.example") {
		t.Errorf("%d %q", code, body)
	}
	for _, request := range []string{
		"GET http://b.example/9 HTTP/1.1\r\nHost: a.example\r\n\r\n", "GET http://a.example/9 HTTP/1.1\r\nHost: a.example\r\n\r\n", "CONNECT b.example:443 HTTP/1.1\r\nHost: b.example:443\r\n\r\n",
		"GET /9 HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n", "GET /9 HTTP/1.0\r\n\r\n", "GET /9 HTTP/1.1\r\nHost: a.example:8080\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"SSH-2.0-x\r\n\r\n", string(clientHello(t, "a.example")),
	} {
		r, _, _ := c.tunnel(t, "a.example:80")
		if code, _ := r.send(request).answer("GET"); code == 200 {
			t.Errorf("%q is passed on", request)
		}
	}
	want := []string{"a.example/1", "a.example/3", "a.example/5", "a.example/7"}
	if got := s.list(); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRequestsWithTwoReadingsAreNotPassedOn(t *testing.T) {
	t.Parallel()
	w, s := newWorld(), &recorder{}
	w.plain(t, s, "a.example", "b.example")
	c := w.allowed(t, "a.example")
	inner := "GET http://b.example/inner HTTP/1.1\r\nHost: b.example\r\n\r\n"
	for _, head := range []string{
		"Content-Length: 5\r\nContent-Length: 60\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "Transfer-Encoding: xchunked\r\n",
		"Transfer-Encoding: chunked, identity\r\n", "Content-Length: +5\r\n", "Content-Length: 0x5\r\n", "X : 1\r\nContent-Length: 5\r\n", "X: a\x00b\r\n", "X: a\rGET / HTTP/1.1\r\n",
		" folded: 1\r\n", "Transfer-Encoding\r\n: chunked\r\n", "Transfer-Encoding: \x0bchunked\r\n",
	} {
		r := c.raw(t).send("POST http://a.example/x HTTP/1.1\r\nHost: a.example\r\n" + c.auth() + head + "\r\n0\r\n\r\n" + inner)
		if code, body := r.answer("POST"); code == 200 {
			t.Errorf("%q: %q", head, body)
		}
	}
	// Both lengths: the chunks count, and the server gets one reading only.
	r := c.raw(t).send("POST http://a.example/both HTTP/1.1\r\nHost: a.example\r\n" + c.auth() + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner)
	r.answer("POST")
	r.answer("GET")
	for _, line := range []string{
		"GET http://a.example@b.example/ HTTP/1.1", "GET http://b.example\\@a.example/ HTTP/1.1", "GET http://a.example:80:443/ HTTP/1.1", "GET https://a.example/ HTTP/1.1", "GET ftp://a.example/ HTTP/1.1",
		"GET //b.example/ HTTP/1.1", "GET / HTTP/1.1", "GET http:a.example HTTP/1.1", "GET http:///a.example HTTP/1.1", "GET http://a.example%2eb.example/ HTTP/1.1", "GET http://a.exam\tple/ HTTP/1.1",
		"CONNECT a.example:80@b.example:443 HTTP/1.1", "CONNECT http://a.example:443 HTTP/1.1", "CONNECT a.example HTTP/1.1", "CONNECT /a.example:443 HTTP/1.1", "CONNECT a.example:0 HTTP/1.1",
		"CONNECT a.example:99999 HTTP/1.1", "CONNECT a.example:443:443 HTTP/1.1", "CONNECT a.example:443 b HTTP/1.1", "CONNECT a\x00.example:443 HTTP/1.1", "OPTIONS * HTTP/1.1",
	} {
		method, _, _ := strings.Cut(line, " ")
		r := c.raw(t).send(line + "\r\nHost: a.example\r\n" + c.auth() + "\r\n")
		if code, body := r.answer(method); code == 200 {
			t.Errorf("%q: %d %q", line, code, body)
		}
	}
	for _, head := range []string{"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"} {
		r := c.raw(t).send("CONNECT a.example:80 HTTP/1.1\r\nHost: a.example\r\n" + c.auth() + head + "\r\n0\r\n\r\n")
		if code, _ := r.answer("CONNECT"); code != 403 {
			t.Errorf("CONNECT with a body: %d", code)
		}
	}
	for _, got := range s.list() {
		if got != "a.example/both" {
			t.Errorf("the server was asked for %s", got)
		}
	}
}

func TestAServerCannotSwitchTheProtocol(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"", "Connection: Upgrade\r\nUpgrade: websocket\r\n"} {
		w, s := newWorld(), &sink{}
		w.listen(t, "80", func(c net.Conn) {
			request := make([]byte, 4096)
			n, _ := c.Read(request)
			if bytes.Contains(bytes.ToLower(request[:n]), []byte("upgrade")) {
				t.Errorf("the server is asked to: %s", request[:n])
			}
			_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\n"+header+"\r\n")
			s.serve(c)
		}, "a.example")
		c := w.allowed(t, "a.example")
		r := c.raw(t).send("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" + c.auth() + "\r\n")
		if code, _ := r.answer("GET"); code != 502 {
			t.Errorf("%q: %d", header, code)
		}
		if s.size() != 0 {
			t.Error("bytes were passed on")
		}
	}
}

func TestRedirectsAreTheClientsBusiness(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.plain(t, http.RedirectHandler("http://b.example/", http.StatusFound), "a.example")
	c := w.allowed(t, "a.example")
	code, body, err := fetch(c.client(t, nil), "http://a.example/")
	if err != nil || code != 403 || !strings.Contains(body, "b.example:80") {
		t.Errorf("%d %q %v", code, body, err)
	}
}

func TestSocksOffersOnlyConnect(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := w.allowed(t, "a.example")
	for text, want := range map[string]byte{
		"\x05\x02\x00\x03\x09a.example\x01\xbb": 7, "\x05\x03\x00\x03\x09a.example\x01\xbb": 7, "\x05\x01\x00\x02aaaa": 8,
		"\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50": 2, "\x05\x01\x00\x03\x09b.example\x01\xbb": 2, "\x05\x01\x00\x03\x09a.example\x00\x00": 2,
		"\x05\x01\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xa9\xfe\xa9\xfe\x00\x50": 2, "\x05\x01\x00\x03\x09a.example\x01\xbb": 4,
		"\x05\x01\x07\x03\x09a.example\x01\xbb": 1,
	} {
		r := c.raw(t).send("\x05\x02\x00\x02")
		head := make([]byte, 2)
		_, _ = io.ReadFull(r, head)
		r.send("\x01\x01u" + string(rune(len(c.token()))) + c.token())
		_, _ = io.ReadFull(r, head)
		r.send(text)
		reply := make([]byte, 10)
		if n, err := io.ReadFull(r, reply); err != nil || reply[1] != want {
			t.Errorf("%q: %d bytes, %v, reply %d, want %d", text, n, err, reply[1], want)
		}
	}
	for _, text := range []string{"\x04\x01\x00\x50\x7f\x00\x00\x01x\x00", "\x16\x03\x01\x00\x05hello", "\x00", "get http://a.example/ HTTP/1.1\r\n\r\n"} {
		r := c.raw(t).send(text)
		if got, _ := io.ReadAll(r); len(got) != 0 {
			t.Errorf("%q was answered with %q", text, got)
		}
	}
}

// TestAClientThatClosesAtOnceIsNotRefused: it changed its mind, and the user would be told
// of a host that the command could reach.
func TestAClientThatClosesAtOnceIsNotRefused(t *testing.T) {
	t.Parallel()
	w, s := newWorld(), &sink{}
	w.listen(t, "443", s.serve, "a.example")
	c := w.allowed(t, "a.example")
	r, code, body := c.tunnel(t, "a.example:443")
	if code != 200 {
		t.Fatal(code, body)
	}
	if err := r.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
	if f := c.Refused(time.Time{}); len(f) > 0 || s.size() != 0 {
		t.Errorf("refused %+v, the server got %d bytes", f, s.size())
	}
}

func TestBytesSentWithTheRequestBelongToTheTunnel(t *testing.T) {
	t.Parallel()
	w, s := newWorld(), &sink{}
	w.listen(t, "443", s.serve, "a.example")
	c := w.allowed(t, "a.example")
	hello := clientHello(t, "a.example")
	request := "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n" + c.auth() + "\r\n"
	for _, cut := range []int{0, 1, 5, len(hello)} {
		r := c.raw(t).send(request + string(hello[:cut]))
		if code, body := r.answer("CONNECT"); code != 200 {
			t.Fatal(code, body)
		}
		r.send(string(hello[cut:]))
		if _, err := io.ReadFull(r, make([]byte, 2)); err != nil {
			t.Errorf("cut at %d: %v", cut, err)
		}
		_ = r.Conn.(*net.TCPConn).CloseWrite()
		_, _ = io.ReadAll(r) // ends after the server has read all
	}
	r := c.raw(t).send(request + string(clientHello(t, "b.example")))
	r.answer("CONNECT")
	_, _ = io.ReadAll(r)
	if f := c.lastRefusal(t); !strings.Contains(f.Why, "b.example") {
		t.Errorf("%+v", f)
	}
	if want := 4 * len(hello); s.size() != want {
		t.Errorf("the server got %d bytes, want %d", s.size(), want)
	}
}

func TestAPathIsPassedOnAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.plain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RequestURI) }), "a.example")
	c := w.allowed(t, "a.example")
	for _, path := range []string{"/", "/a%2Fb//c;x?a;b=%zz&%", "//b.example/", "/?", "/a?b=c&b=d+e"} {
		r := c.raw(t).send("GET http://a.example" + path + " HTTP/1.1\r\nHost: a.example\r\n" + c.auth() + "\r\n")
		if code, body := r.answer("GET"); code != 200 || body != path {
			t.Errorf("%s: %d %q", path, code, body)
		}
	}
}

func TestBeforeTheNameIsKnownNothingIsPassed(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.listen(t, "443", func(c net.Conn) { _, _ = io.WriteString(c, "banner"); _, _ = io.Copy(io.Discard, c) }, "a.example")
	config := w.config()
	config.Limits.Handshake = 300 * time.Millisecond
	c := start(t, config, egress.SessionConfig{Allow: rules(t, "a.example")})
	r, _, _ := c.tunnel(t, "a.example:443")
	if got, _ := io.ReadAll(r); len(got) != 0 {
		t.Errorf("a silent client got %q", got)
	}
	r, _, _ = c.tunnel(t, "a.example:443")
	conn := tls.Client(r, &tls.Config{ServerName: "b.example"})
	if err := conn.Handshake(); err == nil || !strings.Contains(err.Error(), "unrecognized name") {
		t.Errorf("the client sees %v", err)
	}
}
