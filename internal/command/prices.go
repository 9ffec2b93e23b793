package command

import (
	"cmp"
	"fmt"
	"slices"

	"hermes"
	"hermes/internal/session"
)

// prices is what one token of the last request cost.
type prices struct {
	model       string
	price       hermes.Price
	known, free bool
	cached      float64 // of a token read from the cache, in dollars
	uncached    float64 // of any other token of the prompt, written to the cache or not; less than zero is unknown
}

// pricesOf finds the prices of the model that answered last. If a part of the
// prompt was written to the cache, uncached is the average of both rates.
func pricesOf(c *Call, st session.State) prices {
	t := prices{model: st.Row.Model}
	for _, m := range slices.Backward(st.Transcript) {
		if m.Usage != nil {
			t.model = cmp.Or(m.Model, t.model)
			break
		}
	}
	if c.Spend == nil || t.model == "" {
		return t
	}
	if t.price, t.known = c.Spend.Price(t.model); !t.known {
		return t
	}
	u := st.Last
	p := t.price.For(u.Prompt())
	t.free = p.Input == 0 && p.Output == 0 && p.CacheRead <= 0 && p.CacheWrite <= 0
	rate := func(m hermes.Money) float64 { return m.Dollars() / 1e6 }
	t.cached, t.uncached = rate(p.CacheRead), rate(p.Input)
	if u.CacheWrite > 0 {
		t.uncached = (rate(p.Input)*float64(u.Input) + rate(p.CacheWrite)*float64(u.CacheWrite)) / float64(u.Input+u.CacheWrite)
		if p.Input < 0 && u.Input > 0 || p.CacheWrite < 0 {
			t.uncached = -1
		}
	}
	return t
}

// shown reports whether there is a cost to show.
func (t prices) shown() bool { return t.known && !t.free }

// cost is what a portion cost in the last request. Parts that were not sent yet
// count at the price of the next request.
func (t prices) cost(p portion) string {
	uncached := p.uncached + p.tokens - p.sent
	if p.cached > 0 && t.cached < 0 || uncached > 0 && t.uncached < 0 {
		return "?"
	}
	m := hermes.USD(p.cached*t.cached + uncached*t.uncached)
	if m < 1000 { // eight columns at most
		m = (m + 5) / 10 * 10
	}
	if m == 0 {
		return "≈$0"
	}
	return m.String()
}

// line says what the whole last request cost.
func (t prices) line(u hermes.Usage) string {
	switch {
	case t.model == "":
		return ""
	case !t.known:
		return "\nThe prices of " + code(t.model) + " are unknown.\n"
	case t.free:
		return "\n" + code(t.model) + " is free.\n"
	case u.Prompt() == 0:
		return "\nNothing sent yet. Costs are estimates for the first request, at the prices of " + code(t.model) + ".\n"
	}
	in := u
	in.Output, in.Calls = 0, 1
	said := hermes.Usage{Output: u.Output, Calls: 1}
	tier := t.price.For(u.Prompt())
	prompt, ok1 := tier.Cost(in, false)
	answer, ok2 := tier.Cost(said, false)
	if !ok1 || !ok2 {
		return "\nSome prices of " + code(t.model) + " are unknown.\n"
	}
	return fmt.Sprintf("\nThe last request cost %v: the prompt %v, the answer %v (%s).\n", prompt+answer, prompt, answer, code(t.model))
}
