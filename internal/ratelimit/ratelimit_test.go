package ratelimit_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/ratelimit"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// header reads lines "name: value".
func header(lines string) http.Header {
	h := http.Header{}
	for line := range strings.SplitSeq(lines, "\n") {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			h.Add(name, strings.TrimSpace(value))
		}
	}
	return h
}

func in(d time.Duration) time.Time { return noon.Add(d) }

func TestHeadersOfServices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, headers string
		want          []ratelimit.Window
	}{
		{"none", "content-type: text/event-stream\nretry-after: 5\nx-ratelimit-over-limit: no", nil},
		{"OpenAI", `
			x-ratelimit-limit-requests: 60
			x-ratelimit-remaining-requests: 45
			x-ratelimit-reset-requests: 1s
			x-ratelimit-limit-tokens: 150000
			x-ratelimit-remaining-tokens: 149984
			x-ratelimit-reset-tokens: 6m0s`, []ratelimit.Window{
			{Name: "requests", Limit: 60, Left: 45, Used: 0.25, Reset: in(time.Second)},
			{Name: "tokens", Limit: 150000, Left: 149984, Used: 16.0 / 150000, Reset: in(6 * time.Minute)},
		}},
		{"per minute and hour", `
			x-ratelimit-limit-requests: 100
			x-ratelimit-remaining-requests: 50
			x-ratelimit-reset-requests: 30
			x-ratelimit-limit-requests-1h: 1000
			x-ratelimit-remaining-requests-1h: 0
			x-ratelimit-reset-requests-1h: 1800.5`, []ratelimit.Window{
			{Name: "requests", Limit: 100, Left: 50, Used: 0.5, Reset: in(30 * time.Second)},
			{Name: "requests per hour", Limit: 1000, Left: 0, Used: 1, Reset: in(1800*time.Second + 500*time.Millisecond)},
		}},
		{"Cerebras", `
			x-ratelimit-limit-requests-day: 14400
			x-ratelimit-remaining-requests-day: 14400
			x-ratelimit-reset-requests-day: 33011.382867
			x-ratelimit-limit-tokens-minute: 60000
			x-ratelimit-remaining-tokens-minute: 30000`, []ratelimit.Window{
			{Name: "requests per day", Limit: 14400, Left: 14400, Used: 0, Reset: in(33011382867 * time.Microsecond)},
			{Name: "tokens per minute", Limit: 60000, Left: 30000, Used: 0.5},
		}},
		{"Groq", "x-ratelimit-remaining-tokens: 5990\nx-ratelimit-limit-tokens: 6000\nx-ratelimit-reset-tokens: 2m59.56s", []ratelimit.Window{
			{Name: "tokens", Limit: 6000, Left: 5990, Used: 10.0 / 6000, Reset: in(179560 * time.Millisecond)},
		}},
		{"OpenRouter", "X-RateLimit-Limit: 20\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1795177800000", []ratelimit.Window{
			{Name: "requests", Limit: 20, Left: 0, Used: 1, Reset: time.UnixMilli(1795177800000)},
		}},
		{"Together", "x-ratelimit-limit: 10\nx-ratelimit-remaining: 5\nx-ratelimit-reset: 1\nx-tokenlimit-limit: 3000\nx-tokenlimit-remaining: 2250", []ratelimit.Window{
			{Name: "requests", Limit: 10, Left: 5, Used: 0.5, Reset: in(time.Second)},
			{Name: "tokens", Limit: 3000, Left: 2250, Used: 0.25},
		}},
		{"the IETF's draft", "RateLimit-Limit: 100, 100;w=60\nRateLimit-Remaining: 25\nRateLimit-Reset: 50", []ratelimit.Window{
			{Name: "requests", Limit: 100, Left: 25, Used: 0.75, Reset: in(50 * time.Second)},
		}},
		{"the draft's structured headers", "RateLimit-Policy: \"default\";q=100;w=60\nRateLimit: \"default\";r=50;t=30", []ratelimit.Window{
			{Name: "requests", Limit: 100, Left: 50, Used: 0.5, Reset: in(30 * time.Second)},
		}},
		{"several policies, in lists and lines", `
			RateLimit-Policy: "requests-minute" ; q=10;w=60;pk=:c,d;=:, "tokens_day";qu="content-bytes, all";q=5000;w=86400
			RateLimit: "requests-minute";r=4; t=12
			RateLimit: "tokens_day";r=0`, []ratelimit.Window{
			{Name: "requests per minute", Limit: 10, Left: 4, Used: 0.6, Reset: in(12 * time.Second)},
			{Name: "tokens per day", Limit: 5000, Left: 0, Used: 1},
		}},
		{"a name with the characters of the syntax", `RateLimit: "a,b;r=9";r=1;t=5`, []ratelimit.Window{
			{Name: "a,b;r=9", Limit: -1, Left: 1, Used: -1, Reset: in(5 * time.Second)},
		}},
		{"the draft's earlier form", "RateLimit: limit=100, remaining=50, reset=50\nRateLimit-Policy: 100;w=60", []ratelimit.Window{
			{Name: "requests", Limit: 100, Left: 50, Used: 0.5, Reset: in(50 * time.Second)},
		}},
		{"structured nonsense", "RateLimit: \"\\\"open;r=1, \"x\";r=many;t=-1, ;;=, r\nRateLimit-Policy: \"x\";q;w", nil},
		{"Anthropic", `
			anthropic-ratelimit-requests-limit: 50
			anthropic-ratelimit-requests-remaining: 49
			anthropic-ratelimit-requests-reset: 2026-11-20T12:00:30Z
			anthropic-ratelimit-input-tokens-limit: 40000
			anthropic-ratelimit-input-tokens-remaining: 10000
			anthropic-ratelimit-input-tokens-reset: 2026-11-20T11:59:00Z`, []ratelimit.Window{
			{Name: "input tokens", Limit: 40000, Left: 10000, Used: 0.75, Reset: noon}, // a past time is now
			{Name: "requests", Limit: 50, Left: 49, Used: 0.02, Reset: in(30 * time.Second)},
		}},
		{"Anthropic's subscriptions", fmt.Sprintf(`
			anthropic-ratelimit-unified-status: allowed
			anthropic-ratelimit-unified-reset: %[1]d
			anthropic-ratelimit-unified-representative-claim: five_hour
			anthropic-ratelimit-unified-fallback-percentage: 0.5
			anthropic-ratelimit-unified-7d-status: allowed
			anthropic-ratelimit-unified-7d-utilization: 0.3
			anthropic-ratelimit-unified-7d-reset: %[2]d
			anthropic-ratelimit-unified-7d_opus-utilization: 1.02
			anthropic-ratelimit-unified-7d_opus-reset: 2026-11-27T12:00:00Z
			anthropic-ratelimit-unified-5h-status: allowed
			anthropic-ratelimit-unified-5h-utilization: 0.42
			anthropic-ratelimit-unified-5h-reset: %[1]d
			anthropic-ratelimit-unified-overage-status: rejected
			anthropic-ratelimit-unified-overage-utilization: 0.1`, in(3*time.Hour).Unix(), in(96*time.Hour).Unix()), []ratelimit.Window{
			{Name: "5 hours", Plan: true, Limit: -1, Left: -1, Used: 0.42, Reset: in(3 * time.Hour)},
			{Name: "7 days", Plan: true, Limit: -1, Left: -1, Used: 0.3, Reset: in(96 * time.Hour)},
			{Name: "7 days, opus", Plan: true, Limit: -1, Left: -1, Used: 1.02, Reset: in(7 * 24 * time.Hour)},
			{Name: "extra usage", Plan: true, Limit: -1, Left: -1, Used: 0.1},
		}},
		{"Codex", `
			x-codex-plan-type: plus
			x-codex-primary-used-percent: 6
			x-codex-primary-window-minutes: 300
			x-codex-primary-reset-after-seconds: 7200
			x-codex-primary-reset-at: 1
			x-codex-secondary-used-percent: 24.5
			x-codex-secondary-window-minutes: 10080
			x-codex-secondary-reset-at: ` + fmt.Sprint(in(24*time.Hour).Unix()) + `
			x-codex-credits-has-credits: False`, []ratelimit.Window{
			{Name: "5 hours", Plan: true, Limit: -1, Left: -1, Used: 0.06, Reset: in(2 * time.Hour)},
			{Name: "7 days", Plan: true, Limit: -1, Left: -1, Used: 0.245, Reset: in(24 * time.Hour)},
		}},
		{"Codex without lengths, and of a model", "x-codex-primary-used-percent: 6\nx-codex-gpt-5-primary-used-percent: 50\nx-codex-gpt-5-primary-window-minutes: 90", []ratelimit.Window{
			{Name: "90 minutes, gpt 5", Plan: true, Limit: -1, Left: -1, Used: 0.5},
			{Name: "primary", Plan: true, Limit: -1, Left: -1, Used: 0.06},
		}},
		{"nonsense", `
			x-ratelimit-limit-requests: many
			x-ratelimit-remaining-requests: -5
			x-ratelimit-reset-requests: soon
			x-ratelimit-limit-tokens: 1e400
			anthropic-ratelimit-unified-5h-utilization: NaN
			x-codex-primary-window-minutes: 300
			x-ratelimit-limit-` + strings.Repeat("a", 60) + `: 5`, nil},
		{"what can be read of a broken one", "x-ratelimit-limit-requests: 5\nx-ratelimit-remaining-requests: x\nx-ratelimit-reset-requests: 9e13", []ratelimit.Window{
			{Name: "requests", Limit: 5, Left: -1, Used: -1},
		}},
	} {
		got := ratelimit.Parse(header(c.headers), noon)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
	}
}

func TestABookKeepsTheNewestOfEachKey(t *testing.T) {
	t.Parallel()
	b := ratelimit.NewBook()
	left := func(n int) http.Header {
		return header(fmt.Sprintf("x-ratelimit-limit-requests: 10\nx-ratelimit-remaining-requests: %d\nx-ratelimit-reset-requests: 60s", n))
	}
	b.Read("openai", "home", left(9), noon)
	b.Read("openai", "work", left(3), noon)
	b.Read("groq", "", left(7), in(30*time.Second))
	b.Read("openai", "home", left(8), noon)
	b.Read("openai", "home", header("content-type: text/html"), noon) // says nothing
	var got []string
	for _, s := range b.Now(in(time.Second)) {
		got = append(got, fmt.Sprint(s.Service, " ", s.Key, " ", s.Windows[0].Left))
	}
	if d := cmp.Diff([]string{"groq  7", "openai home 8", "openai work 3"}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if list := b.Now(in(70 * time.Second)); len(list) != 1 || list[0].Service != "groq" {
		t.Errorf("windows that were reset are still shown: %+v", list)
	}
	for i := range 200 {
		b.Read("many", fmt.Sprint(i), left(1), in(time.Hour))
	}
	if n := len(b.Now(in(time.Hour))); n != 64 {
		t.Errorf("it keeps %d statuses", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("x-ratelimit-limit-requests", "5", "x-ratelimit-reset-requests", "6m0s")
	f.Add("anthropic-ratelimit-unified-5h-utilization", "0.4", "x-codex-primary-used-percent", "5")
	f.Fuzz(func(t *testing.T, a, x, b, y string) {
		for _, w := range ratelimit.Parse(http.Header{a: {x}, b: {y}}, noon) {
			if w.Name == "" || w.Limit < -1 || w.Left < -1 || w.Used < 0 && w.Used != -1 || !w.Reset.IsZero() && w.Reset.Before(noon) {
				t.Errorf("got %+v", w)
			}
		}
	})
}
