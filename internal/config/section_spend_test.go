package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/config"
)

func TestSpendIsRead(t *testing.T) {
	t.Parallel()
	c := load(setup(t, `
spend:
  session: {usd: 2.5}
  day:
    usd: 10
    tokens: 2000000
  warn_at: [90, "50%", 90]
  flat_rate: [mine]
  prices:
    mine:big: {input: 1, output: 2.5}
`, ""))
	got := c.Spend()
	want := config.Spend{
		Session: config.SpendCap{USD: 2.5}, Day: config.SpendCap{USD: 10, Tokens: 2_000_000},
		WarnAt: []string{"90", "50%", "90"}, FlatRate: []string{"mine"},
		Prices: map[string]config.SpendPrice{"mine:big": {Input: 1, Output: 2.5, CacheRead: -1, CacheWrite: -1}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if d := cmp.Diff([]int{50, 90}, got.Percentages()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int{50, 75, 90}, load(setup(t, "", "")).Spend().Percentages()); d != "" {
		t.Error(d)
	}
	if problems := texts(c.Check()); len(problems) != 0 {
		t.Errorf("the file has faults: %q", problems)
	}
}

func TestACapCannotBeNegative(t *testing.T) {
	t.Parallel()
	c := load(setup(t, "spend:\n  day: {usd: -1}\n", ""))
	if len(c.Check()) == 0 || c.Spend().Day.USD != 0 {
		t.Errorf("got %+v, %v", c.Spend().Day, c.Check())
	}
}
