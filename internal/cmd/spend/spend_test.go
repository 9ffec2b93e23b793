package spend_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	cmd "hermes/internal/cmd/spend"
	"hermes/internal/spend"
	"hermes/internal/store"
)

// run executes the command on a ledger with two sessions.
func run(t *testing.T, caps spend.Caps, args ...string) (string, error) {
	t.Helper()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	l := hermestest.NewLedger()
	g := spend.New(spend.Config{
		Ledger:   func(context.Context) (hermes.Ledger, error) { return l, nil },
		Caps:     caps,
		Price:    func(ref string) (hermes.Price, bool) { return hermes.Price{Input: hermes.USD(1000)}, ref == "p:a" },
		Location: time.UTC, Now: func() time.Time { return now },
	})
	for _, c := range []struct{ model, session, purpose string }{{"p:a", "s1", ""}, {"p:a", "s1", "title"}, {"p:b", "s2", ""}} {
		m := g.Caps(g.Meter(hermestest.NewScript(hermestest.Step{Text: "ok", Usage: &hermes.Usage{Input: 1500, Output: 1, Calls: 1}}).Named(c.model)))
		if _, err := hermes.Collect(m.Stream(t.Context(), &hermes.Request{Session: c.session, Purpose: c.purpose})); err != nil {
			t.Fatal(err)
		}
	}
	f := factory.New(app.Options{}, factory.IO{})
	f.Store = func(context.Context) (store.Database, error) { return sessions{}, nil }
	root := cmd.NewCmd(f, g)
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(args)
	root.SilenceUsage = true
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func wantIn(t *testing.T, out string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(out, w) {
			t.Errorf("%q is not in:\n%s", w, out)
		}
	}
}

func TestSpendShowsCapsAndGroups(t *testing.T) {
	t.Parallel()
	caps := spend.Caps{hermes.AccountDay: {Money: hermes.USD(10)}, hermes.AccountMonth: {Tokens: 100_000}}
	for by, words := range map[string][]string{
		"model":   {"p:a", "$3.00", "p:b", "unknown", "more than $3.00"},
		"session": {"s1", "s2"},
		"purpose": {"conversation", "title"},
		"day":     {"2026-11-20"},
	} {
		out, err := run(t, caps, "--by", by, "--days", "3")
		if err != nil {
			t.Fatal(err)
		}
		wantIn(t, out, append(words, "today", "$3.00", "$10.00", "30 %", "until 2026-11-21 00:00", "100k tokens", "Since 2026-11-18", "does not include 1 call without a known price")...)
	}
	out, err := run(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, out, "No caps are set", "hermes config set spend.day.usd")
	if out, err = run(t, nil, "--session", "s1"); err != nil || strings.Contains(out, "p:b") || !strings.Contains(out, "this session") {
		t.Errorf("of one session: %v\n%s", err, out)
	}
	for _, args := range [][]string{{"--by", "weather"}, {"--days", "0"}} {
		if _, err := run(t, nil, args...); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

func TestSpendAsJSON(t *testing.T) {
	t.Parallel()
	out, err := run(t, spend.Caps{hermes.AccountDay: {Money: hermes.USD(10)}}, "--json")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Caps []struct {
			Kind string   `json:"kind"`
			Used float64  `json:"used_usd"`
			Cap  *float64 `json:"cap_usd"`
		} `json:"caps"`
		Total struct {
			Calls, Tokens int64
			Cost          float64 `json:"cost_usd"`
			Unpriced      int64   `json:"unpriced_calls"`
		} `json:"total"`
		Groups []struct{ Name string } `json:"groups"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Caps[0].Kind != "day" || *got.Caps[0].Cap != 10 || got.Caps[0].Used != 3 || got.Caps[1].Cap != nil ||
		got.Total.Calls != 3 || got.Total.Tokens != 4503 || got.Total.Cost != 3 || got.Total.Unpriced != 1 || len(got.Groups) != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestRaising(t *testing.T) {
	t.Parallel()
	caps := spend.Caps{hermes.AccountDay: {Money: hermes.USD(10)}, hermes.AccountSession: {Tokens: 10_000}}
	out, err := run(t, caps, "raise", "day", "2.50")
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, out, "Raised the day cap by $2.50")
	if out, err = run(t, caps, "raise", "session", "20k", "tokens", "--name", "s1"); err != nil {
		t.Fatal(err)
	}
	wantIn(t, out, "20.0k tokens")
	for want, args := range map[string][]string{
		"--name":              {"raise", "session", "20k"},
		"not an amount":       {"raise", "day", "much"},
		"no money cap is set": {"raise", "month", "5"},
		"unknown cap":         {"raise", "week", "5"},
		"use day, month":      {"raise", "week", "5", "--name", "x"},
		"the cap of a turn":   {"raise", "turn", "5"},
	} {
		if _, err := run(t, caps, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", args, err, want)
		}
	}
}

// sessions finds the session s1 by its title, and no other.
type sessions struct{ store.Database }

func (sessions) FindSession(_ context.Context, ref string) (hermes.Session, error) {
	if ref == "a title" {
		return hermes.Session{ID: "s1"}, nil
	}
	return hermes.Session{}, hermes.ErrNotFound
}

func TestSpendOfOneSession(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{
		"a title": "p:a",
		"s2":      "p:b", // deleted, and still in the ledger
	} {
		out, err := run(t, nil, "--session", ref)
		if err != nil {
			t.Fatal(err)
		}
		wantIn(t, out, want)
	}
	if _, err := run(t, nil, "--session", "nope"); err == nil || !strings.Contains(err.Error(), `there is no session "nope"`) {
		t.Errorf("got %v", err)
	}
}
