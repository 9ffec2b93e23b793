package swap

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func FuzzHeader(f *testing.F) {
	code := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, seed := range []string{"", "$", "Bearer $", "Basic " + code("me:"+fakeKey), "basic " + code(fakeKey+":"), "Basic $", "Basic ====", "a,$;$", "Basic " + code(fakeKey) + "$"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		value = strings.ReplaceAll(value, "$", fakeKey)
		got := put(value, fakeKey, realKey)
		switch {
		case !holds(value, fakeKey) && got != value:
			t.Fatalf("%q has no placeholder and became %q", value, got)
		case holds(value, fakeKey) && !holds(got, realKey):
			t.Fatalf("%q became %q", value, got)
		case !strings.ContainsAny(value, "\r\n") && strings.ContainsAny(got, "\r\n"):
			t.Fatalf("%q became %q, which breaks its line", value, got)
		}
		// Back again: but for the spelling of Basic, nothing else may have changed.
		if _, pair, ok := basic(value); ok && strings.Contains(pair, fakeKey) {
			if _, again, _ := basic(put(got, realKey, fakeKey)); again != pair && !strings.Contains(pair, realKey) {
				t.Fatalf("%q became %q", pair, again)
			}
		} else if again := put(got, realKey, fakeKey); again != value && !holds(value, realKey) {
			t.Fatalf("%q became %q and then %q", value, got, again)
		}
	})
}

// FuzzRequest looks for a request line by which the value goes where it is not declared: to a
// path that a server may read as one outside of /allowed/.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{"/allowed/x", "/allowed/../x", "/allowed/%2e%2e/x", "/allowed/%252e%252e/x", "/allowed//x", `/allowed/..\x`, "/allowed/x?key=$", "/allowed/%2f..%2f", "/allowed/..;a/x", "/allowed/%", "//allowed/x"} {
		f.Add(seed)
	}
	s := &secret{name: "T", value: realKey, placeholder: fakeKey, methods: []string{"GET"}, paths: []string{"/allowed/"},
		headers: []string{"Authorization"}, query: []string{"key"}, hosts: []hostRule{{name: "a.test", port: 443}}}
	tunnel := &tunnel{swap: &Swap{secrets: []*secret{s}, values: newPatterns(formsOf(realKey, fakeKey))}, host: "a.test", port: 443}
	f.Fuzz(func(t *testing.T, line string) {
		u, err := url.ParseRequestURI(strings.ReplaceAll(line, "$", fakeKey))
		if err != nil {
			return
		}
		r := &http.Request{Method: "GET", URL: u, Host: "a.test", Header: http.Header{"Authorization": {fakeKey}}}
		if tunnel.check(r) != nil {
			return
		}
		out := tunnel.outgoing(r)
		used, d := tunnel.swapIn(out)
		if (len(used) > 0) == (d != nil) {
			t.Fatalf("%q: used %v, %v", line, used, d)
		}
		if d != nil {
			if strings.Contains(out.Header.Get("Authorization")+out.URL.String()+d.text, realKey) {
				t.Fatalf("%q is refused and holds the value", line)
			}
			return
		}
		sent := out.URL.EscapedPath()
		for range 5 {
			clean := strings.ReplaceAll(sent, `\`, "/")
			depth := 0
			for i, part := range strings.Split(clean, "/")[1:] {
				part, _, _ = strings.Cut(part, ";")
				if part == ".." {
					depth--
				} else if part != "." {
					depth++
				}
				if depth <= 0 || i == 0 && part != "allowed" {
					t.Fatalf("%q: a server may read %q", line, sent)
				}
			}
			next, err := url.PathUnescape(sent)
			if err != nil {
				break
			}
			sent = next
		}
		if strings.Contains(out.URL.EscapedPath(), realKey) {
			t.Fatalf("%q: the value is in the path", line)
		}
	})
}
