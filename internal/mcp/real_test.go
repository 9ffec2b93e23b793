//go:build slow && unix

package mcp_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"html"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes"
	"hermes/internal/mcp"
	"hermes/internal/mcp/login"
	"hermes/internal/mcp/remote"
	"hermes/internal/mcp/setting"
	"hermes/internal/oauth"
)

// counterparts is the folder in which `.ci/slow mcp-client` installs the servers of others.
func counterparts(t *testing.T, file string) string {
	t.Helper()
	path := filepath.Join(os.Getenv("HERMES_SLOW_MCP_CLIENT"), file)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is missing; run .ci/slow mcp-client", path)
		}
		t.Skipf("%s is missing; .ci/slow mcp-client installs it", path)
	}
	return path
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// run starts a program that listens at a port, and waits until it does. It ends with the test,
// with all that it started.
func run(t *testing.T, port string, env []string, name string, args ...string) {
	t.Helper()
	var said bytes.Buffer
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), env...)
	c.Stdout, c.Stderr = &said, &said
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- c.Wait() }()
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // it may have ended
		<-over
		if t.Failed() {
			t.Log(said.String())
		}
	})
	late := time.After(2 * time.Minute)
	for {
		if conn, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second); err == nil {
			conn.Close()
			return
		}
		select {
		case err := <-over:
			over <- err
			t.Fatalf("%s %v ended: %v", name, args, err)
		case <-late:
			t.Fatalf("%s %v does not listen", name, args)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestServersInPython speaks both eras with a server on the SDK for Python, over HTTP.
func TestServersInPython(t *testing.T) {
	python := counterparts(t, "python/bin/python")
	for protocol, want := range map[string]string{"": "2026-07-28", setting.ProtocolLegacy: "2025-11-25"} {
		t.Run(want, func(t *testing.T) {
			port := freePort(t)
			run(t, port, nil, python, "testdata/real/tools.py", port)
			f := startHTTP(t, "http://127.0.0.1:"+port+"/mcp", func(s *setting.Server, c *mcp.Config) {
				s.Protocol = protocol
				c.Roots = func() []string { return []string{"/work place"} }
				c.Sample = func(context.Context, mcp.Sample) (mcp.Sampled, error) {
					return mcp.Sampled{Model: "m", Text: "hi"}, nil
				}
			})
			f.until(t, "connected", func() bool { return f.States()[0].Phase == mcp.Connected })
			if got := f.States()[0].Protocol; got != want {
				t.Errorf("the protocol is %s", got)
			}
			if err := f.add(t); err != nil {
				t.Error(err)
			}
			for _, row := range []struct {
				tool, want string
				host       *host
			}{
				{"ask", "age 7", &host{answers: []hermes.Answer{{Texts: []string{"7"}}}}}, {"roots", "work%20place", &host{}},
				{"sample", "hi", &host{approve: hermes.AllowOnce}}, {"grow", "grown", &host{}},
			} {
				if r, _, err := f.call(t.Context(), row.host, row.tool, `{}`, false); err != nil || r.Failed || !strings.Contains(r.Text, row.want) {
					t.Errorf("%s: %+v, %v", row.tool, r, err)
				}
			}
			f.until(t, "a new tool", func() bool { return strings.Contains(strings.Join(names(f.live()), " "), "extra") })
		})
	}
}

// visitor is a user with a browser that fills in the forms of logins.
type visitor struct{ t *testing.T }

func (v visitor) Confirm(ctx context.Context, d oauth.Device) { go v.follow(ctx, d.Full) }

func (v visitor) Visit(ctx context.Context, address string, _ bool, _ func(string) error) {
	go v.follow(ctx, address)
}

var (
	action = regexp.MustCompile(`<form[^>]*action="([^"]+)"`)
	hidden = regexp.MustCompile(`<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"`)
)

// follow opens an address, and sends each form that it gets, until a page has none.
func (v visitor) follow(ctx context.Context, address string) {
	jar, _ := cookiejar.New(nil)
	c := http.Client{Jar: jar}
	at, form := address, url.Values(nil)
	for range 10 {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
		if form != nil {
			req, _ = http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(form.Encode()))
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		resp, err := c.Do(req)
		if err != nil {
			return // the login times out, which the test shows
		}
		raw, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		page := string(raw)
		m := action.FindStringSubmatch(page)
		if m == nil {
			return
		}
		to, err := resp.Request.URL.Parse(html.UnescapeString(m[1]))
		if err != nil {
			v.t.Error(err)
			return
		}
		at, form = to.String(), url.Values{}
		for _, f := range hidden.FindAllStringSubmatch(page, -1) {
			form.Set(f[1], html.UnescapeString(f[2]))
		}
		if strings.Contains(page, `name="login"`) {
			form.Set("login", "ann")
			form.Set("password", "x")
		}
	}
}

// logsIn logs in at a server, calls a tool, calls it once more when the token has ended, and logs
// out.
func logsIn(t *testing.T, address string, client login.Client, device bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens", "test.json")
	link, err := remote.New(remote.Config{URL: address})
	if err != nil {
		t.Fatal(err)
	}
	c := login.Config{Server: "test", URL: address, Path: path, Link: link, Client: client}
	use := func(now func() time.Time) {
		t.Helper()
		c.Now = now
		f := startHTTP(t, address, func(_ *setting.Server, cfg *mcp.Config) {
			cfg.Client = func(setting.Server) (*http.Client, error) { return login.New(c).Through(link.Server), nil }
		})
		f.ready(t)
		if err := f.add(t); err != nil {
			t.Error(err)
		}
	}
	e, err := login.New(c).Enter(t.Context(), visitor{t: t}, device)
	if err != nil {
		t.Fatal(err)
	}
	if !e.Renewed {
		t.Error("the login cannot be renewed")
	}
	use(time.Now)
	before, _ := os.ReadFile(path)
	use(func() time.Time { return time.Now().Add(2 * time.Hour) })
	after, _ := os.ReadFile(path)
	if access(t, before) == access(t, after) {
		t.Error("the token was not renewed")
	}
	c.Now = time.Now
	if was, notified, err := login.New(c).Out(t.Context()); !was || notified != nil || err != nil {
		t.Errorf("logged out: %v, %v, %v", was, notified, err)
	}
}

func access(t *testing.T, raw []byte) string {
	t.Helper()
	var r struct {
		Access string `json:"access_token"`
	}
	if err := json.Unmarshal(raw, &r); err != nil || r.Access == "" {
		t.Fatal(err)
	}
	return r.Access
}

// TestLoginAtFastMCP has a server that is its own login service.
func TestLoginAtFastMCP(t *testing.T) {
	python := counterparts(t, "python/bin/python")
	port := freePort(t)
	run(t, port, nil, python, "testdata/real/own_login.py", port)
	logsIn(t, "http://127.0.0.1:"+port+"/mcp", login.Client{}, false)
}

// TestLoginAtASeparateService has a login page and consent of oidc-provider: by registration, by a
// client metadata document, and with a code.
func TestLoginAtASeparateService(t *testing.T) {
	python, node := counterparts(t, "python/bin/python"), counterparts(t, "node/node_modules/.bin/node")
	modules := counterparts(t, "node/node_modules/oidc-provider")
	document, authority := clientDocument(t)
	port, service := freePort(t), freePort(t)
	script := filepath.Join(filepath.Dir(filepath.Dir(modules)), "login.mjs") // node looks for modules beside it
	text, err := os.ReadFile("testdata/real/login.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, text, 0o600); err != nil {
		t.Fatal(err)
	}
	address := "http://127.0.0.1:" + port + "/mcp"
	run(t, service, []string{"NODE_EXTRA_CA_CERTS=" + authority}, node, script, service, address)
	run(t, port, nil, python, "testdata/real/other_login.py", port, "http://127.0.0.1:"+service)
	for _, row := range []struct {
		name   string
		client login.Client
		device bool
	}{{"registration", login.Client{}, false}, {"document", login.Client{Document: document}, false}, {"code", login.Client{}, true}} {
		t.Run(row.name, func(t *testing.T) { logsIn(t, address, row.client, row.device) })
	}
}

// clientDocument serves a client metadata document, with a certificate of the returned authority.
func clientDocument(t *testing.T) (address, authority string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	authority = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		redirects := []string{}
		for port := 27890; port <= 27894; port++ {
			redirects = append(redirects, "http://127.0.0.1:"+strconv.Itoa(port)+"/callback")
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"client_id": address, "client_name": "Hermes", "redirect_uris": redirects, "grant_types": []string{"authorization_code", "refresh_token"},
			"response_types": []string{"code"}, "token_endpoint_auth_method": "none", "application_type": "native",
		})
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.StartTLS()
	t.Cleanup(s.Close)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	address = "https://localhost:" + port + "/client.json"
	return address, authority
}
