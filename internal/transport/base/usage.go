package base

import (
	"bytes"
	"math"
	"strconv"

	"hermes"
)

// Count is a number of tokens as services write it: a number, also with a point
// or an exponent, or a number in quotes. Reading one never fails. What is no
// number changes nothing; a number that cannot be true becomes Absurd.
type Count int64

// Absurd is a count below zero or beyond every model. It is far from the limit
// of its type, so that counts can be added. The meter replaces it by an estimate.
const Absurd Count = 1 << 50

// UnmarshalJSON reads a count.
func (c *Count) UnmarshalJSON(raw []byte) error {
	x, err := strconv.ParseFloat(string(bytes.Trim(raw, `"`)), 64)
	switch {
	case x < 0, x > float64(Absurd): // too large for the type: infinite, with an error
		*c = Absurd
	case err == nil && !math.IsNaN(x):
		*c = Count(x)
	}
	return nil
}

// Tokens are the counts of a protocol whose prompt includes what went through
// the cache, as those of OpenAI do.
type Tokens struct {
	Prompt, Output        Count
	CacheRead, CacheWrite Count
	Reasoning             Count
	Total                 Count // 0 if the service does not send it
}

// Usage maps the counts. Some services do not count as the protocol says, and
// their total shows it:
//   - thinking may be counted apart from the output, which is billed for it (xAI);
//     Gemini's OpenAI protocol shows it only in the total;
//   - the prompt may exclude the cache.
func (t Tokens) Usage() *hermes.Usage {
	if t.Reasoning >= Absurd { // it must not spoil the output, which is billed
		t.Reasoning = 0
	}
	if t.Total >= Absurd {
		t.Total = 0
	}
	cache := t.CacheRead + t.CacheWrite
	beyond := max(0, t.Total-t.Prompt-t.Output) // no part that we know
	if cache > t.Prompt || cache > 0 && beyond >= cache {
		t.Prompt += cache
		beyond = max(0, beyond-cache)
	}
	switch {
	case t.Reasoning > t.Output, t.Reasoning > 0 && beyond >= t.Reasoning:
		t.Output += t.Reasoning
	case t.Reasoning == 0:
		t.Output += beyond
	}
	return &hermes.Usage{
		Input: int64(max(0, t.Prompt-cache)), Output: int64(t.Output), CacheRead: int64(t.CacheRead),
		CacheWrite: int64(t.CacheWrite), Reasoning: int64(t.Reasoning), Calls: 1,
	}
}

// Dollars is an amount of money as services write it; see Count. What is no
// amount is 0.
type Dollars float64

// UnmarshalJSON reads an amount.
func (d *Dollars) UnmarshalJSON(raw []byte) error {
	if x, err := strconv.ParseFloat(string(bytes.Trim(raw, `"`)), 64); err == nil && x > 0 {
		*d = Dollars(x)
	}
	return nil
}

// Cost returns what an answer costs as OpenRouter and LiteLLM say in its usage,
// nil if they do not. Zero is not a cost: a proxy sends it for a model that it
// does not know. With the user's own key at a vendor (byok), OpenRouter counts
// only its fee, and apart from it what the vendor asks (upstream). If it does not
// say whether that is so (nil), a fee below the vendor's price shows it.
func Cost(cost, upstream Dollars, byok *bool) *hermes.Money {
	if byok == nil && upstream > cost || byok != nil && *byok {
		cost += upstream
	}
	if cost <= 0 {
		return nil
	}
	return new(hermes.USD(float64(cost)))
}
