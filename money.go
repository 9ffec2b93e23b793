package hermes

import (
	"fmt"
	"strings"
)

// Money is an amount in millionths of a US dollar.
type Money int64

// USD is money from dollars, rounded to the nearest millionth.
func USD(dollars float64) Money {
	if dollars < 0 {
		return -USD(-dollars)
	}
	return Money(dollars*1e6 + 0.5)
}

// Dollars is the money as a number of dollars, for JSON.
func (m Money) Dollars() float64 { return float64(m) / 1e6 }

// String writes money in dollars and cents; less than ten cents to a hundredth
// of a cent, and less than a tenth of a cent in full.
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

// Amount is what a call costs: money, where its price is known, and tokens.
type Amount struct {
	Money  Money `json:"money_micros"`
	Tokens int64 `json:"tokens"`
}

// Add returns the sum of two amounts.
func (a Amount) Add(b Amount) Amount { return Amount{a.Money + b.Money, a.Tokens + b.Tokens} }

// Sub returns the difference of two amounts.
func (a Amount) Sub(b Amount) Amount { return Amount{a.Money - b.Money, a.Tokens - b.Tokens} }

// Price is what a service takes, in millionths of a dollar for a million
// tokens. A negative rate is unknown; zero is free.
type Price struct {
	Input, Output         Money
	CacheRead, CacheWrite Money
	// CacheWriteLong is the rate of writing to a cache that lives an hour.
	CacheWriteLong Money
	// Above lists the rates of longer prompts, shortest first.
	Above []PriceTier
}

// PriceTier is the price of prompts longer than so many tokens.
type PriceTier struct {
	Prompt int64
	Price  Price // its Above is not used
}

// For is the price of a prompt of so many tokens.
func (p Price) For(prompt int64) Price {
	for _, t := range p.Above {
		if prompt > t.Prompt {
			p = t.Price
		}
	}
	return p
}

// Cost is the price of a usage. It is not known if tokens were counted for
// which there is no rate.
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
