package hermes

import (
	"fmt"
	"math"
	"strings"
)

// Money is an amount in millionths of a US dollar.
type Money int64

// USD converts dollars to Money, rounded to the nearest millionth. Amounts beyond
// the range of Money become its limits; NaN is 0.
func USD(dollars float64) Money {
	micros := dollars * 1e6
	switch {
	case micros < 0:
		return -USD(-dollars)
	case micros >= math.MaxInt64:
		return math.MaxInt64
	case micros != micros:
		return 0
	}
	return Money(micros + 0.5)
}

// Dollars returns the amount in dollars, for JSON.
func (m Money) Dollars() float64 { return float64(m) / 1e6 }

// String formats money in dollars and cents. Amounts below ten cents have up
// to four decimals, amounts below a tenth of a cent all of them.
func (m Money) String() string {
	sign := ""
	if m < 0 {
		sign, m = "-", Money(negative(int64(m)))
	}
	if m >= 100_000 || m == 0 {
		cents := add(int64(m), 5000) / 10_000
		return fmt.Sprintf("%s$%d.%02d", sign, cents/100, cents%100)
	}
	if m >= 1000 {
		m = (m + 50) / 100 * 100
	}
	s := strings.TrimRight(fmt.Sprintf("%06d", int64(m)), "0")
	for len(s) < 2 {
		s += "0"
	}
	return sign + "$0." + s
}

// Amount is what a call costs: tokens, and money if the price is known.
type Amount struct {
	Money  Money `json:"money_micros"`
	Tokens int64 `json:"tokens"`
}

// Add returns the sum of two amounts. A sum beyond the range becomes its limit.
func (a Amount) Add(b Amount) Amount {
	return Amount{Money(add(int64(a.Money), int64(b.Money))), add(a.Tokens, b.Tokens)}
}

// Sub returns the difference of two amounts, within the range like Add.
func (a Amount) Sub(b Amount) Amount {
	return Amount{Money(add(int64(a.Money), negative(int64(b.Money)))), add(a.Tokens, negative(b.Tokens))}
}

// add returns a+b, or the limit that it would pass. Counts come from services,
// and an overflow would make the dearest call free.
func add(a, b int64) int64 {
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	default:
		return sum
	}
}

func negative(n int64) int64 {
	if n == math.MinInt64 {
		return math.MaxInt64
	}
	return -n
}

// times returns a*b for two numbers that are not negative, at most the limit.
func times(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}

// Price is what a service charges, in millionths of a dollar for a million
// tokens. A negative rate means unknown; zero means free.
type Price struct {
	Input, Output         Money
	CacheRead, CacheWrite Money
	// CacheWriteLong is the rate of writing to a cache that lasts one hour.
	CacheWriteLong Money
	// Above lists the prices of longer prompts, shortest first.
	Above []PriceTier
}

// PriceTier is the price of prompts with more than Prompt tokens.
type PriceTier struct {
	Prompt int64
	Price  Price // its Above is not used
}

// For returns the price that applies to a prompt with this number of tokens.
func (p Price) For(prompt int64) Price {
	for _, t := range p.Above {
		if prompt > t.Prompt {
			p = t.Price
		}
	}
	return p
}

// Cost returns what a usage costs. It returns false if a kind of token was
// used whose rate is unknown. Negative counts cost nothing.
func (p Price) Cost(u Usage, longCache bool) (cost Money, known bool) {
	cost, known = p.For(u.Prompt()/max(u.Calls, 1)).sum(u, longCache)
	if !known {
		return 0, false
	}
	return cost, true
}

// AtMost returns what a usage costs at most, so that a cap holds although a rate
// of the cache is unknown: reading from it counts at the rate of input, writing to
// it at the dearest known rate of the prompt, and at least at what Anthropic asks:
// 1.25 times the rate of input, twice for an hour. If the rate of input or output
// is unknown, too, it returns the cost of the rest and false.
func (p Price) AtMost(u Usage, longCache bool) (cost Money, known bool) {
	p = p.For(u.Prompt() / max(u.Calls, 1))
	dearest := max(p.Input, p.CacheRead, p.CacheWrite, p.CacheWriteLong)
	if p.CacheWrite < 0 {
		p.CacheWrite = max(dearest, Money(add(int64(p.Input), int64(p.Input/4))))
	}
	if p.CacheWriteLong < 0 {
		p.CacheWriteLong = max(dearest, Money(add(int64(p.Input), int64(p.Input))))
	}
	if p.CacheRead < 0 {
		p.CacheRead = p.Input
	}
	return p.sum(u, longCache)
}

// sum adds up the kinds of tokens whose rate is known, and reports whether all
// that were used are.
func (p Price) sum(u Usage, longCache bool) (cost Money, known bool) {
	write := p.CacheWrite
	if longCache {
		write = p.CacheWriteLong
	}
	sum, known := int64(0), true
	for _, part := range [...]struct {
		tokens int64
		rate   Money
	}{{u.Input, p.Input}, {u.Output, p.Output}, {u.CacheRead, p.CacheRead}, {u.CacheWrite, write}} {
		switch {
		case part.tokens <= 0:
		case part.rate < 0:
			known = false
		default:
			sum = add(sum, times(part.tokens, int64(part.rate)))
		}
	}
	return Money(add(sum, 500_000) / 1_000_000), known
}
