package credential_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/credential"
	"hermes/internal/oauth"
)

// foreign is a user's home with logins of other programs.
type foreign struct {
	t     *testing.T
	home  string
	path  string // of our file
	env   map[string]string
	now   time.Time
	store *credential.Store
	asked int // how often a token was renewed, which must never happen
}

func newForeign(t *testing.T) *foreign {
	t.Helper()
	f := &foreign{t: t, home: t.TempDir(), env: map[string]string{}, now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	f.path = filepath.Join(t.TempDir(), "auth.json")
	f.open()
	return f
}

// open is the next process.
func (f *foreign) open() {
	f.store = credential.Open(credential.Config{
		Path: f.path, UserHome: f.home, Getenv: func(name string) string { return f.env[name] }, Now: func() time.Time { return f.now },
		Login: func(string) (oauth.Config, bool) { f.asked++; return oauth.Config{}, false },
	})
}

// write stores what another program stores, at a time of its own.
func (f *foreign) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.home, name)
	must(f.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(f.t, os.WriteFile(path, []byte(text), 0o600))
	f.now = f.now.Add(time.Second)
	must(f.t, os.Chtimes(path, f.now, f.now))
}

func (f *foreign) next(pool string) (hermes.Key, error) {
	return f.store.Pool(pool, nil).Next(f.t.Context(), "")
}

func claude(token string, expires time.Time) string {
	return fmt.Sprintf(`{"claudeAiOauth":{"accessToken":%q,"refreshToken":"canary-refresh","expiresAt":%d,"scopes":["user:inference"],"subscriptionType":"max"},"other":1}`,
		token, expires.UnixMilli())
}

func jwt(claims string) string {
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".sig"
}

// TestLoginsOfOtherPrograms takes over each of them. Our file gets a reference only,
// theirs is not changed.
func TestLoginsOfOtherPrograms(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 1, 13, 0, 0, 0, time.UTC)
	codex := jwt(fmt.Sprintf(`{"sub":"u","exp":%d,"https://api.openai.com/auth":{"chatgpt_account_id":"of the token"}}`, at.Unix()))
	for _, tt := range []struct {
		program, pool, file, text string
		env                       map[string]string
		want                      hermes.Key
		expires                   time.Time
	}{
		{program: "claude-code", pool: "anthropic", file: ".claude/.credentials.json", text: claude("canary-claude", at), want: hermes.Key{Secret: "canary-claude", Label: "Claude Code"}, expires: at},
		{program: "claude-code", pool: "anthropic", file: "elsewhere/.credentials.json", env: map[string]string{"CLAUDE_CONFIG_DIR": "elsewhere"}, text: claude("canary-claude", at),
			want: hermes.Key{Secret: "canary-claude", Label: "Claude Code"}, expires: at},
		{program: "codex", pool: "openai-codex", file: ".codex/auth.json", text: `{"OPENAI_API_KEY":null,"tokens":{"id_token":"x","access_token":"` + codex + `","refresh_token":"canary-refresh","account_id":"acc"}}`,
			want: hermes.Key{Secret: hermes.Secret(codex), Label: "Codex", Account: "acc"}, expires: at},
		{program: "codex", pool: "openai-codex", file: "c/auth.json", env: map[string]string{"CODEX_HOME": "c"}, text: `{"tokens":{"access_token":"` + codex + `"}}`,
			want: hermes.Key{Secret: hermes.Secret(codex), Label: "Codex", Account: "of the token"}, expires: at},
		{program: "gemini-cli", pool: "google-gemini-cli", file: ".gemini/oauth_creds.json", text: fmt.Sprintf(`{"access_token":"canary-google","refresh_token":"canary-refresh","expiry_date":%d}`, at.UnixMilli()),
			want: hermes.Key{Secret: "canary-google", Label: "Gemini CLI"}, expires: at},
		{program: "qwen-code", pool: "qwen-oauth", file: ".qwen/oauth_creds.json", text: fmt.Sprintf(`{"access_token":"canary-qwen","resource_url":"portal.qwen.ai","expiry_date":%d}`, at.UnixMilli()),
			want: hermes.Key{Secret: "canary-qwen", Label: "Qwen Code", BaseURL: "https://portal.qwen.ai/v1"}, expires: at},
	} {
		t.Run(tt.program+" in "+filepath.Dir(tt.file), func(t *testing.T) {
			t.Parallel()
			f := newForeign(t)
			for name, folder := range tt.env {
				f.env[name] = filepath.Join(f.home, folder)
			}
			pool := f.store.Pool(tt.pool, nil)
			if _, err := pool.Add(t.Context(), credential.New{Program: tt.program}); err == nil {
				t.Error("a login that is not there was taken over")
			}
			f.write(tt.file, tt.text)
			if offers := pool.Offers(); len(offers) != 1 || offers[0].ID != tt.program || offers[0].Path != filepath.Join(f.home, tt.file) {
				t.Errorf("offers %+v", offers)
			}
			if _, err := f.next(tt.pool); err == nil {
				t.Error("a login is used without consent")
			}
			e, err := pool.Add(t.Context(), credential.New{Program: tt.program})
			if err != nil || e.Program == "" || e.Renew != "" || !e.Expires.Equal(tt.expires) {
				t.Fatalf("%+v, %v", e, err)
			}
			if _, err := pool.Add(t.Context(), credential.New{Program: tt.program}); !errors.Is(err, credential.ErrThere) {
				t.Errorf("taken over twice: %v", err)
			}
			if offers := pool.Offers(); len(offers) != 0 {
				t.Errorf("offered again: %+v", offers)
			}
			for range 2 {
				got, err := f.next(tt.pool)
				want := tt.want
				want.ID, want.Source = e.ID, "oauth"
				if err != nil || got != want {
					t.Errorf("got %+v, %v; want %+v", got, err, want)
				}
				f.open()
			}
			// A state is written with the entry; still no token.
			f.store.Pool(tt.pool, nil).Report(t.Context(), must1(f.next(tt.pool)), &hermes.ModelError{Class: hermes.ClassRateLimit, Rotate: true, RetryAfter: time.Hour})
			ours, err := os.ReadFile(f.path)
			must(t, err)
			for _, secret := range []string{"canary", codex, "expires_at", "refresh_token", "base_url"} {
				if strings.Contains(string(ours), secret) {
					t.Errorf("our file has %s:\n%s", secret, ours)
				}
			}
			if theirs, err := os.ReadFile(filepath.Join(f.home, tt.file)); err != nil || string(theirs) != tt.text || f.asked > 0 {
				t.Errorf("their file changed, or a token was renewed %d times: %v", f.asked, err)
			}
		})
	}
}

func must1(k hermes.Key, err error) hermes.Key {
	if err != nil {
		panic(err)
	}
	return k
}

// TestALoginOfAProgramIsReadAgain goes through the life of a login: it expires, is
// renewed by its program, refused, half written, and removed.
func TestALoginOfAProgramIsReadAgain(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	const file = ".claude/.credentials.json"
	f.write(file, claude("one", f.now.Add(time.Hour)))
	if _, err := f.store.Pool("anthropic", nil).Add(t.Context(), credential.New{Program: "claude-code"}); err != nil {
		t.Fatal(err)
	}
	refused := &hermes.ModelError{Class: hermes.ClassAuth, Rotate: true, Fallback: true}
	use := func(want string) hermes.Key {
		t.Helper()
		k, err := f.next("anthropic")
		if err != nil || k.Secret.Reveal() != want {
			t.Errorf("got %q, %v; want %q", k.Secret.Reveal(), err, want)
		}
		return k
	}
	fails := func(words ...string) {
		t.Helper()
		_, err := f.next("anthropic")
		e, ok := errors.AsType[*hermes.ModelError](err)
		for _, w := range append(words, "Claude Code", "run `claude`") {
			if !ok || !e.Fallback || !strings.Contains(e.Message, w) {
				t.Errorf("the error lacks %q: %v", w, err)
			}
		}
	}
	use("one")
	f.write(file, claude("two", f.now.Add(time.Hour)))
	old := use("two")

	f.now = f.now.Add(2 * time.Hour)
	fails("expired")
	if e, err := f.store.Pool("anthropic", nil).Entries(); err != nil || e[0].Renew != "claude" {
		t.Errorf("%+v, %v", e, err)
	}
	f.write(file, claude("three", f.now.Add(time.Hour)))
	three := use("three")

	pool := f.store.Pool("anthropic", nil)
	if !pool.Report(t.Context(), old, refused) {
		t.Error("a call with the token before counts against the new one")
	}
	use("three")
	if !pool.Report(t.Context(), three, refused) {
		t.Error("a refused login is not looked at again")
	}
	fails("refused")
	f.write(file, `{"claudeAiOauth":{"acc`)
	fails("")
	f.write(file, claude("four", f.now.Add(time.Hour)))
	use("four")
	f.write(file, `{"claudeAiOauth":{"acc`)
	use("four") // it is being written
	f.now = f.now.Add(2 * time.Hour)
	fails("cannot be read")
	f.write(file, claude("five", f.now.Add(time.Hour)))
	use("five")
	must(t, os.Remove(filepath.Join(f.home, file)))
	fails("not found")
	f.write(file, `{"claudeAiOauth":{}}`)
	fails("missing")
	if f.asked > 0 {
		t.Errorf("a token was renewed %d times", f.asked)
	}
	if _, err := pool.Renew(t.Context(), "1"); !errors.Is(err, credential.ErrKept) || !strings.Contains(err.Error(), "run `claude`") {
		t.Errorf("renewed by hand: %v", err)
	}
	if gone, err := pool.Logout(t.Context()); err != nil || len(gone) != 1 {
		t.Errorf("%v, %v", gone, err)
	}
	if _, err := os.Stat(filepath.Join(f.home, file)); err != nil {
		t.Errorf("a logout here removed the program's file: %v", err)
	}
}

// TestAnotherCredentialReplacesAnExpiredProgram goes on with a key, and keeps a login
// of our own beside that of a program with the same account.
func TestAnotherCredentialReplacesAnExpiredProgram(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	f.write(".codex/auth.json", `{"tokens":{"access_token":"`+jwt(`{"exp":1}`)+`","account_id":"acc"}}`)
	pool := f.store.Pool("openai-codex", nil)
	e, err := pool.Add(t.Context(), credential.New{Program: "codex"})
	if err != nil || e.Renew != "codex" {
		t.Fatalf("an expired login: %+v, %v", e, err)
	}
	if _, err := pool.Add(t.Context(), credential.New{Token: &oauth.Token{Access: "ours", Refresh: "r", Account: "acc"}}); err != nil {
		t.Fatal(err)
	}
	if k, err := f.next("openai-codex"); err != nil || k.Secret.Reveal() != "ours" {
		t.Errorf("got %+v, %v", k, err)
	}
	if all, err := pool.Entries(); err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestAProgramWithAKeyIsNoLogin names what to do instead.
func TestAProgramWithAKeyIsNoLogin(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	f.write(".codex/auth.json", `{"OPENAI_API_KEY":"canary-key"}`)
	_, err := f.store.Pool("openai-codex", nil).Add(t.Context(), credential.New{Program: "codex"})
	if err == nil || !strings.Contains(err.Error(), "hermes auth add openai-api") || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
	if _, err := f.store.Pool("anthropic", nil).Add(t.Context(), credential.New{Program: "codex"}); err == nil || !strings.Contains(err.Error(), "openai-codex") {
		t.Errorf("the wrong service: %v", err)
	}
}

// TestALoginInTheKeychain has no file, as on macOS. It is read when it is first used,
// and again once it has expired or was refused.
func TestALoginInTheKeychain(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	kept, reads := "", 0
	open := func() {
		f.store = credential.Open(credential.Config{
			Path: f.path, UserHome: f.home, Now: func() time.Time { return f.now },
			Programs: func(_ context.Context, service string) (string, error) {
				reads++
				if service != "Claude Code-credentials" || kept == "" {
					return "", errors.New("no such secret in the keychain")
				}
				return kept, nil
			},
		})
	}
	open()
	pool := f.store.Pool("anthropic", nil)
	if _, err := pool.Add(t.Context(), credential.New{Program: "claude-code"}); err == nil || !strings.Contains(err.Error(), "keychain") {
		t.Errorf("an empty keychain: %v", err)
	}
	kept = claude("one", f.now.Add(time.Hour))
	if _, err := pool.Add(t.Context(), credential.New{Program: "claude-code"}); err != nil {
		t.Fatal(err)
	}
	open()
	reads = 0
	if e, err := f.store.Pool("anthropic", nil).Entries(); err != nil || len(e) != 1 || e[0].Renew != "" || reads != 0 {
		t.Errorf("a list: %+v, %v, %d reads", e, err, reads)
	}
	use := func(want string, wantReads int) hermes.Key {
		t.Helper()
		k, err := f.next("anthropic")
		if err != nil || k.Secret.Reveal() != want || reads != wantReads {
			t.Errorf("got %q, %v after %d reads; want %q after %d", k.Secret.Reveal(), err, reads, want, wantReads)
		}
		return k
	}
	use("one", 1)
	use("one", 1)
	kept = claude("two", f.now.Add(3*time.Hour))
	f.now = f.now.Add(2 * time.Hour)
	two := use("two", 2)
	kept = claude("three", f.now.Add(3*time.Hour))
	f.store.Pool("anthropic", nil).Report(t.Context(), two, &hermes.ModelError{Class: hermes.ClassAuth, Rotate: true})
	use("three", 3)
	kept = ""
	f.now = f.now.Add(9 * time.Hour)
	if _, err := f.next("anthropic"); err == nil || !strings.Contains(err.Error(), "run `claude`") {
		t.Errorf("a login that is gone: %v", err)
	}
}

// TestALoginOfAProgramIsNotLentElsewhere lends another credential instead, or none.
func TestALoginOfAProgramIsNotLentElsewhere(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	f.write(".claude/.credentials.json", claude("canary", f.now.Add(time.Hour)))
	pool := f.store.Pool("anthropic", nil)
	if _, err := pool.Add(t.Context(), credential.New{Program: "claude-code"}); err != nil {
		t.Fatal(err)
	}
	own := pool.WithoutPrograms()
	if k, err := own.Next(t.Context(), ""); own.Any() || err == nil || own.Spare(hermes.Key{}) {
		t.Errorf("lent %v", k)
	}
	if _, err := pool.Add(t.Context(), credential.New{Secret: "sk-mine"}); err != nil {
		t.Fatal(err)
	}
	if k, err := own.Next(t.Context(), ""); err != nil || k.Secret != "sk-mine" {
		t.Errorf("lent %v, %v", k, err)
	}
	f.open()
	if k, err := f.next("anthropic"); err != nil || k.Secret != "canary" {
		t.Errorf("the reference is lost: %v, %v", k, err)
	}
}
