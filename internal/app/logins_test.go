package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
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
			models, err := none.Models().Catalogue()
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
	models, err := a.Models().Catalogue()
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

// TestALoginOfAnotherProgramAnswers calls a model with the login of Claude Code:
// nothing is sent without consent, a token that its program has renewed is used at
// once, and an expired one sends nothing and says what to run.
func TestALoginOfAnotherProgramAnswers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var keys []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		keys = append(keys, r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
		mu.Unlock()
		if strings.Contains(r.Header.Get("Authorization"), "refused") {
			http.Error(w, `{"type":"error","error":{"type":"authentication_error","message":"OAuth token has been revoked"}}`, http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range []string{
			`{"type":"message_start","message":{"id":"1","role":"assistant","content":[],"model":"m","usage":{"input_tokens":1,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`, `{"type":"message_stop"}`,
		} {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}))
	t.Cleanup(api.Close)
	dir, user := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(dir, "config.yaml"), "providers: {anthropic: {base_url: 'https://unreachable.invalid'}}\n")
	login := func(token string, left time.Duration) {
		if err := os.MkdirAll(filepath.Join(user, ".claude"), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(user, ".claude", ".credentials.json"), fmt.Sprintf(`{"claudeAiOauth":{"accessToken":"sk-ant-oat01-%s","expiresAt":%d}}`, token, time.Now().Add(left).UnixMilli()))
	}
	login("canary-first", time.Hour)
	a := app.New(app.Options{Home: dir, Getenv: func(name string) string { return map[string]string{"HOME": user}[name] }})
	t.Cleanup(func() { a.Close() })
	if _, err := askModel(t, a, "anthropic:claude-sonnet-4-6"); err == nil || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY") {
		t.Errorf("without consent: %v", err)
	}
	a.Close()

	writeFile(t, filepath.Join(dir, "config.yaml"), "agent: {api_max_retries: 0}\nproviders: {anthropic: {base_url: '"+api.URL+"'}}\n")
	a = app.New(app.Options{Home: dir, Getenv: func(name string) string { return map[string]string{"HOME": user}[name] }})
	t.Cleanup(func() { a.Close() })
	_, pool, err := a.Pool("anthropic")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Add(t.Context(), credential.New{Program: "claude-code"}); err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"canary-first", "canary-second-one"} {
		login(token, time.Hour)
		if text, err := askModel(t, a, "anthropic:claude-sonnet-4-6"); err != nil || text != "ok" {
			t.Errorf("%q, %v", text, err)
		}
		if shown := a.Mask("sk-ant-oat01-" + token); strings.Contains(shown, token) {
			t.Errorf("shown: %s", shown)
		}
	}
	login("canary-expired", -time.Hour)
	if _, err := askModel(t, a, "anthropic:claude-sonnet-4-6"); err == nil || !strings.Contains(err.Error(), "run `claude`") {
		t.Errorf("expired: %v", err)
	}
	login("refused", time.Hour)
	if _, err := askModel(t, a, "anthropic:claude-sonnet-4-6"); err == nil || !strings.Contains(err.Error(), "run `claude`") {
		t.Errorf("refused: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	want := []string{"Bearer sk-ant-oat01-canary-first", "Bearer sk-ant-oat01-canary-second-one", "Bearer sk-ant-oat01-refused"}
	if !slices.Equal(keys, want) {
		t.Errorf("sent %q, want %q", keys, want)
	}
}

// TestALoginOfAnotherProgramGoesToItsServiceOnly sets another address in each way: the
// login is not sent there.
func TestALoginOfAnotherProgramGoesToItsServiceOnly(t *testing.T) {
	t.Parallel()
	const other = "https://other.invalid"
	for name, tt := range map[string]struct {
		config string
		env    map[string]string
	}{
		"the entry's address": {"providers: {anthropic: {base_url: '" + other + "'}}\n", nil},
		"model.base_url":      {"model: {provider: anthropic, default: claude-sonnet-4-6, base_url: '" + other + "'}\n", nil},
		"a variable":          {"", map[string]string{"ANTHROPIC_BASE_URL": other}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, user := t.TempDir(), t.TempDir()
			if err := os.MkdirAll(filepath.Join(user, ".claude"), 0o700); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(user, ".claude", ".credentials.json"), fmt.Sprintf(`{"claudeAiOauth":{"accessToken":"sk-ant-oat01-canary","expiresAt":%d}}`, time.Now().Add(time.Hour).UnixMilli()))
			writeFile(t, filepath.Join(dir, "config.yaml"), "agent: {api_max_retries: 0}\n"+tt.config)
			a := app.New(app.Options{
				Home: dir,
				Getenv: func(name string) string {
					if name == "HOME" {
						return user
					}
					return tt.env[name]
				},
			})
			t.Cleanup(func() { a.Close() })
			_, pool, err := a.Pool("anthropic")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := pool.Add(t.Context(), credential.New{Program: "claude-code"}); err != nil {
				t.Fatal(err)
			}
			ref := "anthropic:claude-sonnet-4-6"
			if strings.HasPrefix(tt.config, "model:") {
				ref = "" // the settings of the section model are for its model
			}
			if _, err := askModel(t, a, ref); err == nil || !strings.Contains(err.Error(), "not sent to other.invalid") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestALoginOfGeminiCLIGoesToGoogleOnly: the service has no address of its own in the
// catalogue, so base_url alone must not say who gets the login.
func TestALoginOfGeminiCLIGoesToGoogleOnly(t *testing.T) {
	t.Parallel()
	const google = "https://generativelanguage.googleapis.com"
	for address, goes := range map[string]bool{
		google + "/v1beta": true, "http://127.0.0.1:1/v1beta": true,
		"https://other.invalid/v1beta": false, google + ".other.invalid/v1beta": false, google + ":8443/v1beta": false,
		"http://generativelanguage.googleapis.com/v1beta": false, "https://googleapis.com@other.invalid/v1beta": false,
	} {
		dir, user := t.TempDir(), t.TempDir()
		if err := os.MkdirAll(filepath.Join(user, ".gemini"), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(user, ".gemini", "oauth_creds.json"), fmt.Sprintf(`{"access_token":"canary","expiry_date":%d}`, time.Now().Add(time.Hour).UnixMilli()))
		writeFile(t, filepath.Join(dir, "config.yaml"), "providers: {google-gemini-cli: {base_url: '"+address+"'}}\n")
		a := app.New(app.Options{Home: dir, Getenv: func(name string) string { return map[string]string{"HOME": user}[name] }})
		t.Cleanup(func() { a.Close() })
		_, pool, err := a.Pool("google-gemini-cli")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pool.Add(t.Context(), credential.New{Program: "gemini-cli"}); err != nil {
			t.Fatal(err)
		}
		models, err := a.Models().Catalogue()
		if err != nil {
			t.Fatal(err)
		}
		_, err = models.Model(t.Context(), "google-gemini-cli:m")
		if goes && err != nil || !goes && (err == nil || !strings.Contains(err.Error(), "is for generativelanguage.googleapis.com and is not sent to")) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
