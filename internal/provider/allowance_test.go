package provider_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/provider"
)

// TestARequestOverTheLimitOfAMinuteIsShortened: it is asked once, and the next one
// fits; a limit that other requests used up is waited for.
func TestARequestOverTheLimitOfAMinuteIsShortened(t *testing.T) {
	t.Parallel()
	refuses := func(used, requested int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprintf(w, `{"error":{"message":"Request too large for m on tokens per min (TPM): Limit 30000, Used %d, Requested %d. The input or output tokens must be reduced.","type":"tokens","code":"rate_limit_exceeded"}}`, used, requested)
		}
	}
	for _, tt := range []struct {
		name   string
		set    int // the window
		steps  []http.HandlerFunc
		class  hermes.Class
		window int // that is known afterwards
	}{
		{"alone over it", 0, []http.HandlerFunc{refuses(0, 45_000)}, hermes.ClassOverflow, 30_000},
		{"alone over it, in a window that was set", 400_000, []http.HandlerFunc{refuses(0, 45_000)}, hermes.ClassOverflow, 400_000},
		{"over what is left of it", 0, []http.HandlerFunc{refuses(20_000, 15_000), says("ok")}, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, asked := scripted(t, tt.steps...)
			c, _ := patient(t, srv.URL+"/v1", func(cfg *provider.Config) { cfg.ContextLength = tt.set })
			m, err := c.Model(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			_, err = hermes.Collect(m.Stream(t.Context(), sized(40_000)))
			if len(*asked) != len(tt.steps) || tt.class == "" && err != nil || tt.class != "" && hermes.ClassOf(err) != tt.class {
				t.Errorf("asked %d times: %v", len(*asked), err)
			}
			if got := c.Window(m.ID()); got != tt.window {
				t.Errorf("window %d, want %d", got, tt.window)
			}
		})
	}
}

// TestALimitOfZeroIsNotWaitedFor: the model is asked once with each key, then the next
// one answers, or the turn fails and says why.
func TestALimitOfZeroIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	zero := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, said("Rate limit reached for m in organization org-a on tokens per min (TPM): Limit 0, Used 0, Requested 1200. Please try again in 6s."))
	}
	for _, tt := range []struct {
		name     string
		keys     []string
		fallback bool
		steps    []http.HandlerFunc
		answered bool
	}{
		{"nothing else", []string{"a"}, false, []http.HandlerFunc{zero}, false},
		{"another key", []string{"a", "b"}, false, []http.HandlerFunc{zero, says("ok")}, true},
		{"another model", []string{"a"}, true, []http.HandlerFunc{zero, says("ok")}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, asked := scripted(t, tt.steps...)
			keys := newRing(tt.keys...)
			keys.end = &hermes.ModelError{Message: "no key is left"}
			c, waits := patient(t, srv.URL+"/v1", func(cfg *provider.Config) {
				if !tt.fallback {
					cfg.Keys = func(string, []hermes.Key) hermes.Keys { return keys }
				} else {
					cfg.Fallback = []provider.Selection{{Model: "other", BaseURL: srv.URL + "/v1", Key: "k"}}
				}
			})
			_, _, err := collect(t, c)
			if (err == nil) != tt.answered || len(*asked) != len(tt.steps) || len(*waits) > 0 {
				t.Errorf("asked %d times, waited %v: %v", len(*asked), *waits, err)
			}
			if err != nil && (!strings.Contains(err.Error(), "its limit is 0") || !strings.Contains(err.Error(), "use another model")) {
				t.Errorf("got %v", err)
			}
		})
	}
}
