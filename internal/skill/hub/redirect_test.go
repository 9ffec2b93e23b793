package hub_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hermes/internal/skill/guard"
	"hermes/internal/skill/hub"
)

// TestTheTokenStaysWithGitHub fetches an archive that GitHub keeps on another
// host, and publishes to a server that wants to pass the token on.
func TestTheTokenStaysWithGitHub(t *testing.T) {
	t.Parallel()
	var given []string
	away := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given = append(given, fmt.Sprint(r.Method, " ", r.URL.Path, r.Header["Authorization"], r.Header["X-Github-Api-Version"]))
		http.NotFound(w, r)
	}))
	t.Cleanup(away.Close)
	home := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer tok" {
			t.Errorf("%s without the token", r.URL.Path)
		}
		http.Redirect(w, r, away.URL+"/file", http.StatusTemporaryRedirect)
	}))
	t.Cleanup(home.Close)
	client := home.Client()
	client.Transport.(*http.Transport).TLSClientConfig.RootCAs.AddCert(away.Certificate())
	h := hub.New(hub.Config{Client: client, Token: "tok", Bases: hub.Bases{GitHub: home.URL}})
	if _, err := h.Fetch(t.Context(), "a/b/deep"); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("fetch: %v", err)
	}
	if len(given) != 1 || given[0] != "GET /file[] []" {
		t.Errorf("the other host got %q", given)
	}
	given = nil
	if _, err := h.Publish(t.Context(), "o/r", "pdf", []guard.File{{Path: "SKILL.md", Data: []byte("x")}}); err == nil || len(given) != 1 {
		t.Errorf("publish: %v; the other host got %q", err, given)
	}
}
