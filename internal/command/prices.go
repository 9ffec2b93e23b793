package command

import (
	"cmp"
	"fmt"
	"slices"

	"hermes"
	"hermes/internal/session"
)

// prices is what the tokens of the last request cost each.
type prices struct {
	model       string
	price       hermes.Price
	known, free bool
	cached      float64 // of a token read from the cache, in dollars
	fresh       float64 // of another one, read or written to the cache; less than zero is not known
}

// pricesOf finds the prices of the model that answered last. A prompt that was
// partly written to the cache costs in the mean of both rates.
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
	t.cached, t.fresh = rate(p.CacheRead), rate(p.Input)
	if u.CacheWrite > 0 {
		t.fresh = (rate(p.Input)*float64(u.Input) + rate(p.CacheWrite)*float64(u.CacheWrite)) / float64(u.Input+u.CacheWrite)
		if p.Input < 0 && u.Input > 0 || p.CacheWrite < 0 {
			t.fresh = -1
		}
	}
	return t
}

// shown reports whether there is money to show.
func (t prices) shown() bool { return t.known && !t.free }

// cost is what a portion cost with the last request, or will cost with the
// next one where it was not sent yet.
func (t prices) cost(p portion) string {
	fresh := p.fresh + p.tokens - p.sent
	if p.cached > 0 && t.cached < 0 || fresh > 0 && t.fresh < 0 {
		return "?"
	}
	m := hermes.USD(p.cached*t.cached + fresh*t.fresh)
	if m < 1000 { // eight columns at most
		m = (m + 5) / 10 * 10
	}
	if m == 0 {
		return "≈$0"
	}
	return m.String()
}

// line says what the last request cost as a whole.
func (t prices) line(u hermes.Usage) string {
	switch {
	case t.model == "":
		return ""
	case !t.known:
		return "\nThe prices of " + code(t.model) + " are not known.\n"
	case t.free:
		return "\n" + code(t.model) + " costs nothing here.\n"
	case u.Prompt() == 0:
		return "\nNothing was sent yet; the costs are those of the first request, at the prices of " + code(t.model) + ".\n"
	}
	in := u
	in.Output, in.Calls = 0, 1
	said := hermes.Usage{Output: u.Output, Calls: 1}
	tier := t.price.For(u.Prompt())
	prompt, ok1 := tier.Cost(in, false)
	answer, ok2 := tier.Cost(said, false)
	if !ok1 || !ok2 {
		return "\nNot all rates of " + code(t.model) + " are known.\n"
	}
	return fmt.Sprintf("\nThe last request cost %v: the prompt %v, the answer %v (%s).\n", prompt+answer, prompt, answer, code(t.model))
}
