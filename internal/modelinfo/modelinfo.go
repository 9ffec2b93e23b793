// Package modelinfo is a built-in snapshot (snapshot.txt) of public facts about
// common models: context length, output limit, prices, capabilities. With it,
// limits and prices are known without a request; callers with newer facts should
// prefer those.
//
// It must not know Hermes and does no I/O. The table is parsed on first use.
// Unknown values are zero, an unknown price is nil: nothing is guessed. Start at
// Find; names.go finds a model under its many spellings, family.go says who made it,
// and limits.go reads limits out of the error texts of services.
package modelinfo

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed snapshot.txt
var snapshot string

// Model is what is known about a model. Zero numbers are unknown.
type Model struct {
	Name            string // as the snapshot writes it
	Context, Output int    // tokens
	Vision          bool
	Reasoning       bool
	Tools           bool
	// Price is the price at the requested service, nil if unknown.
	Price *Price
}

// Price is in millionths of a dollar for a million tokens. A negative rate is
// unknown.
type Price struct {
	Input, Output         int64
	CacheRead, CacheWrite int64
	CacheWriteLong        int64 // to a cache that lives an hour
	// Above lists the prices for longer prompts, shortest first.
	Above []Tier
}

// Tier is the price of prompts longer than a number of tokens.
type Tier struct {
	Prompt int64
	Price  Price // its Above is empty
}

// loaded reads the snapshot once.
var loaded = sync.OnceValue(func() *table { return parse(snapshot) })

// Date is the day of the snapshot, such as 2026-01-31.
func Date() string { return loaded().date }

// Find returns what is known about a model at a service. The service has its name
// from the catalogue of providers; empty means any, without a price. The model's
// name may have a vendor before it, dots or hyphens in its version, and dates or
// tags after it. Services with a plan and free ones have a price of zero for
// every model, known or not.
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

// Plan reports whether a service is paid by a plan. Its calls then cost nothing
// extra and are best counted in tokens.
func Plan(service string) bool { return slices.Contains(loaded().plans, strings.ToLower(service)) }

// Closed reports whether a model's weights are not public, so that every server
// of it must pay its maker.
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
