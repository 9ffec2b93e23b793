package swap_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"hermes/internal/egress/swap"

	"github.com/google/go-cmp/cmp"
)

func TestPlaceholderBecomesTheValue(t *testing.T) {
	t.Parallel()
	host := &log{}
	secret := token()
	secret.Headers = []string{"Authorization", "x-api-key", "cookie"}
	secret.Query = []string{"key"}
	l := newLab(t, options{secrets: []swap.Secret{secret}, hosts: map[string]http.Handler{api: host}})
	p := l.placeholder()
	code := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	raw := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	for _, c := range []struct{ name, sent, want string }{
		{"Authorization", "Bearer " + p, "Bearer " + canary},
		{"Authorization", "bearer  " + p, "bearer  " + canary},
		{"Authorization", "token " + p, "token " + canary},
		{"Authorization", "PRIVATE-TOKEN token=\"" + p + "\"", "PRIVATE-TOKEN token=\"" + canary + "\""},
		{"Authorization", p, canary},
		{"Authorization", "Basic " + code("me:"+p), "Basic " + code("me:"+canary)},
		{"Authorization", "basic " + raw("~~~:"+p), "basic " + code("~~~:"+canary)},
		{"Authorization", "Basic " + code(p+":x-oauth-basic"), "Basic " + code(canary+":x-oauth-basic")},
		{"Authorization", "Basic " + code("me:other"), "Basic " + code("me:other")},
		{"Authorization", "Basic !!!", "Basic !!!"},
		{"X-API-Key", p, canary},
		{"Cookie", "a=b; session=" + p, "a=b; session=" + canary},
	} {
		for _, http2 := range []bool{true, false} {
			got := l.doWith(l.client(http2), l.request("GET", "/x", "", c.name, c.sent))
			if sent := host.last().header.Get(c.name); got.status != 200 || sent != c.want {
				t.Errorf("%s: %s: the host got %q, status %d, %s", c.name, c.sent, sent, got.status, got.body)
			}
		}
	}
	l.do(l.request("GET", "/x?a=%7e&key="+p+"&b", ""))
	if got, want := host.last().uri, "/x?a=%7e&key="+canary+"&b"; got != want {
		t.Errorf("the query is %q, want %q", got, want)
	}
}

func TestRequestIsNotChangedOtherwise(t *testing.T) {
	t.Parallel()
	host := &log{answer: func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"], w.Header()["Content-Type"] = nil, nil
		w.WriteHeader(299)
	}}
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}})
	got := l.send(api, "PUT /a%2Fb//c;d?x=%zz&y HTTP/1.1\nHost: "+api+"\nX-One: 1\nX-One: 2\nContent-Length: 2\nConnection: close, X-Hop\nX-Hop: 1\nProxy-Authorization: Basic abc\n\nhi")
	if want := "HTTP/1.1 299 status code 299\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"; got != want {
		t.Errorf("reply %q", got)
	}
	want := seen{
		method: "PUT", host: api, uri: "/a%2Fb//c;d?x=%zz&y", body: "hi", proto: "HTTP/2.0",
		header: http.Header{"X-One": {"1", "2"}, "Content-Length": {"2"}, "Accept-Encoding": {"identity"}},
	}
	if diff := cmp.Diff(want, host.last(), cmp.AllowUnexported(seen{})); diff != "" {
		t.Error(diff)
	}
	l.send(api, "OPTIONS * HTTP/1.1\nHost: "+api+"\nConnection: close\n\n")
	if got := host.last(); got.method != "OPTIONS" || got.uri != "*" {
		t.Errorf("the host got %s %s", got.method, got.uri)
	}
}

func TestValueGoesOnlyWhereItIsDeclared(t *testing.T) {
	t.Parallel()
	secret := token()
	secret.Methods, secret.Paths = []string{"get", "POST"}, []string{"/repos/me", "/users/*/keys"}
	other := swap.Secret{Name: "OTHER", Value: "0123456789abcdef0123456789abcdef", Hosts: []string{"other.example.test"}, Methods: []string{"*"}, Paths: []string{"/"}}
	host := &log{}
	l := newLab(t, options{secrets: []swap.Secret{secret, other}, hosts: map[string]http.Handler{api: host}})
	p := l.placeholder()
	auth := func(method, path string, more ...string) *http.Request {
		return l.request(method, path, "", append([]string{"Authorization", "Bearer " + p}, more...)...)
	}
	for _, c := range []struct {
		name    string
		request *http.Request
		want    string // in the text; empty: allowed
	}{
		{"path", auth("GET", "/repos/me"), ""},
		{"below", auth("POST", "/repos/me/x/y"), ""},
		{"head as get", auth("HEAD", "/repos/me"), ""},
		{"glob", auth("GET", "/users/a/keys"), ""},
		{"other method", auth("DELETE", "/repos/me"), "this is DELETE"},
		{"longer name", auth("GET", "/repos/men"), "this is the path"},
		{"glob across segments", auth("GET", "/users/a/b/keys"), "this is the path"},
		{"longer than glob", auth("GET", "/users/a/keys/1"), "this is the path"},
		{"other header", l.request("GET", "/repos/me", "", "X-Debug", p), "in the header X-Debug"},
		{"cookie", l.request("GET", "/repos/me", "", "Cookie", "a="+p), "in the header Cookie"},
		{"query", l.request("GET", "/repos/me?key="+p, ""), "in the query"},
		{"path holds it", l.request("GET", "/repos/me/bot"+p, ""), "in the path"},
		{"secret of another host", l.request("GET", "/repos/me", "", "Authorization", "Bearer "+l.variable("OTHER")), "this is " + api},
		{"sigv4", l.request("GET", "/repos/me", "", "Authorization", "AWS4-HMAC-SHA256 Credential="+p+"/20260101/eu/s3/aws4_request, SignedHeaders=host, Signature=00"), "signs the request"},
		{"method by header", auth("POST", "/repos/me", "X-HTTP-Method-Override", "DELETE"), "another method"},
		{"same method by header", auth("POST", "/repos/me", "X-HTTP-Method-Override", "GET"), ""},
		{"method by parameter", auth("POST", "/repos/me?_method=delete"), "_method"},
		{"method by header with another sign", auth("POST", "/repos/me", "x_http_method_override", "DELETE"), "another method"},
		{"method by header with dots", auth("POST", "/repos/me", "X.HTTP.Method", "DELETE"), "another method"},
		{"method after a semicolon", auth("POST", "/repos/me?a;_method=delete"), "_method"},
		{"method in a list", auth("POST", "/repos/me?_method[]=delete"), "_method"},
		{"method in capitals", auth("POST", "/repos/me?_Method=delete"), "_method"},
		{"method as PHP reads it", auth("POST", "/repos/me?+.method=delete"), "_method"},
		{"method behind a percent sign", auth("POST", "/repos/me?_m%65thod%5B=delete"), "_method"},
		{"path by header with another sign", auth("GET", "/repos/me", "x_original_url", "/admin"), "X_original_url"},
		{"path by header", auth("GET", "/repos/me", "X-Original-URL", "/admin"), "X-Original-Url"},
		{"no placeholder", l.request("DELETE", "/anything", "", "X-Original-URL", "/admin"), ""},
	} {
		before := len(host.all())
		got := l.do(c.request)
		reached := len(host.all()) > before
		if c.want == "" {
			if got.status != 200 || !reached {
				t.Errorf("%s: %d %s", c.name, got.status, got.body)
			}
			continue
		}
		if got.status != 403 || reached || !strings.Contains(got.body, c.want) || !strings.Contains(got.body, "is declared for") {
			t.Errorf("%s: reached %v, %d %s", c.name, reached, got.status, got.body)
		}
		if !strings.Contains(l.refused(), c.want) {
			t.Errorf("%s: not recorded", c.name)
		}
	}
}

func TestTaintedTurnAsksBeforeWrites(t *testing.T) {
	t.Parallel()
	host := &log{}
	var asked []swap.Request
	ask := func(_ context.Context, r swap.Request) error {
		asked = append(asked, r)
		return errors.New("the user said no")
	}
	l := newLab(t, options{secrets: []swap.Secret{token()}, hosts: map[string]http.Handler{api: host}, config: swap.Config{MayWrite: ask}})
	auth := []string{"Authorization", "Bearer " + l.placeholder()}
	for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
		if got := l.do(l.request(method, "/x", "", auth...)); got.status != 200 {
			t.Errorf("%s: %d", method, got.status)
		}
	}
	if got := l.do(l.request("POST", "/x", "without a value")); got.status != 200 || len(asked) > 0 {
		t.Errorf("%d, asked %v", got.status, asked)
	}
	for _, r := range []*http.Request{
		l.request("POST", "/x?q", "", auth...),
		l.request("get", "/x", "", auth...),
		l.request("GET", "/x", "", append(auth, "X-Http-Method-Override", "DELETE")...),
		l.request("GET", "/x", "", append(auth, "x_http_method_override", "DELETE")...),
		l.request("GET", "/x?_method=put", "", auth...),
		l.request("GET", "/x?a;_Method[]=put", "", auth...),
	} {
		asked = nil
		before := len(host.all())
		got := l.do(r)
		if got.status != 403 || !strings.Contains(got.body, "the user said no") || len(host.all()) != before || len(asked) != 1 {
			t.Errorf("%s %s: %d %s, asked %v", r.Method, r.URL, got.status, got.body, asked)
		}
	}
	want := swap.Request{Host: api, Port: 443, Method: "GET", Path: "/x", Secrets: []string{"TOKEN"}}
	if diff := cmp.Diff([]swap.Request{want}, asked); diff != "" {
		t.Error(diff)
	}
}

func TestHandlesDeclaredHostsOnly(t *testing.T) {
	t.Parallel()
	secret := token()
	secret.Hosts = []string{"A.example.test.", "*.wild.example.test", "b.example.test:8443"}
	l := newLab(t, options{secrets: []swap.Secret{secret}})
	for _, c := range []struct {
		host string
		port uint16
		want bool
	}{
		{"a.example.test", 443, true}, {"a.example.test", 22, false}, {"xa.example.test", 443, false},
		{"wild.example.test", 443, false}, {"x.wild.example.test", 443, true}, {"x.y.wild.example.test", 443, true},
		{"xwild.example.test", 443, false}, {"b.example.test", 443, false}, {"b.example.test", 8443, true},
		{"a.example.test.evil.test", 443, false}, {"", 443, false},
	} {
		if got := l.swap.Handles(c.host, c.port); got != c.want {
			t.Errorf("%s:%d: %v", c.host, c.port, got)
		}
	}
}

func TestDeclarationsAreChecked(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*swap.Secret){
		"no name":              func(s *swap.Secret) { s.Name = "" },
		"name with =":          func(s *swap.Secret) { s.Name = "A=B" },
		"short":                func(s *swap.Secret) { s.Value = "abc4567" },
		"line break":           func(s *swap.Secret) { s.Value = "abcdefgh\nX: y" },
		"space":                func(s *swap.Secret) { s.Value = "abcdefgh " },
		"no letters":           func(s *swap.Secret) { s.Value = "!!!!!!!!!!!!" },
		"no host":              func(s *swap.Secret) { s.Hosts = nil },
		"every host":           func(s *swap.Secret) { s.Hosts = []string{"*"} },
		"wide wildcard":        func(s *swap.Secret) { s.Hosts = []string{"*.com"} },
		"wildcard inside":      func(s *swap.Secret) { s.Hosts = []string{"a.*.com"} },
		"address":              func(s *swap.Secret) { s.Hosts = []string{"127.0.0.1"} },
		"address of 6":         func(s *swap.Secret) { s.Hosts = []string{"[::1]:443"} },
		"port":                 func(s *swap.Secret) { s.Hosts = []string{"a.test:0"} },
		"other letters":        func(s *swap.Secret) { s.Hosts = []string{"bücher.test"} },
		"URL":                  func(s *swap.Secret) { s.Hosts = []string{"https://a.test"} },
		"no method":            func(s *swap.Secret) { s.Methods = nil },
		"no path":              func(s *swap.Secret) { s.Paths = nil },
		"relative path":        func(s *swap.Secret) { s.Paths = []string{"x"} },
		"placeholder is it":    func(s *swap.Secret) { s.Placeholder = canary },
		"another shape":        func(s *swap.Secret) { s.Placeholder = "xxx" },
		"separators elsewhere": func(s *swap.Secret) { s.Placeholder = strings.Replace(canary, "C4", "-4", 1) },
	} {
		s := token()
		change(&s)
		_, err := swap.New(swap.Config{Secrets: []swap.Secret{s}})
		if err == nil {
			t.Errorf("%s is taken", name)
			continue
		}
		if strings.Contains(err.Error(), s.Value.Reveal()) {
			t.Errorf("%s: the error shows the value: %v", name, err)
		}
	}
	if _, err := swap.New(swap.Config{Secrets: []swap.Secret{token(), token()}}); err == nil {
		t.Error("two of one name are taken")
	}
}

func TestPlaceholderHasTheShapeOfTheValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, prefix, alphabet string }{
		{"ghp_" + strings.Repeat("aB3", 12), "ghp_", ""},
		{"github_pat_11AAAA_" + strings.Repeat("aB3", 12), "github_pat_", ""},
		{"sk-ant-api03-" + strings.Repeat("aB3-", 12), "sk-ant-api03-", ""},
		{"0123456789012345", "", "0123456789"},
		{strings.Repeat("deadbeef01", 4), "", "0123456789abcdef"},
		{"2f1b1c1a-0000-4000-8000-0123456789ab", "", "0123456789abcdef-"},
		{"sk-short1", "", ""},
		{"pass w/ö&\"rd123", "", ""},
	} {
		s := token()
		s.Value = hermesSecret(c.value)
		made, err := swap.New(swap.Config{Secrets: []swap.Secret{s}})
		if err != nil {
			t.Error(err)
			continue
		}
		again, err := swap.New(swap.Config{Secrets: []swap.Secret{s}})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.TrimPrefix(made.Placeholders()[0], "TOKEN=")
		switch {
		case len(got) != len(c.value), got == c.value, !strings.HasPrefix(got, c.prefix):
			t.Errorf("%q for %q", got, c.value)
		case c.alphabet != "" && strings.Trim(got, c.alphabet) != "":
			t.Errorf("%q is not made of %s", got, c.alphabet)
		case cmp.Equal(made.Placeholders(), again.Placeholders()):
			t.Errorf("%q is not random", got)
		}
	}
}

func TestNoSecretNoVariables(t *testing.T) {
	t.Parallel()
	s, err := swap.New(swap.Config{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env, err := s.Environ(dir)
	files, _ := os.ReadDir(dir)
	if len(env)+len(files)+len(s.Placeholders()) > 0 || err != nil || s.Handles(api, 443) {
		t.Errorf("%v %v %v", env, files, err)
	}
	client, server := pipe(t)
	defer client.Close()
	if err := s.Serve(t.Context(), server, api, 443, nil); err == nil {
		t.Error("it serves without a declaration")
	}
}

func TestNothingThatAChildGetsHoldsTheValueOrTheKey(t *testing.T) {
	t.Parallel()
	l := newLab(t, options{secrets: []swap.Secret{token()}, config: swap.Config{Java: true}})
	all := strings.Join(append(l.env, l.swap.Placeholders()...), "\n")
	files, err := os.ReadDir(l.dir)
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		content, err := os.ReadFile(l.dir + "/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		all += string(content)
		if info, _ := f.Info(); info.Mode().Perm() != 0o644 {
			t.Errorf("%s has the mode %v", f.Name(), info.Mode())
		}
	}
	if strings.Contains(all, "PRIVATE KEY") {
		t.Error("a key is in a file")
	}
	l.hidden(all)
	l.hidden(fmt.Sprintf("%v %+v %#v", token(), token(), token()))
}
