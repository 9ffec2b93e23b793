package app_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/provider"
)

// TestSideTasksAreRoutedToo: what the user forbids holds for the calls that the
// conversation does not show.
func TestSideTasksAreRoutedToo(t *testing.T) {
	t.Parallel()
	s := serve(t, "A title")
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "config.yaml"), "model: {default: 'openrouter:vendor/m'}\nprovider_routing: {data_collection: deny}\n")
	if got := titleOf(t, dir, "cli", map[string]string{"OPENROUTER_API_KEY": "k", "OPENROUTER_BASE_URL": s.URL + "/v1"}); got == "" {
		t.Error("no title was asked for")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) < 2 {
		t.Errorf("%d requests", len(s.seen))
	}
	for i, r := range s.seen {
		if !strings.Contains(string(r.Body), `"provider":{"data_collection":"deny"}`) {
			t.Errorf("request %d goes anywhere", i)
		}
	}
}

// TestTiersAreThoseOfTheSetting: the setting takes what a service knows, and nothing else.
func TestTiersAreThoseOfTheSetting(t *testing.T) {
	t.Parallel()
	c := config.Load(home.At(t.TempDir()), config.Options{Managed: "-"})
	for _, tier := range append(provider.Tiers(), "priorty") {
		_, err := c.Set(t.Context(), "agent.service_tier", tier)
		if known := slices.Contains(provider.Tiers(), tier); known != (err == nil) {
			t.Errorf("%s: %v", tier, err)
		}
	}
}
