package hermes_test

import (
	"testing"

	"hermes"
)

func TestMoneyIsWritten(t *testing.T) {
	t.Parallel()
	for m, want := range map[hermes.Money]string{
		0: "$0.00", 1: "$0.000001", 1500: "$0.0015", 20_000: "$0.02", 99_849: "$0.0998", 37_194: "$0.0372", 100_000: "$0.10",
		1_234_567: "$1.23", 1_995_000: "$2.00", -2_500_000: "-$2.50", 12_000_000_000: "$12000.00",
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
