package external_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/memory/external"
)

// TestServicesFollowNoRedirectToAnotherHost lets each service move to another
// host, which must get neither the key nor the conversation.
func TestServicesFollowNoRedirectToAnotherHost(t *testing.T) {
	t.Parallel()
	for _, r := range remotes() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			away := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
				t.Errorf("the other host got %s %s with %q", req.Method, req.URL, req.Header.Get("Authorization"))
			}))
			t.Cleanup(away.Close)
			asked := 0
			home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				asked++
				http.Redirect(w, req, away.URL+req.URL.Path, http.StatusTemporaryRedirect)
			}))
			t.Cleanup(home.Close)
			p := r.open(external.Access{BaseURL: home.URL, Key: "key-1", User: "ada", Agent: "hermes", HTTP: &http.Client{}, Pause: time.Nanosecond})
			err := p.Observe(t.Context(), hermes.MemoryTurn{Session: hermes.SessionRef{ID: "s"}, Said: "I like tea", Answer: "noted"})
			if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(away.URL, "http://")) || !strings.Contains(err.Error(), "base URL") {
				t.Errorf("error %v", err)
			}
			if asked != 1 {
				t.Errorf("%d requests, want no retry", asked)
			}
		})
	}
}
