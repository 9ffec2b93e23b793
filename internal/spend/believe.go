package spend

import "hermes"

// The most that a service can truly count or charge for one answer. Greater
// numbers are its mistakes.
const (
	mostTokens = 20_000_000
	mostMoney  = hermes.Money(10_000_000_000)
	mostCalls  = 1000
)

// believe returns the counts of a service. Negative and absurd ones, and zeros for
// what was sent or came, are replaced by the estimate, so that they neither free a
// call nor use up a cap. Usage without even a call is believed: no model was asked.
func (a *attempt) believe(u hermes.Usage) hermes.Usage {
	if u == (hermes.Usage{}) {
		return u
	}
	absurd := func(n int64) bool { return n < 0 || n > mostTokens }
	prompt := a.promptSize()
	switch {
	case absurd(u.CacheRead), absurd(u.CacheWrite):
		u.Input, u.CacheRead, u.CacheWrite = prompt, 0, 0
		a.estimated = true
	case absurd(u.Input):
		u.Input = max(0, prompt-u.CacheRead-u.CacheWrite)
		a.estimated = true
	case u.Prompt() == 0:
		u.Input, a.estimated = prompt, true
	}
	if absurd(u.Output) || u.Output == 0 && a.came() > 0 {
		u.Output, a.estimated = a.came(), true
	}
	if u.Reasoning < 0 || u.Reasoning > u.Output {
		u.Reasoning = min(max(u.Reasoning, 0), u.Output)
	}
	u.Calls = min(max(u.Calls, 0), mostCalls)
	return u
}

// promptSize estimates the tokens of the prompt.
func (a *attempt) promptSize() int64 {
	if a.r != nil {
		return a.r.guess.usage.Prompt()
	}
	return int64(size(a.c.request)+3) / 4
}
