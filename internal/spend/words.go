package spend

import (
	"fmt"
	"time"

	"hermes"
)

// refusalText says which cap refused a call, how much is used, until when, and what
// helps.
func (g *Governor) refusalText(over *hermes.OverCap, now time.Time) string {
	return g.capText(over, now, false)
}

// cutText says the same of a cap that an answer has used up.
func (g *Governor) cutText(over *hermes.OverCap, now time.Time) string {
	return g.capText(over, now, true)
}

func (g *Governor) capText(over *hermes.OverCap, now time.Time, cut bool) string {
	kind, key := over.Balance.Account.Kind, "usd"
	used, cap, reserved, next := over.Balance.Used().Money.String(), over.Cap.Money.String(), over.Balance.Reserved.Money.String(), over.Estimate.Money.String()
	some := over.Balance.Reserved.Money > 0
	double := trimZeros(2 * g.cfg.Caps[kind].Money.Dollars())
	raise := trimZeros(g.cfg.Caps[kind].Money.Dollars())
	if over.Tokens {
		key = "tokens"
		used, cap, reserved, next = count(over.Balance.Used().Tokens), count(over.Cap.Tokens), count(over.Balance.Reserved.Tokens), count(over.Estimate.Tokens)
		some = over.Balance.Reserved.Tokens > 0
		double = fmt.Sprint(2 * g.cfg.Caps[kind].Tokens)
		raise = fmt.Sprintf("%d tokens", g.cfg.Caps[kind].Tokens)
	}
	text := fmt.Sprintf("the spend cap for %s is reached: %s of %s used", nameOf(kind), used, cap)
	ofRun := kind == hermes.AccountTree && !over.Tokens && over.Cap.Money-over.Balance.Raised.Money != g.cfg.Caps[kind].Money
	if ofRun {
		text = fmt.Sprintf("the budget of this session is reached: %s of %s used", used, cap)
	}
	if kind == hermes.AccountBranch {
		text = fmt.Sprintf("the budget of this sub-agent is reached: %s of %s used", used, cap)
	}
	switch {
	case cut:
		text += "; the answer was stopped there. "
	case some:
		text += fmt.Sprintf(" (%s of it reserved for running calls); the next call needs about %s. ", reserved, next)
	default:
		text += fmt.Sprintf("; the next call needs about %s. ", next)
	}
	if end := g.ends(kind, now); !end.IsZero() {
		text += fmt.Sprintf("It applies until %s. ", end.Format("2006-01-02 15:04 MST"))
	}
	if kind == hermes.AccountBranch {
		return text + "Delegate what remains with a larger max_cost."
	}
	if ofRun {
		return text + "Open the session again with a larger budget to go on."
	}
	forGood := fmt.Sprintf("`hermes config set spend.%s.%s %s`", kind, key, double)
	switch kind {
	case hermes.AccountTurn:
		return text + "The next turn has its own budget: say \"go on\" to continue, or raise the cap for good with " + forGood + "."
	case hermes.AccountJob:
		return text + fmt.Sprintf("Raise it with `hermes spend raise job %s --name %s`, or for good with %s.", raise, over.Balance.Account.Name, forGood)
	}
	if kind == hermes.AccountDay || kind == hermes.AccountMonth {
		return text + fmt.Sprintf("Raise it with `/budget raise %s %s` (in a shell: `hermes spend raise %s %s`), or for good with %s.", kind, raise, kind, raise, forGood)
	}
	return text + fmt.Sprintf("Raise it with `/budget raise %s %s`, or for good with %s.", kind, raise, forGood)
}

// nameOf describes an account in plain words.
func nameOf(kind hermes.AccountKind) string {
	switch kind {
	case hermes.AccountTurn:
		return "this turn"
	case hermes.AccountSession:
		return "this session"
	case hermes.AccountJob:
		return "this scheduled job"
	case hermes.AccountBranch:
		return "this sub-agent"
	case hermes.AccountTree:
		return "this session with its sub-agents"
	case hermes.AccountDay:
		return "today"
	case hermes.AccountMonth:
		return "this month"
	}
	return string(kind)
}

func warningText(w hermes.Warning) string {
	used := ""
	if (hermes.Limit{Cap: hermes.Amount{Money: w.Cap.Money}}).Reached(hermes.Balance{Spent: w.Balance.Used()}, w.Percent) {
		used = fmt.Sprintf("%v of %v", w.Balance.Used().Money, w.Cap.Money)
	} else {
		used = fmt.Sprintf("%s of %s", count(w.Balance.Used().Tokens), count(w.Cap.Tokens))
	}
	return fmt.Sprintf("%d %% of the spend cap for %s is used: %s.", w.Percent, nameOf(w.Balance.Account.Kind), used)
}

// unpriced warns once that caps in money cannot count a model.
func (g *Governor) unpriced(model string) []string {
	inMoney := false
	for _, c := range g.cfg.Caps {
		inMoney = inMoney || c.Money > 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, done := g.warned.Get(model); done || !inMoney {
		return nil
	}
	g.warned.Put(model, true)
	return []string{fmt.Sprintf("The price of %s is unknown, so caps in money do not count it. Set it under spend.prices in config.yaml, or cap its tokens.", model)}
}

// count writes a number of tokens short: 950, 12.3k, 1.2M.
func count(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d tokens", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.4gk tokens", float64(n)/1000)
	}
	return fmt.Sprintf("%.4gM tokens", float64(n)/1e6)
}

// trimZeros writes dollars without trailing zeros: 5, 0.5, 12.25.
func trimZeros(dollars float64) string { return fmt.Sprintf("%.6g", dollars) }
