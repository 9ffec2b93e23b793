package insights_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/cmd/insights"
	"hermes/internal/store"
)

// ledger answers with what it was given.
type ledger struct {
	store.Database // the methods that are not called

	active hermes.Active
	spent  []hermes.Spending
	since  time.Time
	source string
}

func (s *ledger) Activity(_ context.Context, since time.Time, source string) (hermes.Active, error) {
	s.since, s.source = since, source
	return s.active, nil
}

func (s *ledger) Spent(_ context.Context, q hermes.SpendQuery) ([]hermes.Spending, error) {
	if !q.After.Equal(s.since) || q.Platform != s.source {
		return nil, errors.New("the ledger is asked about another time or source")
	}
	return s.spent, nil
}

func busy() *ledger {
	return &ledger{
		active: hermes.Active{
			Sessions: 4, Turns: 9, Messages: 30, Calls: 8, Usage: hermes.Usage{Input: 3000, Output: 1000, Calls: 9},
			ByPlatform: map[string]int{"cli": 3, "telegram": 1},
			ByModel:    map[string]hermes.ModelActivity{"p:a": {Sessions: 4, Usage: hermes.Usage{Input: 3000, Output: 1000}}},
			Tools:      []hermes.ToolActivity{{Name: "terminal", Calls: 6, Failed: 2}, {Name: "read_file", Calls: 2}},
		},
		spent: []hermes.Spending{
			{Name: "p:a", Money: hermes.USD(1.5), Calls: 9, Usage: hermes.Usage{Input: 2000}},
			{Name: "p:side", Usage: hermes.Usage{Input: 1000}, Calls: 3, Unpriced: 3},
		},
	}
}

func run(t *testing.T, s *ledger, args ...string) (string, error) {
	t.Helper()
	f := factory.New(app.Options{}, factory.IO{})
	f.Reader = func(context.Context) (store.Database, error) { return s, nil }
	f.Now = func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.Local) }
	cmd := insights.NewCmd(f)
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestInsightsShowSharesAndCost(t *testing.T) {
	t.Parallel()
	s := busy()
	out, err := run(t, s, "--days", "7", "--source", "cli")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Since 2026-11-13 (cli)", "sessions      4", "4.0k", "telegram  1", "25 %", "p:a", "80 %", "$1.50", "p:side", "unknown", "terminal   6      75 %   2"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
	if s.source != "cli" || !s.since.Equal(time.Date(2026, 11, 13, 12, 0, 0, 0, time.Local)) {
		t.Errorf("the store was asked for %q since %v", s.source, s.since)
	}
}

func TestInsightsAsJSON(t *testing.T) {
	t.Parallel()
	out, err := run(t, busy(), "--json")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Days     int     `json:"days"`
		Sessions int     `json:"sessions"`
		Tokens   int64   `json:"tokens"`
		Cost     float64 `json:"cost_usd"`
		Unpriced int64   `json:"unpriced_calls"`
		Models   []struct {
			Name  string  `json:"name"`
			Share float64 `json:"share"`
		} `json:"by_model"`
		Tools []struct {
			Share float64 `json:"share"`
		} `json:"tools"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Days != 30 || got.Sessions != 4 || got.Tokens != 4000 || got.Cost != 1.5 || got.Unpriced != 3 ||
		got.Models[0].Name != "p:a" || got.Models[0].Share != 0.8 || got.Tools[0].Share != 0.75 {
		t.Errorf("got %+v", got)
	}
}

func TestInsightsWithoutActivity(t *testing.T) {
	t.Parallel()
	out, err := run(t, &ledger{})
	if err != nil || !strings.Contains(out, "No activity") {
		t.Errorf("got %q, %v", out, err)
	}
	if out, err = run(t, &ledger{}, "--json"); err != nil || !strings.Contains(out, `"by_model": []`) {
		t.Errorf("got %q, %v", out, err)
	}
	if _, err := run(t, &ledger{}, "--days", "0"); err == nil {
		t.Error("--days 0 was accepted")
	}
}
