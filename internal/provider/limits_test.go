package provider_test

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/credential"
	"hermes/internal/provider"
	"hermes/internal/ratelimit"
)

// TestLimitsAreKeptForEachKey: a refusal says them, too, and so does the service of
// a fallback model.
func TestLimitsAreKeptForEachKey(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	limited := func(next http.HandlerFunc, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			next(w, r)
		}
	}
	first, _ := scripted(t,
		limited(fails(429, "3600"), "x-ratelimit-limit-requests", "50", "x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "1h"),
		limited(fails(503, ""), "anthropic-ratelimit-unified-5h-utilization", "0.25"), fails(503, ""))
	second, _ := scripted(t, limited(says("ok"), "x-codex-primary-used-percent", "75", "x-codex-primary-window-minutes", "300"), says("ok"))
	store := credential.Open(credential.Config{Path: filepath.Join(t.TempDir(), "auth.json"), Now: func() time.Time { return now }})
	defer func() { _ = store.Close(context.Background()) }()
	for _, label := range []string{"home", "work"} {
		if _, err := store.Pool("custom:box", nil).Add(t.Context(), credential.New{Secret: hermes.Secret("key-of-" + label), Label: label}); err != nil {
			t.Fatal(err)
		}
	}
	cfg := provider.Config{
		Selection: provider.Selection{Model: "box:m"}, Custom: map[string]provider.Custom{"box": {BaseURL: first.URL + "/v1"}}, Patience: provider.Patience{Retries: -1},
		Credentials: provider.Credentials{Keys: func(pool string, given []hermes.Key) hermes.Keys { return store.Pool(pool, given) }},
		System:      provider.System{Now: func() time.Time { return now }, Rand: func() float64 { return 0 }, Sleep: func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }},
		Fallback:    []provider.Selection{{Provider: "other", Model: "n", BaseURL: second.URL + "/v1", Key: "k"}},
	}
	c := mustNew(t, cfg)
	if list, _ := c.Limits(); len(list) > 0 {
		t.Errorf("before the first call: %+v", list)
	}
	for range 2 { // the second answer says nothing, and what is known stays
		if _, _, err := collect(t, c); err != nil {
			t.Fatal(err)
		}
	}
	got, at := c.Limits()
	for i := range got {
		if got[i].Seen != now {
			t.Errorf("%+v was not read now", got[i])
		}
		got[i].Seen = time.Time{}
		if got[i].Service == "other" {
			got[i].Key = ""
		}
	}
	want := []ratelimit.Status{
		{Service: "custom:box", Key: "home", Windows: []ratelimit.Window{{Name: "requests", Limit: 50, Left: 0, Used: 1, Reset: now.Add(time.Hour)}}},
		{Service: "custom:box", Key: "work", Windows: []ratelimit.Window{{Name: "5 hours", Plan: true, Limit: -1, Left: -1, Used: 0.25}}},
		{Service: "other", Windows: []ratelimit.Window{{Name: "5 hours", Plan: true, Limit: -1, Left: -1, Used: 0.75}}},
	}
	if d := cmp.Diff(want, got); d != "" || at != now {
		t.Errorf("-want +got:\n%s", d)
	}
}
