package login_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/oauth"
	"hermes/internal/plugin/bundled/login"
)

// session is one whose token has ended. meanwhile runs while the service renews it.
func session(t *testing.T, meanwhile func(home string)) *login.Session {
	t.Helper()
	s := &login.Session{Home: t.TempDir(), Again: "hermes auth x", Now: time.Now}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		meanwhile(s.Home)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"second","refresh_token":"r2","expires_in":3600}`)
	}))
	t.Cleanup(server.Close)
	s.OAuth = oauth.Config{TokenURL: server.URL, Client: server.Client(), Now: time.Now}
	write(t, s.Home, login.File{ClientID: "app", Access: "first", Refresh: "r1", Expires: time.Now().Add(-time.Hour)})
	return s
}

func write(t *testing.T, home string, f login.File) {
	t.Helper()
	if err := login.Write(t.Context(), home, f); err != nil {
		t.Fatal(err)
	}
}

// TestARenewedLoginIsKeptIfItsCallIsCancelled: the service does not take the old refresh token again.
func TestARenewedLoginIsKeptIfItsCallIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := session(t, func(string) { cancel() })
	_ = s.Authorize(ctx, http.Header{}) // its caller has gone
	if f, err := login.Read(s.Home); err != nil || f.Access != "second" || f.Refresh != "r2" {
		t.Errorf("the login is %+v, %v", f, err)
	}
}

// TestARenewalUndoesNothing that happened to the file while the service answered.
func TestARenewalUndoesNothing(t *testing.T) {
	t.Parallel()
	s := session(t, func(home string) {
		if err := os.Remove(filepath.Join(home, "login.json")); err != nil {
			t.Error(err)
		}
	})
	if err := s.Authorize(t.Context(), http.Header{}); err == nil || !strings.Contains(err.Error(), "there is no login") {
		t.Error("after the login was removed:", err)
	}
	if f, err := login.Read(s.Home); err == nil {
		t.Errorf("there is a login again: %+v", f)
	}
	other := `{"client_id":"app","access_token":"of another","refresh_token":"r9"}`
	s = session(t, func(home string) {
		if err := os.WriteFile(filepath.Join(home, "login.json"), []byte(other), 0o600); err != nil {
			t.Error(err)
		}
	})
	header := http.Header{}
	if err := s.Authorize(t.Context(), header); err != nil || header.Get("Authorization") != "Bearer of another" {
		t.Error(header, err)
	}
	if f, err := login.Read(s.Home); err != nil || f.Refresh != "r9" {
		t.Errorf("the login is %+v, %v", f, err)
	}
}

// TestRemoveWaitsForARenewal, which would write the login again.
func TestRemoveWaitsForARenewal(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if had, err := login.Remove(filepath.Join(home, "none")); had || err != nil {
		t.Error(had, err)
	}
	write(t, home, login.File{Access: "first"})
	synctest.Test(t, func(t *testing.T) {
		renewal, err := atomicfile.Acquire(t.Context(), filepath.Join(home, "login.json"), "a test", 0)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			had, err := login.Remove(home)
			if err == nil && !had {
				err = fmt.Errorf("there was no login")
			}
			done <- err
		}()
		synctest.Wait() // until it waits
		if _, err := login.Read(home); err != nil {
			t.Error("it did not wait:", err)
		}
		if err := renewal.Release(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if f, err := login.Read(home); err == nil {
		t.Errorf("the login is still there: %+v", f)
	}
}
