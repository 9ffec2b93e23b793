package base_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/transport/base"
)

func TestCountsAreReadAsServicesWriteThem(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]base.Count{
		"12": 12, "12.0": 12, "1.2e3": 1200, `"12"`: 12, "0": 0, "null": 7, "true": 7, `""`: 7, `{}`: 7, `"NaN"`: 7,
		"-1": base.Absurd, "1e300": base.Absurd, "1e400": base.Absurd, "9223372036854775807": base.Absurd, "-1e400": base.Absurd,
	} {
		got := base.Count(7)
		if err := json.Unmarshal([]byte(raw), &got); err != nil || got != want {
			t.Errorf("%s is read as %d, want %d (%v)", raw, got, want, err)
		}
	}
}

// TestEveryTokenIsBilledOnce: each service counts in its own way.
func TestEveryTokenIsBilledOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   base.Tokens
		want hermes.Usage
	}{
		{"OpenAI: the output has the thinking", base.Tokens{Prompt: 100, Output: 50, Reasoning: 40, CacheRead: 80, Total: 150},
			hermes.Usage{Input: 20, CacheRead: 80, Output: 50, Reasoning: 40}},
		{"without a total", base.Tokens{Prompt: 100, Output: 50, Reasoning: 40}, hermes.Usage{Input: 100, Output: 50, Reasoning: 40}},
		{"xAI: the thinking is apart", base.Tokens{Prompt: 32, Output: 9, Reasoning: 311, Total: 352}, hermes.Usage{Input: 32, Output: 320, Reasoning: 311}},
		{"apart, and less than the output", base.Tokens{Prompt: 32, Output: 90, Reasoning: 11, Total: 133}, hermes.Usage{Input: 32, Output: 101, Reasoning: 11}},
		{"apart, without a total", base.Tokens{Prompt: 32, Output: 9, Reasoning: 311}, hermes.Usage{Input: 32, Output: 320, Reasoning: 311}},
		{"Gemini's OpenAI protocol: only the total has it", base.Tokens{Prompt: 10, Output: 5, Total: 215}, hermes.Usage{Input: 10, Output: 205}},
		{"the prompt excludes the cache", base.Tokens{Prompt: 20, Output: 50, CacheRead: 80, Total: 150}, hermes.Usage{Input: 20, CacheRead: 80, Output: 50}},
		{"the same where the cache is smaller", base.Tokens{Prompt: 90, Output: 50, CacheRead: 60, CacheWrite: 5, Total: 205}, hermes.Usage{Input: 90, CacheRead: 60, CacheWrite: 5, Output: 50}},
		{"the same without a total", base.Tokens{Prompt: 20, Output: 50, CacheRead: 80}, hermes.Usage{Input: 20, CacheRead: 80, Output: 50}},
		{"both apart", base.Tokens{Prompt: 20, Output: 50, CacheRead: 80, Reasoning: 30, Total: 180}, hermes.Usage{Input: 20, CacheRead: 80, Output: 80, Reasoning: 30}},
		{"a count of the thinking that cannot be true", base.Tokens{Prompt: 100, Output: 50, Reasoning: base.Absurd, Total: 150}, hermes.Usage{Input: 100, Output: 50}},
		{"a total that cannot be true", base.Tokens{Prompt: 100, Output: 50, Reasoning: 40, CacheRead: 80, Total: base.Absurd}, hermes.Usage{Input: 20, CacheRead: 80, Output: 50, Reasoning: 40}},
		{"a total that is too small says nothing", base.Tokens{Prompt: 100, Output: 50, Reasoning: 40, Total: 1}, hermes.Usage{Input: 100, Output: 50, Reasoning: 40}},
	} {
		c.want.Calls = 1
		if d := cmp.Diff(c.want, *c.in.Usage()); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
	}
}

func TestWhatAnAnswerCosts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cost, upstream string
		byok           *bool
		want           *hermes.Money
	}{
		{"0.0125", "null", nil, new(hermes.USD(0.0125))},
		{`"0.5"`, "0", nil, new(hermes.USD(0.5))},
		{"0.0125", "0.0125", nil, new(hermes.USD(0.0125))},        // the same amount, said twice
		{"0.95", "19", nil, new(hermes.USD(19.95))},               // a fee of 5 %
		{"0.0125", "0.0126", new(false), new(hermes.USD(0.0125))}, // rounded, or with a discount
		{"0.5", "0.25", new(false), new(hermes.USD(0.5))},
		{"0", "19", new(true), new(hermes.USD(19))},
		{"1.5", "1", new(true), new(hermes.USD(2.5))},
		{"0", "0", nil, nil}, {"null", "null", nil, nil}, {"-3", "0", nil, nil}, {`"much"`, "{}", nil, nil}, {"1e400", "1e400", new(true), nil},
	} {
		var cost, upstream base.Dollars
		for raw, into := range map[*base.Dollars]string{&cost: c.cost, &upstream: c.upstream} {
			if err := json.Unmarshal([]byte(into), raw); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(c.want, base.Cost(cost, upstream, c.byok)); d != "" {
			t.Errorf("%+v: -want +got:\n%s", c, d)
		}
	}
}
