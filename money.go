package hermes

import (
	"fmt"
	"strings"
)

// Money is an amount in millionths of a US dollar.
type Money int64

// USD converts dollars to Money, rounded to the nearest millionth.
func USD(dollars float64) Money {
	if dollars < 0 {
		return -USD(-dollars)
	}
	return Money(dollars*1e6 + 0.5)
}

// Dollars returns the amount in dollars, for JSON.
func (m Money) Dollars() float64 { return float64(m) / 1e6 }

// String formats money in dollars and cents. Amounts below ten cents have up
// to four decimals, amounts below a tenth of a cent all of them.
func (m Money) String() string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	if m >= 100_000 || m == 0 {
		cents := (m + 5000) / 10_000
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

// Add returns the sum of two amounts.
func (a Amount) Add(b Amount) Amount { return Amount{a.Money + b.Money, a.Tokens + b.Tokens} }

// Sub returns the difference of two amounts.
func (a Amount) Sub(b Amount) Amount { return Amount{a.Money - b.Money, a.Tokens - b.Tokens} }

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
// used whose rate is unknown.
func (p Price) Cost(u Usage, longCache bool) (cost Money, known bool) {
	p = p.For(u.Prompt() / max(u.Calls, 1))
	write := p.CacheWrite
	if longCache {
		write = p.CacheWriteLong
	}
	var sum int64
	for _, part := range []struct {
		tokens int64
		rate   Money
	}{{u.Input, p.Input}, {u.Output, p.Output}, {u.CacheRead, p.CacheRead}, {u.CacheWrite, write}} {
		if part.tokens > 0 && part.rate < 0 {
			return 0, false
		}
		sum += part.tokens * int64(part.rate)
	}
	return Money((sum + 500_000) / 1_000_000), true
}
