package egress

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// FuzzTarget reads what a process may write as a host and port. What is accepted has one form.
func FuzzTarget(f *testing.F) {
	for _, s := range []string{"example.org:443", "Example.ORG.:80", "[::1]:443", "[::ffff:127.0.0.1]:1", "0x7f.1:443", "a@b:443", "[fe80::1%eth0]:1", "a:b:c", "a\x00:1", "bücher.example:443", "xn--bcher-kva.example:443", "127.1:65536"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := readTarget(text, 0)
		if err != nil {
			return
		}
		if a, err := netip.ParseAddr(got.host); err == nil && (a.Zone() != "" || a.Is4In6()) || strings.ToLower(got.host) != got.host || got.port == 0 {
			t.Errorf("%q became %+v", text, got)
		}
		for i := range len(got.host) {
			if c := got.host[i]; c <= ' ' || c > '~' || strings.IndexByte("@/\\?#%\"", c) >= 0 {
				t.Errorf("%q became %q", text, got.host)
			}
		}
		if again, err := readTarget(got.String(), 0); err != nil || again != got {
			t.Errorf("%q became %+v, and that %+v, %v", text, got, again, err)
		}
	})
}

// FuzzHello reads bytes as the first message of TLS; the same message in other records is the
// same.
func FuzzHello(f *testing.F) {
	hello := []byte("\x16\x03\x01\x00\x42\x01\x00\x00\x3e\x03\x03" + strings.Repeat("r", 32) + "\x00\x00\x02\x13\x01\x01\x00\x00\x13\x00\x00\x00\x0f\x00\x0d\x00\x00\x0aexample.or")
	f.Add(hello)
	f.Add(hello[:20])
	f.Add([]byte("\x16\x03\x01\x00\x01\x01\x16\x03\x01\x00\x01\x00"))
	f.Add([]byte("GET / HTTP/1.1\r\n"))
	f.Add([]byte("\x16\x03\x01\x40\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := readHello(from(data))
		if err != nil {
			return
		}
		var message []byte
		for at := 0; at+5 <= len(data); {
			n := int(data[at+3])<<8 | int(data[at+4])
			message = append(message, data[at+5:min(len(data), at+5+n)]...)
			if at += 5 + n; len(message) >= 4 && len(message) >= 4+int(message[1])<<16+int(message[2])<<8+int(message[3]) {
				break
			}
		}
		if len(message) == 0 || len(message) > maxHello-5 {
			return
		}
		one := append([]byte{22, 3, 1, byte(len(message) >> 8), byte(len(message))}, message...)
		if again, err := readHello(from(one)); err != nil || again != first {
			t.Errorf("%+v in one record is %+v, %v", first, again, err)
		}
	})
}

// from peeks into bytes and ends after them.
func from(data []byte) func(int) ([]byte, error) {
	return func(n int) ([]byte, error) {
		if n > maxHello {
			panic("more was asked for than is allowed")
		}
		if n > len(data) {
			return nil, io.ErrUnexpectedEOF
		}
		return data[:n], nil
	}
}

// FuzzSocks does the handshake with bytes of a client. Nothing is accepted without the token.
func FuzzSocks(f *testing.F) {
	f.Add([]byte("\x05\x01\x02\x01\x01u\x05token\x05\x01\x00\x03\x09a.example\x01\xbb"))
	f.Add([]byte("\x05\x02\x00\x02\x01\x00\x05token\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50"))
	f.Add([]byte("\x05\x01\x00"))
	f.Add([]byte("\x05\x01\x02\x01\x01u\x05wrong"))
	f.Add([]byte("\x05\x01\x02\x01\x00\x05token\x05\x02\x00\x04aaaaaaaaaaaaaaaa\x00\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var replies bytes.Buffer
		known := false
		got, err := readSocks(struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(data), &replies}, func(s string) bool { known = known || s == "token"; return s == "token" })
		if replies.Len() > 4 {
			t.Errorf("%d bytes of replies", replies.Len())
		}
		if err == nil && (!known || got.host == "" || got.port == 0) {
			t.Errorf("%q: %+v", data, got)
		}
	})
}

// FuzzRequest reads a request as the proxy does, up to the target. Of what the request line
// names, only the host is left.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{"CONNECT a.example:443 HTTP/1.1\r\nHost: b\r\n\r\n", "GET http://a.example/x HTTP/1.1\r\nHost: b\r\n\r\n", "GET http://u@a.example/ HTTP/1.1\r\n\r\n",
		"CONNECT a@b:443 HTTP/1.1\r\n\r\n", "GET http://[::1]:80/ HTTP/1.1\r\n\r\n", "CONNECT [::ffff:1.2.3.4]:443 HTTP/1.1\r\n\r\n", "GET http://a%62/ HTTP/1.1\r\n\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data)))
		if err != nil {
			return
		}
		text, port := r.RequestURI, uint16(0)
		if r.Method != http.MethodConnect {
			text, port = r.URL.Host, 80
		}
		got, err := readTarget(text, port)
		if err != nil {
			if line := plainLine(badTarget(text, err)); strings.ContainsAny(line, "\r\n") || len(line) > 450 {
				t.Errorf("status line %q", line)
			}
			return
		}
		if name, _, _ := strings.Cut(strings.ToLower(text), ":"); !strings.HasPrefix(text, "[") && strings.Trim(name, ".abcdefghijklmnopqrstuvwxyz-") == "" && strings.TrimSuffix(name, ".") != got.host && !strings.Contains(name, "xn--") {
			t.Errorf("%q became %q", text, got.host)
		}
		_ = password(r.Header.Get("Proxy-Authorization"))
	})
}
