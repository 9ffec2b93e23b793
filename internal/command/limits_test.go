package command_test

import (
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/ratelimit"
	"hermes/internal/session"
)

func TestUsageShowsTheLimitsOfServices(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	in := func(d time.Duration) time.Time { return now.Add(d) }
	list := []ratelimit.Status{
		{Service: "anthropic", Key: "work | `x`", Windows: []ratelimit.Window{
			{Name: "5 hours", Plan: true, Limit: -1, Left: -1, Used: 0.42, Reset: in(130 * time.Minute)},
			{Name: "7 days", Plan: true, Limit: -1, Left: -1, Used: 0.004, Reset: in(96 * time.Hour)},
			{Name: "extra usage", Plan: true, Limit: -1, Left: -1, Used: 1.02},
		}},
		{Service: "openai", Windows: []ratelimit.Window{
			{Name: "requests", Limit: 60, Left: 60, Used: 0, Reset: in(900 * time.Millisecond)},
			{Name: "tokens", Limit: 150_000, Left: 75_000, Used: 0.5, Reset: in(6 * time.Minute)},
			{Name: "tokens per day", Limit: 2_000_000, Left: -1, Used: -1},
			{Name: "images", Limit: -1, Left: 3, Used: -1, Reset: in(59 * time.Second)},
		}},
	}
	want := `
| limits of anthropic (work / 'x') | used | left | resets |
|---|---:|---:|---|
| 5 hours | 42 % |  | at 14:10, in 2 h 10 min |
| 7 days | <1 % |  | on Tue 24 Nov, 12:00 |
| extra usage | 102 % |  |  |

| limits of openai | used | left | resets |
|---|---:|---:|---|
| requests | 0 % | 60 of 60 | in 1 s |
| tokens | 50 % | 75.0k of 150k | in 6 min |
| tokens per day |  | of 2.0M |  |
| images |  | 3 | in 59 s |
`
	usage := func(row hermes.Session, list []ratelimit.Status) string {
		t.Helper()
		r, err := command.Run(t.Context(), "/usage", command.Call{Session: &fake{state: session.State{Row: row}}, Where: command.Terminal,
			Limits: func() ([]ratelimit.Status, time.Time) { return list, now }})
		if err != nil {
			t.Fatal(err)
		}
		return r.Text
	}
	used := hermes.Session{Usage: hermes.Usage{Input: 5, Calls: 1}}
	if got := usage(used, list); !strings.HasSuffix(got, want) {
		t.Errorf("got:\n%s\nwant at its end:\n%s", got, want)
	}
	if got := usage(hermes.Session{}, list); !strings.Contains(got, "| 5 hours | 42 %") { // an earlier session was told
		t.Errorf("before the first answer:\n%s", got)
	}
	if got := usage(used, nil); strings.Contains(got, "limits") {
		t.Errorf("without limits:\n%s", got)
	}
}
