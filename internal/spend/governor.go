// Package spend is the governor of what model calls cost. It is the outermost
// layer of the model chain: before each call, auxiliary ones too, it reserves
// an estimate in the ledger, and settles it with what the service counted. A
// call that would pass a cap (of the turn, the session, the job, the tree of
// sub-agents, the day, the month) is refused with a text that says which cap,
// how much, until when and how to raise it.
//
// The books are a [hermes.Ledger]: what is checked and what is booked there is
// one transaction, so that children, processes and restarts cannot pass a cap
// together. Nothing is remembered here but what makes estimates better. The
// package knows no store, no provider and no face; prices and the clock are
// handed in. Start at Governor.Layer (layer.go); accounts.go says what a call
// is booked on, estimate.go what it may cost, words.go what people read.
package spend

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"hermes"
)

// Caps are the limits of each kind of account; a zero part is none.
type Caps map[hermes.AccountKind]hermes.Amount

// Config is what a governor works with. Ledger is needed.
type Config struct {
	// Ledger opens the books. It is called when the first model is asked, and
	// again after it failed.
	Ledger func(ctx context.Context) (hermes.Ledger, error)
	Caps   Caps
	// WarnAt are the percentages of a cap that are warned of, lowest first.
	WarnAt []int
	// Price tells what a model takes, by its reference; nil knows none.
	Price func(ref string) (hermes.Price, bool)
	// LongCache says that what is written to caches lives an hour.
	LongCache bool
	// Scope tells what a session belongs to beyond itself; it is asked once
	// for each session. nil, or an error, is nothing.
	Scope func(ctx context.Context, session string) (hermes.Scope, error)
	// Owner names this process among all that use the ledger.
	Owner string
	// ReservationTTL is how long the reservation of a process that died still counts; 0
	// is an hour.
	ReservationTTL time.Duration
	// Location is where days and months begin; nil is the local zone.
	Location *time.Location
	Now      func() time.Time // nil is time.Now
	Log      *slog.Logger     // nil discards
}

// Governor meters the calls of one process. Its methods may be called
// concurrently.
type Governor struct {
	cfg Config

	mu       sync.Mutex
	ledger   hermes.Ledger
	sessions map[string]*memory  // by session
	outputs  map[string]float64  // tokens of a typical answer, by model
	warned   map[string]struct{} // models of which it was said that their price is not known
}

// The bounds of what a governor remembers. When one is reached it starts anew:
// estimates get rougher for a call, nothing else.
const (
	maxSessions = 4096
	maxModels   = 512
)

// New returns a governor. It does no I/O.
func New(cfg Config) *Governor {
	if cfg.ReservationTTL <= 0 {
		cfg.ReservationTTL = time.Hour
	}
	if cfg.Location == nil {
		cfg.Location = time.Local
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Price == nil {
		cfg.Price = func(string) (hermes.Price, bool) { return hermes.Price{}, false }
	}
	return &Governor{cfg: cfg, sessions: map[string]*memory{}, outputs: map[string]float64{}, warned: map[string]struct{}{}}
}

// books opens the ledger on first use.
func (g *Governor) books(ctx context.Context) (hermes.Ledger, error) {
	g.mu.Lock()
	l := g.ledger
	g.mu.Unlock()
	if l != nil {
		return l, nil
	}
	l, err := g.cfg.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ledger = l
	return l, nil
}

// capped reports whether any cap is set.
func (g *Governor) capped() bool {
	for _, c := range g.cfg.Caps {
		if c != (hermes.Amount{}) {
			return true
		}
	}
	return false
}

// Price is what a model takes, with the rate of writing to caches of the life
// that is set; ok is false where no price is known.
func (g *Governor) Price(ref string) (p hermes.Price, ok bool) {
	if p, ok = g.cfg.Price(ref); ok && g.cfg.LongCache {
		p.CacheWrite = p.CacheWriteLong
	}
	return p, ok
}

// cost is what a usage takes at a model's price.
func (g *Governor) cost(ref string, u hermes.Usage) (hermes.Money, bool) {
	p, ok := g.cfg.Price(ref)
	if !ok {
		return 0, u == hermes.Usage{}
	}
	return p.Cost(u, g.cfg.LongCache)
}
