package app

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/modelinfo"
	"hermes/internal/provider"
	"hermes/internal/ratelimit"
	"hermes/internal/spend"
)

// Spend returns the governor that meters every model call of this run.
func (a *App) Spend() (*spend.Governor, error) { return a.meter() }

// Limits returns what the services of this run said about the limits of their credentials, and
// the time.
func (a *App) Limits() ([]ratelimit.Status, time.Time) {
	models, err := a.Models()
	if err != nil {
		return nil, time.Time{}
	}
	return models.Limits()
}

// CheckSpend returns an error, with exit status 2, if a value of the section spend is unknown or
// invalid. A cap that the user wrote might not hold then, so no turn may start and no model
// may be called.
func (a *App) CheckSpend() error { return a.spendFault() }

func (a *App) findSpendFault() error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if a.opts.BaseURL != "" { // this run has its own service, which costs nothing
		return nil
	}
	problems := cfg.SpendProblems()
	if len(problems) == 0 {
		return nil
	}
	p := problems[0]
	p.Served = "no turn is started while it is unclear what may be spent"
	text := strings.TrimSuffix(p.String(), ".")
	if n := len(problems) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more: see `hermes config check`)", n)
	}
	return &ExitError{Status: 2, Err: errors.New(text)}
}

// capped returns the layer that keeps model calls to the caps. It calls no model, not even for a
// side task, while it is unclear what may be spent.
func (a *App) capped(g *spend.Governor) provider.Layer {
	if err := a.CheckSpend(); err != nil {
		return func(next hermes.Model) hermes.Model { return refusing{next, err} }
	}
	return g.Caps
}

// refusing is a model that answers every call with an error.
type refusing struct {
	hermes.Model
	err error
}

// Stream fails.
func (m refusing) Stream(context.Context, *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) { yield(hermes.Delta{}, m.err) }
}

// makeSpend reads the caps. The ledger is opened at the first model call.
func (a *App) makeSpend() (*spend.Governor, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	s := cfg.Spend()
	return spend.New(spend.Config{
		Ledger: func(ctx context.Context) (hermes.Ledger, error) { return a.Database(ctx) },
		Caps: spend.Caps{
			hermes.AccountTurn: spendCap(s.Turn), hermes.AccountSession: spendCap(s.Session),
			hermes.AccountTree: spendCap(s.Tree), hermes.AccountDay: spendCap(s.Day), hermes.AccountMonth: spendCap(s.Month),
		},
		WarnAt: s.Percentages(), Price: a.prices(s), Stated: a.stated(s), Longest: a.longestAnswer, CacheTTL: cfg.PromptCaching().CacheTTL,
		Scope: a.spendScope, Owner: owner(), Location: location(cfg.General().Timezone), Now: a.opts.Now, Log: a.log(),
	}), nil
}

func spendCap(c config.SpendCap) hermes.Amount {
	return hermes.Amount{Money: hermes.USD(c.USD), Tokens: int64(c.Tokens)}
}

// location returns a time zone by name, the machine's own if it is empty or unknown.
func location(name string) *time.Location {
	if name == "" {
		return time.Local
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		return time.Local
	}
	return l
}

// setPrices returns the price that the user has set for a model, zero for a flat-rate
// service.
func setPrices(s config.Spend) func(ref string) (hermes.Price, bool) {
	set := map[string]hermes.Price{}
	for name, p := range s.Prices {
		if p.Input >= 0 && p.Output >= 0 {
			write := rate(p.CacheWrite)
			set[name] = hermes.Price{Input: rate(p.Input), Output: rate(p.Output), CacheRead: rate(p.CacheRead), CacheWrite: write, CacheWriteLong: write}
		}
	}
	flat := map[string]bool{}
	for _, service := range s.FlatRate {
		flat[strings.ToLower(service)] = true
	}
	return func(ref string) (hermes.Price, bool) {
		service, name := splitRef(ref)
		for key, p := range set {
			if key == ref || "custom:"+key == ref || !strings.Contains(key, ":") && modelinfo.Same(key, name) {
				if modelinfo.OwnLongCache(name) {
					p.CacheWriteLong = -1
				}
				return p, true
			}
		}
		if flat[service] || flat["custom:"+service] {
			return hermes.Price{}, true
		}
		return hermes.Price{}, false
	}
}

// stated says of which models a cost that the service states counts: those whose price
// the user has not set.
func (a *App) stated(s config.Spend) func(ref string) bool {
	set := setPrices(s)
	return func(ref string) bool { _, own := set(ref); return !own }
}

// longestAnswer returns the most tokens that an answer of a model can have after a prompt of
// this length, 0 if unknown.
func (a *App) longestAnswer(ref string, prompt int64) int64 {
	models, err := a.Models()
	if err != nil {
		return 0
	}
	m := models.Info(ref)
	longest := int64(m.OutputLimit)
	if m.ContextLength > 0 {
		rest := max(0, int64(m.ContextLength)-prompt)
		if longest == 0 || rest < longest {
			longest = rest
		}
	}
	return longest
}

// prices returns the price of a model: the user's setting, else the price of the catalogue.
func (a *App) prices(s config.Spend) func(ref string) (hermes.Price, bool) {
	set := setPrices(s)
	return func(ref string) (hermes.Price, bool) {
		if p, ok := set(ref); ok {
			return p, true
		}
		models, err := a.Models()
		if err != nil {
			return hermes.Price{}, false
		}
		if p := models.Info(ref).Price; p != nil {
			return inTier(*p, models.Tier(ref)), true
		}
		return hermes.Price{}, false
	}
}

// inTier returns the price of a model in a service tier. The catalogue has standard
// prices only. Faster tiers cost up to two and a half times as much, so that much is
// counted; slower ones cost less, which is not counted, so that no cap is exceeded.
func inTier(p hermes.Price, tier string) hermes.Price {
	if tier != "priority" && tier != "scale" && tier != "performance" {
		return p
	}
	more := func(p hermes.Price) hermes.Price {
		for _, rate := range []*hermes.Money{&p.Input, &p.Output, &p.CacheRead, &p.CacheWrite, &p.CacheWriteLong} {
			if *rate > 0 {
				*rate = *rate * 5 / 2
			}
		}
		return p
	}
	above := make([]hermes.PriceTier, len(p.Above))
	for i, a := range p.Above {
		above[i] = hermes.PriceTier{Prompt: a.Prompt, Price: more(a.Price)}
	}
	p = more(p)
	p.Above = above
	return p
}

// rate converts a price for a million tokens; less than zero means unknown.
func rate(usd float64) hermes.Money {
	if usd < 0 {
		return -1
	}
	return hermes.USD(usd)
}

// splitRef splits "provider:model" and "custom:name:model".
func splitRef(ref string) (service, model string) {
	rest, own := strings.CutPrefix(ref, "custom:")
	service, model, ok := strings.Cut(rest, ":")
	if own && !ok {
		return "custom", rest
	}
	return strings.ToLower(service), model
}

// maxDepth limits the steps from a sub-agent up to its session.
const maxDepth = 16

// spendScope finds the session that a sub-agent works for.
func (a *App) spendScope(ctx context.Context, session string) (hermes.Scope, error) {
	store, err := a.Store(ctx)
	if err != nil {
		return hermes.Scope{}, err
	}
	scope := hermes.Scope{Tree: session}
	for range maxDepth {
		row, err := store.FindSession(ctx, scope.Tree)
		if err != nil || row.Platform != "subagent" || row.Parent == "" {
			return scope, err
		}
		scope.Tree = row.Parent
	}
	return scope, nil
}
