package app_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/app"
)

func TestPrivatePagesNeedTheSwitch(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "some text, sk-proj-abcdefghijklmnopqrstuvwxyz0123456789abcd")
	}))
	defer s.Close()
	for _, c := range []struct {
		config, variable string
		want             bool
	}{
		{"", "", false}, {"", "false", false}, {"", "1", true}, {"", "yes", true},
		{"security:\n  allow_private_urls: true\n", "", true},
		{"security:\n  allow_private_urls: \"true\"\n", "", true},
		{"security:\n  allow_private_urls: \"false\"\n", "", false},
		{"security:\n  allow_private_urls: false\n", "", false},
	} {
		home, dir := t.TempDir(), t.TempDir()
		writeFile(t, filepath.Join(home, "config.yaml"), c.config)
		a := app.New(app.Options{
			Home: home,
			Getenv: func(name string) string {
				if name == "HERMES_ALLOW_PRIVATE_URLS" {
					return c.variable
				}
				return ""
			},
		})
		defer a.Close()
		var notices []string
		e, err := a.References(t.Context(), "look at @url:"+s.URL, dir, "", func(s string) { notices = append(notices, s) })
		if got := strings.Contains(e.Attached, "some text"); got != c.want || strings.Contains(e.Attached, "abcdefgh") || err != nil {
			t.Errorf("%q, variable %q: %+v, %v", c.config, c.variable, e, err)
		}
		if !c.want && (len(e.Warnings) != 1 || !strings.Contains(e.Warnings[0], "security.allow_private_urls") || len(notices) > 0) {
			t.Errorf("%q, variable %q: warnings %q, notices %q", c.config, c.variable, e.Warnings, notices)
		}
	}
}
