package cloudbrowser_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/cloudbrowser"
	"hermes/internal/cloudbrowser/cloudbrowsertest"
	"hermes/internal/httpc"
)

// noteAt makes the test binary a process that notes a browser and is then killed.
const noteAt = "HERMES_TEST_NOTE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(noteAt); dir != "" {
		n, err := cloudbrowser.Begin(dir)
		if err == nil {
			err = n.Opened("browser_use", "account", os.Getenv("HERMES_TEST_ID"))
		}
		if err != nil {
			os.Exit(2)
		}
		fmt.Println("noted")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until it is killed
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func client(t *testing.T, s *cloudbrowsertest.Server, name string) *cloudbrowser.Client {
	t.Helper()
	service, ok := cloudbrowser.Find(name)
	if !ok {
		t.Fatalf("there is no service %s", name)
	}
	at := map[string]string{"browserbase": "/bb/", "browser_use": "/bu/"}[name]
	c, err := httpc.New(httpc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return &cloudbrowser.Client{Service: service, Secret: func() string { return cloudbrowsertest.Key }, At: s.URL + at, Proxies: true, Timeout: time.Hour, HTTP: c}
}

func newServer(t *testing.T) *cloudbrowsertest.Server {
	t.Helper()
	s := cloudbrowsertest.New()
	t.Cleanup(s.Close)
	return s
}

func each(t *testing.T, run func(t *testing.T, s *cloudbrowsertest.Server, c *cloudbrowser.Client)) {
	t.Helper()
	for _, service := range cloudbrowser.Services() {
		t.Run(service.Name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			run(t, s, client(t, s, service.Name))
		})
	}
}

func TestABrowserIsOpenedAndReleased(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cloudbrowsertest.Server, c *cloudbrowser.Client) {
		made, err := c.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s.Open(), []string{made.ID}); diff != "" {
			t.Error(diff)
		}
		if address := made.Address(); !strings.Contains(address, cloudbrowsertest.Signing) {
			t.Errorf("it is at %s", address)
		}
		for range 2 { // the second time it has ended already
			if err := c.Release(t.Context(), made.ID); err != nil {
				t.Error(err)
			}
		}
		if open := s.Open(); len(open) > 0 {
			t.Errorf("open: %q", open)
		}
	})
}

// TestABrowserThatGoesOnIsNotSaidToBeReleased: the service refuses to release it.
func TestABrowserThatGoesOnIsNotSaidToBeReleased(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401, 409, 422, 429, 500} {
		each(t, func(t *testing.T, s *cloudbrowsertest.Server, c *cloudbrowser.Client) {
			made, err := c.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s.Refuse = func(r cloudbrowsertest.Request) (int, string) {
				if r.Method == http.MethodGet {
					return 0, ""
				}
				return status, "{}"
			}
			if err := c.Release(t.Context(), made.ID); err == nil {
				t.Errorf("status %d: it is said to be released, open are %q", status, s.Open())
			}
			if err := c.Release(t.Context(), "../"+made.ID); err == nil {
				t.Error("an id with a path is released")
			}
		})
	}
}

// TestSettingsAreSentAsEachServiceTakesThem.
func TestSettingsAreSentAsEachServiceTakesThem(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		service string
		change  func(c *cloudbrowser.Client)
		want    map[string]any
	}{
		"browserbase":              {"browserbase", func(*cloudbrowser.Client) {}, map[string]any{"keepAlive": false, "proxies": true, "timeout": 3600.0}},
		"browserbase in a project": {"browserbase", func(c *cloudbrowser.Client) { c.ProjectID = "p" }, map[string]any{"keepAlive": false, "proxies": true, "timeout": 3600.0, "projectId": "p"}},
		"browserbase, other bounds": {"browserbase", func(c *cloudbrowser.Client) { c.Proxies, c.Timeout = false, 48*time.Hour },
			map[string]any{"keepAlive": false, "proxies": false, "timeout": 21600.0}},
		"browser use": {"browser_use", func(*cloudbrowser.Client) {}, map[string]any{"timeout": 60.0}},
		"browser use without a proxy": {"browser_use", func(c *cloudbrowser.Client) { c.Proxies, c.Timeout = false, 61*time.Second },
			map[string]any{"timeout": 2.0, "proxyCountryCode": nil}},
		"browser use, other bounds": {"browser_use", func(c *cloudbrowser.Client) { c.Timeout = 6 * time.Hour }, map[string]any{"timeout": 240.0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			c := client(t, s, one.service)
			one.change(c)
			if _, err := c.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s.Requests()[0].Body, one.want); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestErrorsSayWhatToDo, and hold neither the key nor what else is secret.
func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s came to another server with %v", r.Method, r.URL, r.Header)
	}))
	t.Cleanup(other.Close)
	long := strings.Repeat("x", 2<<20)
	for name, one := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"a wrong key":      {401, `{"message":"the key ` + cloudbrowsertest.Key + ` is wrong"}`, "does not accept the key: check BROWSER"},
		"no right":         {403, `{"error":{"message":"not yours"}}`, "(status 403: not yours)"},
		"no credit":        {402, `{"detail":{"message":"pay first"}}`, "set browser.cloud_proxies to false if its plan has no proxies (status 402: pay first)"},
		"too many":         {429, ``, "try again later (status 429)"},
		"a refusal":        {400, `{"message":"` + strings.Repeat("no ", 1000) + `"}`, "does not accept the request: check browser.cloud_timeout and browser.cloud_proxies (status 400: no no"},
		"not there":        {404, ``, "_BASE_URL if it is set (status 404)"},
		"a failure":        {500, `<html>`, "has a failure: try again later (status 500)"},
		"no JSON":          {200, `<html>`, "is not the JSON that was expected"},
		"an endless body":  {200, long, "is larger than 1 MB"},
		"another address":  {307, other.URL, "answers with another address, which does not get the key"},
		"no id":            {200, `{"connectUrl":"wss://x","cdpUrl":"wss://x"}`, "names no id"},
		"an id with paths": {200, `{"id":"../keys","connectUrl":"wss://x","cdpUrl":"wss://x"}`, "names no id"},
		"no browser":       {200, `{"id":"i"}`, "does not say where the browser is"},
		"not encrypted":    {200, `{"id":"i","connectUrl":"ws://elsewhere.example/?k=` + cloudbrowsertest.Signing + `","cdpUrl":"http://elsewhere.example/` + cloudbrowsertest.Signing + `"}`, "is not encrypted"},
		"a file":           {200, `{"id":"i","connectUrl":"file://x/y","cdpUrl":"file://x/y"}`, "is not encrypted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, s *cloudbrowsertest.Server, c *cloudbrowser.Client) {
				s.Refuse = func(cloudbrowsertest.Request) (int, string) { return one.status, one.body }
				_, err := c.Open(t.Context())
				if err == nil || !strings.Contains(err.Error(), one.want) || !strings.Contains(err.Error(), c.Title) {
					t.Fatalf("it says %v", err)
				}
				if said := err.Error(); len(said) > 600 || strings.Contains(said, "canary") {
					t.Errorf("it says %s", said)
				}
			})
		})
	}
}

// TestNothingIsSentToAnAddressThatIsNotEncrypted, or that nothing answers at.
func TestNothingIsSentToAnAddressThatIsNotEncrypted(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, at := range []string{"http://api.example", "ftp://api.example", "api.example", "https://user@api.example", "http://127.0.0.1:1"} {
		c := client(t, s, "browserbase")
		c.At = at
		_, err := c.Open(t.Context())
		if err == nil || strings.Contains(err.Error(), "canary") || at != "http://127.0.0.1:1" && !strings.Contains(err.Error(), "BROWSERBASE_BASE_URL must be an address") {
			t.Errorf("%s: %v", at, err)
		}
	}
}

// TestABrowserThatIsNotWantedAnyMoreIsNamed: the turn ends while the service opens it, and the caller must release it.
func TestABrowserThatIsNotWantedAnyMoreIsNamed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cloudbrowsertest.Server, c *cloudbrowser.Client) {
		ctx, cancel := context.WithCancelCause(t.Context())
		stopped := errors.New("the user stopped it")
		s.Refuse = func(r cloudbrowsertest.Request) (int, string) { cancel(stopped); return 0, "" }
		made, err := c.Open(ctx)
		if open := s.Open(); !errors.Is(err, stopped) || len(open) != 1 || open[0] != made.ID {
			t.Errorf("open: %q, named: %q, %v", open, made.ID, err)
		}
	})
}

// TestABrowserOfAKilledProcessIsFound, and that of a living one is not. A release that fails is tried again.
func TestABrowserOfAKilledProcessIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mine, err := cloudbrowser.Begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := mine.Opened("browserbase", "account", "mine"); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"killed", "../keys"} {
		c := exec.CommandContext(t.Context(), self)
		c.Env = append(os.Environ(), noteAt+"="+dir, "HERMES_TEST_ID="+id)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		said, _ := bufio.NewReader(out).ReadString('\n')
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // it says that it was killed
		if said != "noted\n" {
			t.Fatalf("the other process says %q", said)
		}
	}
	old := filepath.Join(dir, "session-old")
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	if then := time.Now().Add(-8 * time.Hour); os.Chtimes(old, then, then) != nil {
		t.Fatal("the time cannot be set")
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var asked []string
	down := errors.New("it is down")
	look := func(err error) error {
		asked = nil
		return cloudbrowser.Left(dir, func(service, account, id string) error { asked = append(asked, service+" "+account+" "+id); return err })
	}
	if err := look(down); !errors.Is(err, down) {
		t.Errorf("it says %v", err)
	}
	if diff := cmp.Diff(asked, []string{"browser_use account killed"}); diff != "" {
		t.Error(diff)
	}
	if err := look(nil); err != nil || len(asked) != 1 {
		t.Errorf("tried again: %q, %v", asked, err)
	}
	if err := look(nil); err != nil || len(asked) != 0 {
		t.Errorf("after its release: %q, %v", asked, err)
	}
	if err := mine.Keep(); err != nil { // it could not be released
		t.Fatal(err)
	}
	if err := look(nil); err != nil || len(asked) != 1 || asked[0] != "browserbase account mine" {
		t.Errorf("one that was kept: %q, %v", asked, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := cloudbrowser.Left(filepath.Join(dir, "none"), nil); err != nil {
		t.Error(err)
	}
}

// TestAnotherKeyOrAddressIsAnotherAccount.
func TestAnotherKeyOrAddressIsAnotherAccount(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := client(t, s, "browserbase")
	usual := c.Account()
	c.At = strings.TrimSuffix(c.At, "/")
	if c.Account() != usual {
		t.Error("a final slash makes another account")
	}
	c.At = "https://api.example"
	if c.Account() == usual {
		t.Error("another address is the same account")
	}
	c = client(t, s, "browserbase")
	c.Secret = func() string { return "another" }
	if c.Account() == usual {
		t.Error("another key is the same account")
	}
}

// TestANoteHoldsNoSecret, and only its user reads it.
func TestANoteHoldsNoSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, err := cloudbrowser.Begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Opened("browser_use", client(t, newServer(t), "browser_use").Account(), "an-id"); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*", "session.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q, %v", found, err)
	}
	raw, err := os.ReadFile(found[0])
	if err != nil || !regexp.MustCompile(`^{"service":"browser_use","account":"[0-9a-f]{16}","id":"an-id"}$`).Match(raw) {
		t.Errorf("%s, %v", raw, err)
	}
	if err := n.Released(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
