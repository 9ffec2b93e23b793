package command_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/command"
	"hermes/internal/session"
	"hermes/internal/spend"
)

// meter is a governor with these caps and the spending of one session.
func meter(t *testing.T, caps spend.Caps, dollars float64) *spend.Governor {
	t.Helper()
	g := spend.New(spend.Config{
		Ledger: func(l hermes.Ledger) func(context.Context) (hermes.Ledger, error) {
			return func(context.Context) (hermes.Ledger, error) { return l, nil }
		}(hermestest.NewLedger()),
		Caps:  caps,
		Price: func(string) (hermes.Price, bool) { return hermes.Price{Input: hermes.USD(1e6)}, dollars > 0 },
		Now:   func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) },
	})
	usage := hermes.Usage{Input: int64(max(dollars, 1)), Output: 1, Calls: 1}
	m := g.Caps(g.Meter(hermestest.NewScript(hermestest.Step{Text: "ok", Usage: &usage})))
	if _, err := hermes.Collect(m.Stream(t.Context(), &hermes.Request{Session: "s1"})); err != nil {
		t.Fatal(err)
	}
	return g
}

func run(t *testing.T, g *spend.Governor, line string) (string, error) {
	t.Helper()
	f := &fake{state: session.State{Row: hermes.Session{ID: "s1", Usage: hermes.Usage{Input: 4}}}}
	call := command.Call{Session: f, Where: command.Messenger}
	if g != nil {
		call.Spend = g
	}
	r, err := command.Run(t.Context(), line, call)
	return r.Text, err
}

func wantIn(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q does not say %q", text, w)
		}
	}
}

func TestBudgetShowsAndRaises(t *testing.T) {
	t.Parallel()
	g := meter(t, spend.Caps{hermes.AccountSession: {Money: hermes.USD(10)}, hermes.AccountDay: {Tokens: 10_000}}, 4)
	text, err := run(t, g, "/budget")
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, text, "| this session | $4.00 | 5 | $10.00 | 40 % |", "| today | $4.00 | 5 | 10.0k tokens | 0 % |", "| this month | $4.00 | 5 |  |  |", "/budget raise")
	for line, want := range map[string]string{
		"/budget raise session 6":     "$16.00",
		"/budget raise day 1k tokens": "11.0k tokens",
	} {
		if text, err = run(t, g, line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		wantIn(t, text, want)
	}
	if text, err = run(t, g, "/budget raise 4"); err != nil { // the session's
		t.Fatal(err)
	}
	wantIn(t, text, "$20.00", "20 %")
	for line, want := range map[string]string{
		"/budget lower session 5":   "/budget raise",
		"/budget raise":             "by how much",
		"/budget raise session":     "by how much",
		"/budget raise month 5":     "hermes config set spend.month.usd",
		"/budget raise session 5k":  "hermes config set spend.session.tokens",
		"/budget raise session lot": "not an amount",
	} {
		if _, err := run(t, g, line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", line, err, want)
		}
	}
	if _, err := run(t, nil, "/budget"); err == nil {
		t.Error("something is shown without spending")
	}
}

func TestUsageShowsKnownCosts(t *testing.T) {
	t.Parallel()
	text, err := run(t, meter(t, nil, 4), "/usage")
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, text, "| cost with side tasks | $4.00 |")
	if text, err = run(t, meter(t, nil, 0), "/usage"); err != nil || strings.Contains(text, "cost") {
		t.Errorf("an unknown cost is shown: %q, %v", text, err)
	}
	if text, err = run(t, meter(t, nil, 0), "/budget"); err != nil {
		t.Fatal(err)
	}
	wantIn(t, text, "plus calls without a known price", "No cap is set")
}

func TestInsightsSumTheLastDays(t *testing.T) {
	t.Parallel()
	text, err := run(t, meter(t, nil, 4), "/insights 7")
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, text, "In the last 7 days", "$4.00", "| `script:test` | 1 | 5 | $4.00 |")
	for _, line := range []string{"/insights none", "/insights 0"} {
		if _, err := run(t, meter(t, nil, 4), line); err == nil {
			t.Errorf("%s is taken", line)
		}
	}
}
