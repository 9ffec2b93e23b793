package hermes_test

import (
	"math"
	"testing"

	"hermes"
)

func TestMoneyIsWritten(t *testing.T) {
	t.Parallel()
	for m, want := range map[hermes.Money]string{
		0: "$0.00", 1: "$0.000001", 1500: "$0.0015", 20_000: "$0.02", 99_849: "$0.0998", 37_194: "$0.0372", 100_000: "$0.10",
		1_234_567: "$1.23", 1_995_000: "$2.00", -2_500_000: "-$2.50", 12_000_000_000: "$12000.00",
		math.MaxInt64: "$9223372036854.77", math.MinInt64: "-$9223372036854.77",
	} {
		if got := m.String(); got != want {
			t.Errorf("%d micro-dollars: got %q, want %q", int64(m), got, want)
		}
	}
	for usd, want := range map[float64]hermes.Money{0.1: 100_000, 3: 3_000_000, -0.5: -500_000, 0.0000005: 1} {
		if got := hermes.USD(usd); got != want {
			t.Errorf("USD(%v) is %d, want %d", usd, got, want)
		}
	}
}

func TestPricesBecomeMoney(t *testing.T) {
	t.Parallel()
	sonnet := hermes.Price{Input: hermes.USD(3), Output: hermes.USD(15), CacheRead: hermes.USD(0.30), CacheWrite: hermes.USD(3.75), CacheWriteLong: hermes.USD(6),
		Above: []hermes.PriceTier{{Prompt: 200_000, Price: hermes.Price{Input: hermes.USD(6), Output: hermes.USD(22.50), CacheRead: -1, CacheWrite: -1, CacheWriteLong: -1}}}}
	for _, c := range []struct {
		name  string
		price hermes.Price
		usage hermes.Usage
		long  bool
		want  hermes.Money
		known bool
	}{
		{"each kind at its rate", sonnet, hermes.Usage{Input: 1000, Output: 100, CacheRead: 10_000, CacheWrite: 400}, false, 3000 + 1500 + 3000 + 1500, true},
		{"an hour's cache costs more", sonnet, hermes.Usage{CacheWrite: 400}, true, 2400, true},
		{"a long prompt has its own price", sonnet, hermes.Usage{Input: 200_001}, false, 1_200_006, true},
		{"several calls are not one long prompt", sonnet, hermes.Usage{Input: 300_000, Calls: 2}, false, 900_000, true},
		{"cached tokens without a rate make it unknown", sonnet, hermes.Usage{Input: 200_001, CacheRead: 1}, false, 0, false},
		{"a rate that is not needed may be unknown", hermes.Price{Input: 1_000_000, Output: 1_000_000, CacheRead: -1, CacheWrite: -1}, hermes.Usage{Input: 5, Output: 5}, false, 10, true},
		{"free is known", hermes.Price{}, hermes.Usage{Input: 5, Output: 5, CacheRead: 5}, false, 0, true},
		{"half a millionth is rounded", hermes.Price{Input: 500_000}, hermes.Usage{Input: 1}, false, 1, true},
	} {
		got, known := c.price.Cost(c.usage, c.long)
		if got != c.want || known != c.known {
			t.Errorf("%s: got %v %v, want %v %v", c.name, int64(got), known, int64(c.want), c.known)
		}
	}
}

// TestUnknownCacheRatesMakeNothingFree: a cap must hold although nobody knows what
// the cache costs.
func TestUnknownCacheRatesMakeNothingFree(t *testing.T) {
	t.Parallel()
	usd := hermes.USD
	u := hermes.Usage{Input: 1e6, Output: 1e6, CacheRead: 1e6, CacheWrite: 1e6, Calls: 4}
	for _, c := range []struct {
		name  string
		price hermes.Price
		long  bool
		want  hermes.Money
		known bool
	}{
		{"all rates known", hermes.Price{Input: usd(1), Output: usd(10), CacheRead: usd(0.1), CacheWrite: usd(1.25), CacheWriteLong: usd(2)}, false, usd(12.35), true},
		{"reading unknown: as input", hermes.Price{Input: usd(1), Output: usd(10), CacheRead: -1, CacheWrite: usd(1.25)}, false, usd(13.25), true},
		{"writing unknown: the dearest", hermes.Price{Input: usd(1), Output: usd(10), CacheRead: usd(0.1), CacheWrite: -1, CacheWriteLong: usd(2)}, false, usd(13.1), true},
		{"writing for an hour unknown: twice", hermes.Price{Input: usd(1), Output: usd(10), CacheRead: usd(0.1), CacheWrite: usd(1.25), CacheWriteLong: -1}, true, usd(13.1), true},
		{"writing for an hour unknown, a dear write", hermes.Price{Input: usd(1), Output: usd(10), CacheRead: usd(0.1), CacheWrite: usd(3), CacheWriteLong: -1}, true, usd(14.1), true},
		{"no rate of the cache known", hermes.Price{Input: usd(1), Output: usd(10), CacheRead: -1, CacheWrite: -1, CacheWriteLong: -1}, false, usd(13.25), true},
		{"no rate of the cache known, for an hour", hermes.Price{Input: usd(1), Output: usd(10), CacheRead: -1, CacheWrite: -1, CacheWriteLong: -1}, true, usd(14), true},
		{"output unknown: the rest counts", hermes.Price{Input: usd(1), Output: -1, CacheRead: -1, CacheWrite: -1}, false, usd(3.25), false},
		{"nothing known", hermes.Price{Input: -1, Output: -1, CacheRead: -1, CacheWrite: -1, CacheWriteLong: -1}, false, 0, false},
	} {
		if got, known := c.price.AtMost(u, c.long); got != c.want || known != c.known {
			t.Errorf("%s: got %v %v, want %v %v", c.name, got, known, c.want, c.known)
		}
	}
	tier := hermes.Price{Input: usd(1), CacheRead: -1, Above: []hermes.PriceTier{{Prompt: 200_000, Price: hermes.Price{Input: usd(2), CacheRead: -1}}}}
	if got, _ := tier.AtMost(hermes.Usage{CacheRead: 1e6, Calls: 1}, false); got != usd(2) {
		t.Errorf("in a tier for long prompts: %v", got)
	}
}

// TestAbsurdNumbersStayInRange: no sum of what services count becomes negative.
func TestAbsurdNumbersStayInRange(t *testing.T) {
	t.Parallel()
	const most = math.MaxInt64
	huge := hermes.Usage{Input: most, Output: most, CacheRead: most, CacheWrite: most, Reasoning: most, Calls: most}
	if got := huge.Add(huge); got != huge {
		t.Errorf("the sum is %+v", got)
	}
	if huge.Total() != most || huge.Prompt() != most {
		t.Errorf("%d in total, %d of the prompt", huge.Total(), huge.Prompt())
	}
	price := hermes.Price{Input: hermes.USD(3), Output: hermes.USD(15), CacheRead: hermes.USD(0.3), CacheWrite: hermes.USD(3.75)}
	if cost, known := price.Cost(huge, false); cost < hermes.USD(1e6) || !known {
		t.Errorf("it costs %v, %v", cost, known)
	}
	if cost, _ := price.Cost(hermes.Usage{Input: -5_000_000, Output: 1_000_000}, false); cost != hermes.USD(15) {
		t.Errorf("a negative count is worth %v", cost)
	}
	a := hermes.Amount{Money: most, Tokens: most}
	if a.Add(a) != a || a.Sub(a) != (hermes.Amount{}) || (hermes.Amount{}).Sub(hermes.Amount{Money: math.MinInt64}).Money != most {
		t.Error("amounts overflow")
	}
	for dollars, want := range map[float64]hermes.Money{1e300: most, -1e300: -most, math.Inf(1): most, math.Inf(-1): -most} {
		if got := hermes.USD(dollars); got != want {
			t.Errorf("%v dollars are %d", dollars, got)
		}
	}
	if hermes.USD(math.NaN()) != 0 {
		t.Error("no number is money")
	}
}
