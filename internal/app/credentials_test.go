package app_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/credential"
	"hermes/internal/oauth"
	"hermes/internal/oauthserver"
)

// TestALoginOfTheSettings renews a login of a provider that only the settings
// define, and shows none of its tokens.
func TestALoginOfTheSettings(t *testing.T) {
	t.Parallel()
	srv := oauthserver.New()
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	config := fmt.Sprintf("providers:\n  acme:\n    base_url: %s/v1\n    oauth:\n      client_id: mine\n      token_url: %s/token\n      device_url: %s/device\n"+
		"  openrouter:\n    oauth: {redirect_uri: 'http://localhost:4711/back'}\n", srv.URL, srv.URL, srv.URL)
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	a := app.New(app.Options{
		Home: dir,
		Getenv: func(name string) string {
			return map[string]string{"GLM_API_KEY": "canary-of-the-environment"}[name]
		},
	})
	t.Cleanup(func() { a.Close() })

	name, pool, err := a.Pool("acme")
	if err != nil || name != "custom:acme" {
		t.Fatalf("%q, %v", name, err)
	}
	access, refresh := srv.Issue()
	if _, err := pool.Add(t.Context(), credential.New{Token: &oauth.Token{Access: access, Refresh: refresh, Expires: time.Now()}}); err != nil {
		t.Fatal(err)
	}
	key, err := pool.Next(t.Context(), "")
	if err != nil || !srv.Valid(key.Secret.Reveal()) {
		t.Fatalf("%v, %v", key, err)
	}
	if text := a.Mask("it is " + key.Secret.Reveal() + "."); strings.Contains(text, "canary") {
		t.Errorf("shown: %s", text)
	}
	again := app.New(app.Options{Home: dir, Getenv: func(string) string { return "" }})
	t.Cleanup(func() { again.Close() })
	if text := again.Mask("it is " + key.Secret.Reveal() + "."); strings.Contains(text, "canary") {
		t.Errorf("another process shows what the file holds: %s", text)
	}

	names, err := a.PoolNames()
	if err != nil || strings.Join(names, " ") != "custom:acme zai" {
		t.Errorf("%v, %v", names, err)
	}
	if l, ok := a.Login("openrouter"); !ok || l.Redirect != "http://localhost:4711/back" || l.Form != oauth.FormKey {
		t.Errorf("a row is overridden in part: %v, %q", ok, l.Redirect)
	}
	if _, ok := a.Login("zai"); ok {
		t.Error("an invented login")
	}
}

// TestTheTraceOfALogin renews a login with HERMES_OAUTH_TRACE and without. The log
// has the steps, but no token.
func TestTheTraceOfALogin(t *testing.T) {
	t.Parallel()
	for value, traced := range map[string]bool{"": false, "0": false, "off": false, "1": true, "TRUE": true, "yes": true, "on": true} {
		srv := oauthserver.New()
		t.Cleanup(srv.Close)
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "config.yaml"), fmt.Sprintf("providers: {acme: {base_url: '%s/v1', oauth: {client_id: mine, token_url: '%s/token', device_url: '%s/device'}}}\n", srv.URL, srv.URL, srv.URL))
		a := app.New(app.Options{Home: dir, Getenv: func(name string) string { return map[string]string{"HERMES_OAUTH_TRACE": value}[name] }})
		_, pool, err := a.Pool("acme")
		if err != nil {
			t.Fatal(err)
		}
		access, refresh := srv.Issue()
		if _, err := pool.Add(t.Context(), credential.New{Token: &oauth.Token{Access: access, Refresh: refresh, Expires: time.Now()}}); err != nil {
			t.Fatal(err)
		}
		if _, err := pool.Next(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		log := ""
		files, _ := filepath.Glob(filepath.Join(dir, "logs", "*"))
		for _, name := range files {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			log += string(raw)
		}
		if regexp.MustCompile(`"step":"refresh_token".*refresh_token#[0-9a-f]{12}.*access_token#[0-9a-f]{12}`).MatchString(log) != traced || strings.Contains(log, "canary") {
			t.Errorf("%q: log %s", value, log)
		}
	}
}

// TestThreeKeys tries three keys: one without credit, one at its rate limit, one that
// works. The failures are kept for their keys, also for the next process, and no key
// is shown anywhere.
func TestThreeKeys(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // it lists no models
			http.NotFound(w, r)
			return
		}
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		mu.Lock()
		asked = append(asked, strings.TrimPrefix(key, "canary-key-"))
		mu.Unlock()
		switch key {
		case "canary-key-poor":
			http.Error(w, `{"error":{"message":"Insufficient credits for `+key+`"}}`, http.StatusPaymentRequired)
		case "canary-key-limited":
			w.Header().Set("Retry-After", "120")
			http.Error(w, `{"error":{"message":"rate limit of `+key+`"}}`, http.StatusTooManyRequests)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		}
	}))
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("providers: {box: {base_url: '"+srv.URL+"/v1'}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for process := range 2 {
		a := app.New(app.Options{Home: dir, Getenv: func(string) string { return "" }})
		if process == 0 {
			_, pool, err := a.Pool("box")
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range []hermes.Secret{"canary-key-poor", "canary-key-limited", "canary-key-good"} {
				if _, err := pool.Add(t.Context(), credential.New{Secret: k}); err != nil {
					t.Fatal(err)
				}
			}
		}
		models, err := a.Models().Catalogue()
		if err != nil {
			t.Fatal(err)
		}
		m, err := models.Model(t.Context(), "box:m")
		if err != nil {
			t.Fatal(err)
		}
		answer := ""
		for d, err := range m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}) {
			if err != nil {
				t.Fatal(err)
			}
			answer += d.Text
			fmt.Fprintf(&shown, "%+v %s\n", d, d.Notice)
		}
		if answer != "ok" {
			t.Errorf("process %d: %q", process, answer)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(asked, " "); got != "poor limited good good" {
		t.Errorf("asked %s", got)
	}
	if strings.Contains(shown.String(), "canary") {
		t.Errorf("shown: %s", shown.String())
	}
	leaks(t, dir)
}

// leaks searches every file except the one that stores them for the canaries.
func leaks(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "auth.json" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(raw), "canary") {
			t.Errorf("%s holds a secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
