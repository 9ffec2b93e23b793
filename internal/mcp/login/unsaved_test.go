package login_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"hermes/internal/mcp/login"
)

// full makes the folder refuse to replace the file of a login, which can still be read, as a full disk does.
// The func ends that.
func full(t *testing.T, path string) (free func()) {
	t.Helper()
	if err := os.Rename(path, path+".real"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path+".real", path); err != nil {
		t.Skip("there are no links here:", err)
	}
	return func() {
		t.Helper()
		if err := os.Rename(path+".real", path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestARenewedLoginOutlivesAFullDisk: the service has spent the old token. The new one is used, also by the
// next connection of the program, said once, and written when that is possible.
func TestARenewedLoginOutlivesAFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config()
	if _, err := w.enter(c); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	c.Unsaved, c.Log = &login.Unsaved{}, slog.New(slog.NewTextHandler(&said, nil))
	before, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	free := full(t, c.Path)
	now := time.Now()
	c.Now = func() time.Time { return now }
	for i := range 3 { // each renews once, and then has a fresh token
		now = now.Add(2 * time.Hour)
		w.oauth.Lifetime = 10800 + 7200*i
		for range 2 {
			if got, err := w.get(c); got != "welcome" {
				t.Fatalf("%q, %v", got, err)
			}
		}
	}
	if n := w.oauth.Counts(); n.Refreshes < 2 || n.Replays != 0 {
		t.Errorf("%+v", n)
	}
	if after, err := os.ReadFile(c.Path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file is now %s, %v", after, err)
	}
	if n := strings.Count(said.String(), "level=WARN"); n != 1 || strings.Contains(said.String(), "canary") {
		t.Errorf("%d warnings: %s", n, said.String())
	}
	free()
	if got, err := w.get(c); got != "welcome" {
		t.Errorf("%q, %v", got, err)
	}
	renewed := kept(t, c.Path)
	c.Unsaved = nil // as in another process
	if got, err := w.get(c); got != "welcome" {
		t.Errorf("%q, %v: the file has %v", got, err, renewed)
	}
	if n := w.oauth.Counts(); n.Replays != 0 {
		t.Errorf("a spent token was used: %+v", n)
	}
}

// TestWhatIsNotKeptEndsWithTheLogin: after a logout, and after another login, it is not used.
func TestWhatIsNotKeptEndsWithTheLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config()
	if _, err := w.enter(c); err != nil {
		t.Fatal(err)
	}
	c.Unsaved = &login.Unsaved{}
	free := full(t, c.Path)
	c.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	w.oauth.Lifetime = 10800
	if got, err := w.get(c); got != "welcome" {
		t.Fatalf("%q, %v", got, err)
	}
	free()
	other := c
	other.Unsaved = nil // another process
	if _, err := w.enter(other); err != nil {
		t.Fatal(err)
	}
	want := kept(t, c.Path)["access_token"]
	if got, err := w.get(c); got != "welcome" || kept(t, c.Path)["access_token"] != want {
		t.Errorf("%q, %v: the new login was replaced", got, err)
	}
	if _, _, err := login.New(other).Out(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := w.get(c); err == nil {
		t.Errorf("after the logout: %q", got)
	}
}

// TestAWishReplacesNoFile: that a server wants more rights is not kept in the login at another address, nor
// in place of a file that cannot be read.
func TestAWishReplacesNoFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.config()
	if _, err := w.enter(c); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	w.bounce = func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/other" {
			rw.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="files:write"`)
			rw.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	}
	other := c
	other.URL = w.mcp.URL + "/other"
	_, err = w.get(other)
	if n, ok := errors.AsType[*login.NeededError](err); !ok || !strings.Contains(n.Error(), "files:write") {
		t.Errorf("another address: %v", err)
	}
	if after, err := os.ReadFile(c.Path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the login at the first address is now %s, %v", after, err)
	}
	damaged := []byte(`{"server_url":`)
	w.bounce = func(rw http.ResponseWriter, _ *http.Request) bool { // the file is damaged while the server answers
		if err := os.WriteFile(c.Path, damaged, 0o600); err != nil {
			t.Error(err)
		}
		rw.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="files:write"`)
		rw.WriteHeader(http.StatusForbidden)
		return true
	}
	if _, err = w.get(c); err == nil || !strings.Contains(err.Error(), "hermes mcp login docs") {
		t.Errorf("a damaged file: %v", err)
	}
	if after, err := os.ReadFile(c.Path); err != nil || !bytes.Equal(damaged, after) {
		t.Errorf("the damaged file is now %s, %v", after, err)
	}
}
