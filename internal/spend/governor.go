// Package spend enforces the spend caps. It is the outermost layer of the model
// chain: before each call, auxiliary ones too, it reserves an estimate in the
// ledger, and afterwards settles it with what the service counted. A call that
// would exceed a cap (of the turn, the session, the job, the tree of sub-agents,
// the day, the month) is refused with a text that says which cap, how much, until
// when and how to raise it.
//
// In the [hermes.Ledger], check and booking are one transaction, so that children,
// processes and restarts cannot exceed a cap together. The package itself only
// remembers what improves its estimates. It must not know stores, providers or
// frontends; prices and the clock are passed in. Start at Governor.Layer
// (layer.go); accounts.go says which accounts a call is charged to, estimate.go
// what it may cost, words.go holds the texts for the user.
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

// Config configures a governor. Ledger is required.
type Config struct {
	// Ledger opens the ledger. It is called before the first model call, and
	// again if it failed.
	Ledger func(ctx context.Context) (hermes.Ledger, error)
	Caps   Caps
	// WarnAt are the percentages of a cap at which to warn, lowest first.
	WarnAt []int
	// Price returns the price of a model by its reference; nil knows none.
	Price func(ref string) (hermes.Price, bool)
	// LongCache says that cache entries live for an hour.
	LongCache bool
	// Scope returns what a session belongs to; it is called once for each
	// session. nil, or an error, means nothing.
	Scope func(ctx context.Context, session string) (hermes.Scope, error)
	// Owner identifies this process among all that use the ledger.
	Owner string
	// ReservationTTL is how long the reservation of a process that died still
	// counts; 0 is an hour.
	ReservationTTL time.Duration
	// Location is the time zone of days and months; nil is the local one.
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
	warned   map[string]struct{} // models with a warning about their unknown price
}

// The bounds of what a governor remembers. When one is reached, it forgets
// everything: the next estimates are rougher, nothing else.
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

// openLedger opens the ledger on first use.
func (g *Governor) openLedger(ctx context.Context) (hermes.Ledger, error) {
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

// Price returns the price of a model, with the cache write rate for the
// configured cache lifetime; ok is false if the price is unknown.
func (g *Governor) Price(ref string) (p hermes.Price, ok bool) {
	if p, ok = g.cfg.Price(ref); ok && g.cfg.LongCache {
		p.CacheWrite = p.CacheWriteLong
	}
	return p, ok
}

// cost returns the cost of a usage at a model's price.
func (g *Governor) cost(ref string, u hermes.Usage) (hermes.Money, bool) {
	p, ok := g.cfg.Price(ref)
	if !ok {
		return 0, u == hermes.Usage{}
	}
	return p.Cost(u, g.cfg.LongCache)
}
