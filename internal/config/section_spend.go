package config

import (
	"slices"
	"strconv"
	"strings"

	"hermes"
)

// Spend is the section spend: what model calls may cost. Zero means no cap.
type Spend struct {
	Turn    SpendCap `key:"turn" test:"internal/app.TestEveryCapStopsAnEndlessModel"`
	Session SpendCap `key:"session" test:"internal/app.TestEveryCapStopsAnEndlessModel"`
	Job     SpendCap `key:"job" planned:"cron"`                                       // all runs of a scheduled job
	Tree    SpendCap `key:"tree" test:"internal/app.TestEveryCapStopsAnEndlessModel"` // a session with all its sub-agents
	Day     SpendCap `key:"day" test:"internal/app.TestEveryCapStopsAnEndlessModel"`
	Month   SpendCap `key:"month" test:"internal/app.TestEveryCapStopsAnEndlessModel"`
	WarnAt  []string `key:"warn_at" default:"50,75,90" test:"internal/app.TestWarnAtSaysWhenYouAreTold"` // percentages of a cap
	// FlatRate lists services that are paid by a plan: their calls cost no money
	// and count only in tokens.
	FlatRate []string `key:"flat_rate" test:"internal/app.TestPricesAreTheUsersOwn"`
	// Prices are the prices of models that are unknown or have changed, by
	// reference ("provider:model") or by the model's name.
	Prices map[string]SpendPrice `key:"prices" test:"internal/app.TestPricesAreTheUsersOwn"`
}

// SpendCap limits money, in US dollars, and tokens of every kind. The largest amounts
// of money are far below those that could not be counted.
type SpendCap struct {
	USD    float64 `key:"usd" min:"0" max:"1000000000"`
	Tokens int     `key:"tokens" min:"0"`
}

// SpendPrice is in US dollars for a million tokens; less than zero means unknown.
type SpendPrice struct {
	Input      float64 `key:"input" default:"-1" min:"-1" max:"1000000000"`
	Output     float64 `key:"output" default:"-1" min:"-1" max:"1000000000"`
	CacheRead  float64 `key:"cache_read" default:"-1" min:"-1" max:"1000000000"`
	CacheWrite float64 `key:"cache_write" default:"-1" min:"-1" max:"1000000000"`
}

// Amount returns the cap as an amount.
func (c SpendCap) Amount() hermes.Amount {
	return hermes.Amount{Money: hermes.USD(c.USD), Tokens: int64(c.Tokens)}
}

// KnownPrices returns Prices, without those whose input or output is unknown.
func (s Spend) KnownPrices() map[string]hermes.Price {
	set := map[string]hermes.Price{}
	for name, p := range s.Prices {
		if p.Input >= 0 && p.Output >= 0 {
			write := rate(p.CacheWrite)
			set[name] = hermes.Price{Input: rate(p.Input), Output: rate(p.Output), CacheRead: rate(p.CacheRead), CacheWrite: write, CacheWriteLong: write}
		}
	}
	return set
}

// rate converts a price for a million tokens; less than zero means unknown.
func rate(usd float64) hermes.Money {
	if usd < 0 {
		return -1
	}
	return hermes.USD(usd)
}

// Spend returns the section spend.
func (c *Config) Spend() Spend { return section[Spend](c, "spend") }

// Percentages returns WarnAt as numbers from 1 to 100, lowest first, without
// invalid entries.
func (s Spend) Percentages() []int {
	var list []int
	for _, text := range s.WarnAt {
		if n, ok := percentage(text); ok {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// percentage reads an entry of WarnAt, such as 50 or 50%.
func percentage(text string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%")))
	return n, err == nil && n > 0 && n <= 100
}
