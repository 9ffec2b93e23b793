package app_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hermes/internal/app"
)

// TestWebsiteBlocklistRefusesPages: a host on the list, of the settings or of a shared file,
// is refused before it is looked up, also behind a redirect, with the rule that names it.
func TestWebsiteBlocklistRefusesPages(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "some text")
	}))
	defer s.Close()
	home, dir := t.TempDir(), t.TempDir()
	shared := filepath.Join(home, "shared.txt")
	writeFile(t, shared, "# of the team\n*.team.example\nno rule at all\n")
	writeFile(t, filepath.Join(home, "config.yaml"), `
security:
  allow_private_urls: true
  website_blocklist: {enabled: true, domains: [bad.example, "*.ru", "127.0.0.2"], shared_files: [shared.txt]}
`)
	now := time.Unix(1_700_000_000, 0)
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }, Now: func() time.Time { return now }})
	defer a.Close()
	fetch := func(address string) string {
		t.Helper()
		e, err := a.References(t.Context(), "look at @url:"+address, dir, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		return e.Attached + strings.Join(e.Warnings, "\n")
	}
	for address, want := range map[string]string{
		"http://bad.example/x":                      `the rule bad.example of security.website_blocklist.domains forbids it`,
		"http://BAD.example.:8080/x":                `the rule bad.example of security.website_blocklist.domains forbids it`,
		"https://shop.ru/":                          `the rule *.ru of security.website_blocklist.domains forbids it`,
		"https://a.team.example/":                   `the rule *.team.example of ` + shared + ` forbids it`,
		s.URL + "/?to=http://bad.example/":          `the rule bad.example`,
		s.URL + "/?to=http://[::ffff:127.0.0.2]/":   `the rule 127.0.0.2`,
		s.URL + "/?to=" + s.URL + "?to=//x.shop.ru": `the rule *.ru`,
		s.URL: "some text",
	} {
		if got := fetch(address); !strings.Contains(got, want) {
			t.Errorf("%s: %s", address, got)
		}
	}
	if asked.Load() == 0 {
		t.Error("no page was fetched")
	}
	writeFile(t, shared, "127.0.0.1\n")
	if got := fetch(s.URL); !strings.Contains(got, "some text") {
		t.Errorf("within 30 seconds: %s", got)
	}
	now = now.Add(30 * time.Second)
	if got := fetch(s.URL); !strings.Contains(got, "the rule 127.0.0.1 of "+shared) {
		t.Errorf("after 30 seconds: %s", got)
	}
	if err := os.Remove(shared); err != nil {
		t.Fatal(err)
	}
	now = now.Add(30 * time.Second)
	if got := fetch(s.URL); !strings.Contains(got, "the rule 127.0.0.1 of "+shared) {
		t.Errorf("without the file: %s", got)
	}
}

// A list that is not known could have any host.
func TestABlocklistThatCannotBeReadRefusesEverything(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		"enabled: true, shared_files: [missing.txt]":    "missing.txt",
		"enabled: true, domains: [\"a..b\"]":            "security.website_blocklist.domains",
		"enabled: yes please, domains: [other.example]": "security.website_blocklist.enabled",
		"enabled: [true], domains: [other.example]":     "security.website_blocklist.enabled",
		"enabled: true, domains: {a: other.example}":    "security.website_blocklist.domains",
		"enabled: true, domain: [other.example]":        "security.website_blocklist.domain",
		"Enabled: true, domains: [other.example]":       "security.website_blocklist.Enabled",
		"enabled: true, shared_files: {a: x}":           "security.website_blocklist.shared_files",
	} {
		home := t.TempDir()
		writeFile(t, filepath.Join(home, "config.yaml"), "security: {website_blocklist: {"+settings+"}}\n")
		a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
		defer a.Close()
		e, err := a.References(t.Context(), "look at @url:http://some.example/", t.TempDir(), "", nil)
		if got := strings.Join(e.Warnings, "\n"); err != nil || !strings.Contains(got, want) || !strings.Contains(got, "is blocked") {
			t.Errorf("%s: %q, %v", settings, got, err)
		}
	}
}

// TestRegistriesOfSkillsAreGuarded: the blocklist and the rules on private addresses hold for
// what the skills hub fetches, too.
func TestRegistriesOfSkillsAreGuarded(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]string{
		"blocked": "security: {website_blocklist: {enabled: true, domains: [\"*\"]}}\n",
		"private": "",
	} {
		home := t.TempDir()
		writeFile(t, filepath.Join(home, "config.yaml"), settings)
		reached := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if name == "blocked" {
				t.Error("a blocked registry was reached")
			}
			http.Redirect(w, &http.Request{}, "https://10.0.0.1/", http.StatusFound)
		}))
		defer reached.Close()
		a := app.New(app.Options{Home: home, Getenv: func(name string) string {
			return map[string]string{"GITHUB_API_URL": reached.URL, "CLAWHUB_URL": reached.URL, "SKILLS_API_URL": reached.URL}[name]
		}})
		defer a.Close()
		hub, err := a.SkillHub()
		if err != nil {
			t.Fatal(err)
		}
		_, err = hub.Fetch(t.Context(), "clawhub/some-skill")
		if err == nil || !strings.Contains(err.Error(), "is blocked") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
