package provider_test

import (
	"context"
	"testing"
	"time"

	"hermes"
	"hermes/internal/provider"
)

// TestAttendedRequestsWaitLess than others of the same catalogue: no user waits for an
// hour, while a late answer to a run without a user is better than none.
func TestAttendedRequestsWaitLess(t *testing.T) {
	t.Parallel()
	for _, fallback := range []bool{false, true} {
		for _, attended := range []bool{true, false} {
			srv, _ := scripted(t, fails(429, "3600"), says("late"))
			c, waits := patient(t, srv.URL, func(cfg *provider.Config) {
				cfg.UnattendedWait = 6 * time.Hour
				if fallback { // which fails, too, so that the chain waits for the first
					cfg.Fallback = []provider.Selection{{Provider: "unknown", Model: "n"}}
					now := time.Unix(0, 0)
					sleep := cfg.Sleep
					cfg.Now = func() time.Time { return now }
					cfg.Sleep = func(ctx context.Context, d time.Duration) error { now = now.Add(d); return sleep(ctx, d) }
				}
			})
			model, err := c.Model(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			_, err = hermes.Collect(model.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}, Attended: attended}))
			if waited := len(*waits) == 1 && (*waits)[0] >= time.Hour; waited == attended || (err == nil) == attended {
				t.Errorf("fallback %t, attended %t: waited %v, %v", fallback, attended, *waits, err)
			}
		}
	}
}
