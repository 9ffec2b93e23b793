package auth_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/cmd/auth"
	"hermes/internal/cmd/factory"
	"hermes/internal/credential"
	"hermes/internal/oauth"
	"hermes/internal/oauthserver"
)

// world is a home with one service for keys, one for both, and two for logins.
type world struct {
	t      *testing.T
	srv    *oauthserver.Server
	store  *credential.Store
	path   string
	env    []hermes.Key
	now    time.Time
	browse func(address string)
	hidden string // what is typed; empty: there is no terminal
	all    bytes.Buffer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, srv: oauthserver.New(), path: filepath.Join(t.TempDir(), "auth.json"), now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.Local)}
	t.Cleanup(w.srv.Close)
	w.store = credential.Open(credential.Config{
		Path: w.path, Now: func() time.Time { return w.now },
		Login: func(pool string) (oauth.Config, bool) {
			l, ok := w.Login(pool)
			return l.Config, ok
		},
	})
	return w
}

func (w *world) Login(pool string) (credential.Login, bool) {
	c := oauth.Config{ClientID: "c", TokenURL: w.srv.URL + "/token", Now: func() time.Time { return w.now },
		Sleep: func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }}
	switch pool {
	case "device":
		c.DeviceURL = w.srv.URL + "/device"
	case "both", "browser":
		c.AuthURL = w.srv.URL + "/authorize"
	case "far": // it redirects to its own page
		c.AuthURL, c.Redirect = w.srv.URL+"/authorize", "https://far.example/code"
	default:
		return credential.Login{Provider: pool}, false
	}
	return credential.Login{Provider: pool, Config: c, Note: "A note about " + pool + "."}, true
}

func (w *world) Pool(name string) (string, *credential.Pool, error) {
	switch name {
	case "keys", "both", "device", "browser", "far", "account", "anthropic", "agent":
		var given []hermes.Key
		if name == "keys" {
			given = w.env
		}
		return name, w.store.Pool(name, given), nil
	}
	return "", nil, fmt.Errorf("provider %q is unknown", name)
}

func (w *world) PoolNames() ([]string, error) {
	names, err := w.store.Pools()
	if len(w.env) > 0 && len(names) == 0 {
		names = []string{"keys"}
	}
	return names, err
}

func (w *world) Accepts(pool string) (keys, loginOnly bool) {
	return pool == "keys" || pool == "both" || pool == "anthropic", pool == "account"
}

func (w *world) Missing(string) string { return "" }

func (w *world) Program(pool string) string { return map[string]string{"agent": "copilot"}[pool] }

// run runs the command once and returns its output without ids and ports.
func (w *world) run(stdin io.Reader, args ...string) (string, error) {
	w.t.Helper()
	f := factory.New(app.Options{}, factory.IO{
		Browse: func(_ context.Context, address string) error {
			if w.browse == nil {
				return io.EOF
			}
			w.browse(address)
			return nil
		},
		Terminal: func() bool { return w.hidden != "" },
		Hidden:   func() (string, error) { return w.hidden + "\n", nil },
	})
	f.Now = func() time.Time { return w.now }
	c := auth.NewCmd(f, w)
	var out bytes.Buffer
	c.SetIn(stdin)
	c.SetOut(&out)
	c.SetErr(&out)
	c.SetArgs(args)
	c.SilenceErrors, c.SilenceUsage = true, true
	err := c.ExecuteContext(w.t.Context())
	w.all.WriteString(out.String())
	if err != nil {
		w.all.WriteString(err.Error())
	}
	text := strings.ReplaceAll(out.String(), w.srv.URL, "$SERVER")
	text = regexp.MustCompile(`\b[0-9a-f]{6}\b`).ReplaceAllLiteralString(text, "$ID")
	return text, err
}

func (w *world) must(stdin string, args ...string) string {
	w.t.Helper()
	out, err := w.run(strings.NewReader(stdin), args...)
	if err != nil {
		w.t.Fatalf("%v: %v", args, err)
	}
	return out
}

// clean fails if a secret was printed.
func (w *world) clean() {
	w.t.Helper()
	for _, canary := range []string{"canary-access", "canary-refresh", "canary-device", "canary-code", "canary-key-0", "middle-of-the-secret"} {
		if strings.Contains(w.all.String(), canary) {
			w.t.Errorf("%s was shown:\n%s", canary, w.all.String())
		}
	}
}

func TestKeyLifecycle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	steps := []struct{ stdin, args, want string }{
		{"", "", "No keys or logins. Add one with `hermes auth add PROVIDER`; `hermes model list --all` shows the providers.\n"},
		{"", "add keys --api-key sk-aaaa-middle-of-the-secret-0001 --label one", "Added \"one\" to keys. List its models with `hermes model list keys`.\n"},
		{"sk-bbbb-middle-of-the-secret-0002\nmore\n", "add keys", "Added \"key 1\" to keys. List its models with `hermes model list keys`.\n"},
		{"", "list", "keys\n  1  $ID  one    key  sk-aaa…0001  usable\n  2  $ID  key 1  key  sk-bbb…0002  usable\n"},
		{"", "priority keys 2 -- -1", "Set the priority of \"key 1\" of keys to -1.\n"},
		{"", "list keys", "keys\n  1  $ID  key 1  key  sk-bbb…0002  usable\n  2  $ID  one    key  sk-aaa…0001  usable\n"},
		{"", "reset keys", "Nothing to reset for keys.\n"},
		{"", "logout keys", "No login at keys.\n"},
		{"", "remove keys one", "Removed \"one\" from keys. The service still accepts it. Revoke it there if others may have seen it.\n"},
		{"", "status", "keys: 1 credential usable\n"},
		{"", "remove keys 1", "Removed \"key 1\" from keys. The service still accepts it. Revoke it there if others may have seen it.\n"},
		{"", "status keys", "keys: no key or login; add one with `hermes auth add keys`\n"},
	}
	for _, s := range steps {
		if diff := cmp.Diff(w.must(s.stdin, strings.Fields(s.args)...), s.want); diff != "" {
			t.Errorf("%s: %s", s.args, diff)
		}
	}
	w.clean()
}

func TestKeyIsReadWithoutEcho(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hidden = " sk-typed-middle-of-the-secret-0003 "
	want := "Key for both (hidden): \nAdded \"key 1\" to both. List its models with `hermes model list both`.\n"
	if diff := cmp.Diff(w.must("", "add", "both"), want); diff != "" {
		t.Error(diff)
	}
	if raw, err := os.ReadFile(w.path); err != nil || !strings.Contains(string(raw), `"sk-typed-middle-of-the-secret-0003"`) {
		t.Errorf("%v: %s", err, raw)
	}
	w.clean()
}

func TestPausedKeysAreExplained(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env = []hermes.Key{{Source: "env:MY_KEY", Secret: "sk-env0-middle-of-the-secret-0004"}}
	w.must("", "add", "keys", "--api-key", "sk-aaaa-middle-of-the-secret-0001", "--label", "one\x1b[31m")
	_, p, err := w.Pool("keys")
	if err != nil {
		t.Fatal(err)
	}
	for _, class := range []hermes.Class{hermes.ClassBilling, hermes.ClassAuthPermanent} {
		k, err := p.Next(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		p.Report(t.Context(), k, &hermes.ModelError{Class: class, Rotate: true})
	}
	want := "keys: 0 of 2 credentials usable\n" +
		"  key from MY_KEY: paused until 12:00 on 2 May (no credit); to use it now, run `hermes auth reset keys $ID`\n" +
		"  key \"one␛[31m\": no longer valid (refused); replace it, or run `hermes auth reset keys $ID` if it is correct\n"
	if diff := cmp.Diff(w.must("", "status"), want); diff != "" {
		t.Error(diff)
	}
	if js := w.must("", "list", "--json"); !strings.Contains(js, `"state": "dead"`) || !strings.Contains(js, `"reason": "billing"`) {
		t.Errorf("got %s", js)
	}
	if diff := cmp.Diff(w.must("", "reset", "keys"), "2 credentials usable again for keys.\n"); diff != "" {
		t.Error(diff)
	}
	if _, err := w.run(nil, "remove", "keys", "MY_KEY"); err == nil || !strings.Contains(err.Error(), "remove MY_KEY from the environment") {
		t.Errorf("got %v", err)
	}
	w.clean()
}

func TestLoginByCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.srv.Device("authorization_pending", "slow_down")
	want := "A note about device.\nOpen $SERVER/activate and enter the code WDJB-MJHT\nor open $SERVER/activate?user_code=WDJB-MJHT\n" +
		"Waiting for your confirmation, at most 10m0s…\nAdded \"login 1\" to device. List its models with `hermes model list device`.\n"
	if diff := cmp.Diff(w.must("", "add", "device", "--no-browser"), want); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(w.must("", "status"), "device: 1 credential usable\n  login \"login 1\": renews automatically, next at 13:00\n"); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(w.must("", "refresh", "device", "1"), "Renewed \"login 1\" of device: renews automatically, next at 13:00.\n"); diff != "" {
		t.Error(diff)
	}
	w.srv.Revoke()
	if _, err := w.run(nil, "refresh", "device", "1"); err == nil || !strings.Contains(err.Error(), "invalid_grant") {
		t.Errorf("got %v", err)
	}
	out := w.must("", "status")
	if !strings.Contains(out, "no longer valid") || !strings.Contains(out, "log in again with `hermes auth add device --type oauth`") {
		t.Errorf("got %s", out)
	}
	if diff := cmp.Diff(w.must("", "logout", "device"), "Removed the login \"login 1\" at device.\n"); diff != "" {
		t.Error(diff)
	}
	w.clean()
}

func TestLoginByCodeDenied(t *testing.T) {
	t.Parallel()
	for code, says := range map[string]string{"access_denied": "access_denied", "expired_token": "expired_token"} {
		w := newWorld(t)
		w.srv.Device(code)
		if _, err := w.run(nil, "add", "device"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v", err)
		}
		w.clean()
	}
}

func TestLoginByBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var wg sync.WaitGroup
	w.browse = func(address string) {
		wg.Go(func() {
			if resp, err := http.Get(address); err == nil {
				resp.Body.Close()
			}
		})
	}
	never, end := io.Pipe() // a user who types nothing
	defer end.Close()
	out, err := w.run(never, "add", "both", "--type", "oauth", "--label", "me")
	wg.Wait()
	if err != nil || !strings.Contains(out, "Waiting for the browser") || !strings.HasSuffix(out, "Added \"me\" to both. List its models with `hermes model list both`.\n") {
		t.Errorf("%v: %s", err, out)
	}
	w.clean()
}

// TestLoginByPasting is the browser on another machine.
func TestLoginByPasting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in, lines := io.Pipe()
	w.browse = func(address string) {
		stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		resp, err := stay.Get(address)
		if err != nil {
			t.Error(err)
			return
		}
		resp.Body.Close()
		go fmt.Fprintf(lines, "\nhttps://far.example/code?code=x&state=wrong\n%s\n", resp.Header.Get("Location"))
	}
	out, err := w.run(in, "add", "far")
	if err != nil || !strings.Contains(out, "belongs to another login") || !strings.Contains(out, "Added \"login 1\" to far.") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := w.run(strings.NewReader("\n"), "add", "far", "--no-browser"); err == nil || !strings.Contains(err.Error(), "no address was pasted") {
		t.Errorf("got %v", err)
	}
}

func TestWhatCannotBeAdded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("", "add", "keys", "--api-key", "sk-aaaa-middle-of-the-secret-0001")
	for args, want := range map[string]string{
		"add nobody": "unknown",
		"add keys":   "no key on standard input",
		"add keys --api-key sk-aaaa-middle-of-the-secret-0001": `already in the pool as "key 1"`,
		"add keys --api-key sk…":                               "an invalid character",
		"add keys --type oauth":                                "no login is known for keys; set providers.keys.oauth.client_id, providers.keys.oauth.token_url, providers.keys.oauth.device_url (or auth_url) in config.yaml",
		"add agent":                                            "agent is a program, which keeps its own login; start copilot in a terminal",
		"add account":                                          "no login is known for account; set providers.account.oauth.client_id,",
		"add keys --type magic":                                `unknown type "magic"; use api-key or oauth`,
		"add both --type oauth --api-key x":                    "use --api-key or --type oauth, not both",
		"add both --type oauth --keychain":                     "cannot be stored in the keychain",
		"add keys --keychain --api-key k":                      "this machine has no keychain",
		"refresh keys 1":                                       "keys are not renewed",
		"priority keys 1 first":                                "is not a whole number",
	} {
		if _, err := w.run(strings.NewReader(""), strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", args, err, want)
		}
	}
	w.clean()
}
