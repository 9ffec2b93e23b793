package spend

import (
	"context"
	"strings"

	"hermes"
	"hermes/internal/modelinfo"
)

// Prices finds the prices of models. A price that the user has set comes before that of
// the catalogue. Its methods may be called concurrently.
type Prices struct {
	set  map[string]hermes.Price
	flat map[string]bool
	info func(ref string) (m hermes.ModelInfo, tier string)
}

// NewPrices returns the prices of models. set are those of the user, by reference
// ("provider:model") or by the model's name; flatRate lists services that cost nothing
// per call. info returns what the catalogue knows about a model, and the service tier
// that it is asked for.
func NewPrices(set map[string]hermes.Price, flatRate []string, info func(ref string) (hermes.ModelInfo, string)) *Prices {
	p := &Prices{set: set, flat: map[string]bool{}, info: info}
	for _, service := range flatRate {
		p.flat[strings.ToLower(service)] = true
	}
	return p
}

// Of returns the price of a model by its reference.
func (p *Prices) Of(ref string) (hermes.Price, bool) {
	if own, ok := p.own(ref); ok {
		return own, true
	}
	m, tier := p.info(ref)
	if m.Price == nil {
		return hermes.Price{}, false
	}
	return inTier(*m.Price, tier), true
}

// Stated reports whether a cost that the service states counts: it does unless the user
// has set the price of the model.
func (p *Prices) Stated(ref string) bool {
	_, own := p.own(ref)
	return !own
}

// Longest returns the most tokens that an answer of a model can have after a prompt of
// this length, 0 if unknown.
func (p *Prices) Longest(ref string, prompt int64) int64 {
	m, _ := p.info(ref)
	longest := int64(m.OutputLimit)
	if m.ContextLength > 0 {
		rest := max(0, int64(m.ContextLength)-prompt)
		if longest == 0 || rest < longest {
			longest = rest
		}
	}
	return longest
}

// own returns the price that the user has set, zero for a flat-rate service.
func (p *Prices) own(ref string) (hermes.Price, bool) {
	service, name := splitRef(ref)
	for key, price := range p.set {
		if key == ref || "custom:"+key == ref || !strings.Contains(key, ":") && modelinfo.Same(key, name) {
			if modelinfo.OwnLongCache(name) {
				price.CacheWriteLong = -1
			}
			return price, true
		}
	}
	return hermes.Price{}, p.flat[service] || p.flat["custom:"+service]
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

// Sessions is the part of the store that says which session works for which.
type Sessions interface {
	FindSession(ctx context.Context, ref string) (hermes.Session, error)
}

// maxDepth limits the steps from a sub-agent up to its session.
const maxDepth = 16

// Tree returns the scope of a session: the session that it works for, if it is a
// sub-agent.
func Tree(ctx context.Context, store Sessions, session string) (hermes.Scope, error) {
	scope := hermes.Scope{Tree: session}
	for range maxDepth {
		row, err := store.FindSession(ctx, scope.Tree)
		if err != nil || row.StoredRun().Origin.Platform != hermes.PlatformChild || row.Parent == "" {
			return scope, err
		}
		scope.Tree = row.Parent
	}
	return scope, nil
}
