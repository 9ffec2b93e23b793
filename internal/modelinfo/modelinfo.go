// Package modelinfo is what was publicly known of common models on one day:
// context length, output limit, prices, what they can do. It is a snapshot
// that is part of the program (snapshot.txt), so that limits and money are
// known without asking anyone; whoever has a newer answer puts it first.
//
// It knows nothing of Hermes and does no I/O. The table is read on first use.
// What is not known is zero, or a nil price: nothing is guessed. Start at
// Find; names.go tells how a model is found under its many spellings, and
// limits.go reads limits out of the words of a service.
package modelinfo

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed snapshot.txt
var snapshot string

// Model is what is known of a model. Zero numbers are not known.
type Model struct {
	Name            string // as the snapshot writes it
	Context, Output int    // tokens
	Vision          bool
	Reasoning       bool
	Tools           bool
	// Price is that of the service asked about, nil if it is not known.
	Price *Price
}

// Price is in millionths of a dollar for a million tokens. A negative rate is
// not known.
type Price struct {
	Input, Output         int64
	CacheRead, CacheWrite int64
	CacheWriteLong        int64 // to a cache that lives an hour
	// Above are the prices of longer prompts, shortest first.
	Above []Tier
}

// Tier is the price of prompts longer than so many tokens.
type Tier struct {
	Prompt int64
	Price  Price // its Above is empty
}

// loaded reads the snapshot once.
var loaded = sync.OnceValue(func() *table { return parse(snapshot) })

// Date is the day of the snapshot, such as 2026-01-31.
func Date() string { return loaded().date }

// Find tells what is known of a model at a service. The service is named as
// the catalogue of providers names it; empty is any, which has no price. The
// model's name may have a vendor before it, dots or hyphens in its version,
// and dates or tags behind it. Services of plans and free ones have a price of
// zero for every model, known or not.
func Find(service, name string) (Model, bool) {
	t, service := loaded(), strings.ToLower(service)
	base, tag := split(name)
	e, known := t.find(service, base)
	m := e.Model
	if slices.Contains(t.free, service) || slices.Contains(t.plans, service) || tag == "free" {
		m.Price = &Price{}
		return m, true
	}
	if !slices.Contains(e.services, service) || changesPrice(tag) {
		m.Price = nil
	}
	return m, known
}

// Plan reports whether a service is paid by a plan, so that its calls cost
// nothing of their own and are best counted in tokens.
func Plan(service string) bool { return slices.Contains(loaded().plans, strings.ToLower(service)) }

// Closed reports whether a model's weights are not public, so that whoever
// serves it has it from its maker and pays for it.
func Closed(name string) bool {
	for _, maker := range []string{"anthropic", "openai-api", "gemini", "xai"} {
		if m, known := Find(maker, name); known && m.Price != nil {
			return true
		}
	}
	return false
}

// changesPrice reports whether a tag asks an aggregator for another offer of
// the same model.
func changesPrice(tag string) bool {
	switch tag {
	case "nitro", "floor", "online", "exacto":
		return true
	}
	return false
}
