package credential_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/credential"
)

// newGate is an address whose answer waits for a func.
func newGate(t *testing.T, wait func()) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { wait() }))
	t.Cleanup(srv.Close)
	return srv.URL
}

const moved = `{
  "version": 1,
  "providers": {"nous": {"x": [1, 2]}},
  "credential_pool": {
    "router": [
      {"id": "abc123", "label": "OLD_KEY", "auth_type": "api_key", "priority": 0, "source": "env:OLD_KEY", "access_token": "canary-copy", "request_count": 142},
      {"id": "def456", "label": "mine", "auth_type": "api_key", "priority": 1, "source": "manual", "access_token": "canary-mine", "last_status": "exhausted", "last_error_reset_at": 1777640400, "base": {"a": 1}},
      "not an entry"
    ],
    "strange": {"not": "a list"}
  }
}`

// TestAFileThatWasThere moves in with what other versions wrote.
func TestAFileThatWasThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, os.MkdirAll(filepath.Dir(w.path), 0o755))
	must(t, os.WriteFile(w.path, []byte(moved), 0o644))
	s := w.open("")
	p := s.Pool("router", env("OLD_KEY", "canary-old"))
	if got := labels(t, p); got != "OLD_KEY mine!" {
		t.Errorf("got %s", got)
	}
	_, err := p.Add(t.Context(), credential.New{Label: "new", Secret: "canary-new"})
	must(t, err)
	raw, err := os.ReadFile(w.path)
	must(t, err)
	var got struct {
		Version   int
		Providers map[string]any
		Pool      map[string]any `json:"credential_pool"`
	}
	must(t, json.Unmarshal(raw, &got))
	text := string(raw)
	if got.Version != 1 || got.Providers["nous"] == nil || got.Pool["strange"] == nil || !strings.Contains(text, "not an entry") || !strings.Contains(text, `"base"`) {
		t.Errorf("what is not ours was lost: %s", raw)
	}
	if strings.Contains(text, "canary-copy") || !strings.Contains(text, "canary-mine") || !strings.Contains(text, "2026-05-01T13:00:00Z") {
		t.Errorf("got %s", raw)
	}
	info, err := os.Stat(w.path)
	must(t, err)
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestADamagedFileIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, os.MkdirAll(filepath.Dir(w.path), 0o700))
	must(t, os.WriteFile(w.path, []byte(`{"credential_pool`), 0o600))
	p := w.open("").Pool("router", env("ONE_KEY", "canary-one", "TWO_KEY", "canary-two"))
	if _, err := p.Add(t.Context(), credential.New{Secret: "canary-x"}); err == nil || !strings.Contains(err.Error(), "nothing is written") {
		t.Errorf("got %v", err)
	}
	if !p.Report(t.Context(), next(t, p, ""), failure(hermes.ClassBilling, 0)) || next(t, p, "").Label != "TWO_KEY" {
		t.Error("the environment's keys go on")
	}
	if raw, _ := os.ReadFile(w.path); string(raw) != `{"credential_pool` {
		t.Errorf("got %s", raw)
	}
}

// chain is a keychain in memory.
type chain map[string]string

func (c chain) Get(_ context.Context, name string) (string, error) {
	if s, ok := c[name]; ok {
		return s, nil
	}
	return "", errors.New("no such secret in the keychain")
}
func (c chain) Set(_ context.Context, name, secret string) error { c[name] = secret; return nil }
func (c chain) Delete(_ context.Context, name string) error      { delete(c, name); return nil }

func TestKeysInAKeychain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config()
	held := chain{}
	c.Keychain = held
	p := credential.Open(c).Pool("router", nil)
	e, err := p.Add(t.Context(), credential.New{Secret: "canary-deep", Keychain: true})
	must(t, err)
	if raw, _ := os.ReadFile(w.path); strings.Contains(string(raw), "canary-deep") || !strings.Contains(string(raw), "keychain:router/"+e.ID) {
		t.Errorf("the file holds %s", raw)
	}
	if k := next(t, p, ""); k.Secret != "canary-deep" {
		t.Errorf("got %+v", k)
	}
	if p.Report(t.Context(), next(t, p, ""), failure(hermes.ClassAuth, 0)) {
		t.Error("there is no other key")
	}
	without := w.open("").Pool("router", nil)
	if _, err := without.Next(t.Context(), ""); err == nil || len(w.warn) == 0 || !strings.Contains(w.warn[0], "this machine has none") {
		t.Errorf("got %v, %v", err, w.warn)
	}
	_, err = p.Remove(t.Context(), e.ID)
	must(t, err)
	if len(held) != 0 || p.Any() {
		t.Error("not removed")
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := fill(t, w.open(""), "ab")
	b := id(t, p, "b")
	for _, ref := range []string{"b", "B", "2", b, b[:4]} {
		if e, err := p.Prefer(t.Context(), ref, 1); err != nil || e.ID != b {
			t.Errorf("%q: %v, %v", ref, e, err)
		}
	}
	if _, err := p.Remove(t.Context(), "7"); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	p.Report(t.Context(), next(t, p, ""), failure(hermes.ClassAuth, 0))
	if n, err := p.Reset(t.Context(), ""); n != 1 || err != nil || labels(t, p) != "a b" {
		t.Errorf("%d, %v, %s", n, err, labels(t, p))
	}
	if _, err := p.Remove(t.Context(), "a"); err != nil || labels(t, p) != "b" {
		t.Errorf("%v, %s", err, labels(t, p))
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(moved))
	f.Add([]byte(`{"credential_pool":{"router":[{"id":"a","expires_at":"1e99","last_status":7}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		w := &world{path: filepath.Join(t.TempDir(), "auth.json")}
		must(t, os.WriteFile(w.path, raw, 0o600))
		p := w.open("").Pool("router", nil)
		_, err := p.Entries()
		_, added := p.Add(t.Context(), credential.New{Label: "fuzz", Secret: "canary-fuzz"})
		if (err != nil) != (added != nil) && !errors.Is(added, credential.ErrThere) {
			t.Errorf("read %v, written %v", err, added)
		}
	})
}
