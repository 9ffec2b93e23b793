package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
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

// TestLoginsOfTheSettingsWork has services whose login is not built in. Without
// settings they say which are missing; with them, a login is renewed and used with
// the protocol of its service.
func TestLoginsOfTheSettingsWork(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ below, path string }{
		"nous":              {"/v1", "/v1/chat/completions"},
		"xai-oauth":         {"/v1", "/v1/chat/completions"},
		"minimax-oauth":     {"/anthropic", "/anthropic/v1/messages"},
		"google-gemini-cli": {"/v1beta", "/v1beta/models/m:streamGenerateContent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			none := app.New(app.Options{Home: t.TempDir(), Getenv: func(string) string { return "" }})
			t.Cleanup(func() { none.Close() })
			models, err := none.Models()
			if err != nil {
				t.Fatal(err)
			}
			_, err = models.Model(t.Context(), name+":m")
			for _, key := range []string{"base_url", "oauth.client_id", "oauth.token_url", "oauth.device_url (or auth_url)"} {
				if err == nil || !strings.Contains(err.Error(), "providers."+name+"."+key) {
					t.Errorf("the error lacks %s: %v", key, err)
				}
			}

			srv := oauthserver.New()
			t.Cleanup(srv.Close)
			var mu sync.Mutex
			var path, key string
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				path, key = r.URL.Path, r.Header.Get("Authorization")
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"error":{"message":"no such thing"}}`)
			}))
			t.Cleanup(api.Close)
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "config.yaml"), fmt.Sprintf("providers: {%s: {base_url: '%s', oauth: {client_id: mine, token_url: '%s/token', device_url: '%s/device'}}}\n",
				name, api.URL+tt.below, srv.URL, srv.URL))
			a := app.New(app.Options{Home: dir, Getenv: func(string) string { return "" }})
			t.Cleanup(func() { a.Close() })
			if _, known := a.Login(name); !known {
				t.Error("the login is not known")
			}
			_, pool, err := a.Pool(name)
			if err != nil {
				t.Fatal(err)
			}
			access, refresh := srv.Issue()
			if _, err := pool.Add(t.Context(), credential.New{Token: &oauth.Token{Access: access, Refresh: refresh, Expires: time.Now()}}); err != nil {
				t.Fatal(err)
			}
			_, _ = askModel(t, a, name+":m")
			mu.Lock()
			defer mu.Unlock()
			if path != tt.path || !srv.Valid(strings.TrimPrefix(key, "Bearer ")) {
				t.Errorf("asked %s with %q", path, key)
			}
		})
	}
}

// askModel sends one message to a model and returns the answer or the error.
func askModel(t *testing.T, a *app.App, ref string) (string, error) {
	t.Helper()
	models, err := a.Models()
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.Model(t.Context(), ref)
	if err != nil {
		return "", err
	}
	answer, err := hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}))
	return answer.Text(), err
}
