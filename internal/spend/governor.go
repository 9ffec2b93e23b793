// Package spend enforces the spend caps with two layers of the model chain. Caps
// is the outermost: before each call, auxiliary ones too, it reserves an estimate
// in the ledger. A call that would exceed a cap (of the turn, the session, the
// job, the tree of sub-agents, the day, the month) is refused with a text that
// says which cap, how much, until when and how to raise it. Meter is the
// innermost: it books every attempt, so that retries and discarded answers count,
// limits the length of an answer by what is left, and ends one that passes a cap.
//
// In the [hermes.Ledger], check and booking are one transaction, so that children,
// processes and restarts cannot exceed a cap together. The package itself only
// remembers what improves its estimates, and the calls that are running. It must
// not know stores, providers or frontends; prices and the clock are passed in.
// Start at Governor.Caps (caps.go), then meter.go; accounts.go says which accounts
// a call is charged to, estimate.go what it may cost, words.go holds the texts for
// the user.
package spend

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"hermes"
	"hermes/internal/lru"
)

// Caps are the limits of each kind of account; a zero part is none.
type Caps map[hermes.AccountKind]hermes.Amount

// Config configures a governor. Ledger is required.
type Config struct {
	// Ledger opens the ledger. It is called before the first model call, and
	// again if it failed.
	Ledger func(ctx context.Context) (hermes.Ledger, error)
	Caps   Caps
	// Fault, if set, says why it is unclear what may be spent. Caps calls no model then.
	Fault error
	// WarnAt are the percentages of a cap at which to warn, lowest first.
	WarnAt []int
	// Price returns the price of a model by its reference; nil knows none.
	Price func(ref string) (hermes.Price, bool)
	// Stated reports whether a cost that the service states goes before the
	// price of the model: it does not where the user has set the price. nil is
	// always.
	Stated func(ref string) bool
	// Longest returns the most tokens that an answer of a model can have after
	// a prompt of this length; 0 is unknown. Answers are limited only below it,
	// because services refuse a limit that is above their own. nil knows none.
	Longest func(ref string, prompt int64) int64
	// CacheTTL is how long cache entries live, as the transports know it: "1h", "auto" as in
	// hermes.Request, or another value for five minutes.
	CacheTTL string
	// Scope returns what a session belongs to; it is called once for each
	// session, and again after an error. nil, or an error, means nothing.
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
	sessions *lru.Map[string, *memory] // by session
	outputs  *lru.Map[string, float64] // tokens of a typical answer, by model
	warned   *lru.Map[string, bool]    // models with a warning about their unknown price
	bounds   map[string]bound          // by session; those of children are removed when they end
	calls    map[int64]*call           // running, by the number in Scope.Call
	last     int64                     // of those numbers
}

// The bounds of what a governor remembers. What it forgets makes the next estimate
// rougher, nothing else.
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
	if cfg.Stated == nil {
		cfg.Stated = func(string) bool { return true }
	}
	if cfg.Longest == nil {
		cfg.Longest = func(string, int64) int64 { return 0 }
	}
	return &Governor{cfg: cfg, bounds: map[string]bound{}, calls: map[int64]*call{}, sessions: lru.New[string, *memory](maxSessions), outputs: lru.New[string, float64](maxModels), warned: lru.New[string, bool](maxModels)}
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

// longCache reports whether the cache entries of a request live for an hour.
func (g *Governor) longCache(r *hermes.Request) bool { return r.CacheTTL(g.cfg.CacheTTL) == "1h" }

// Price returns the price of a model, with the cache write rate for what a user
// who attends sends; ok is false if the price is unknown.
func (g *Governor) Price(ref string) (p hermes.Price, ok bool) {
	if p, ok = g.cfg.Price(ref); ok && g.longCache(&hermes.Request{Attended: true}) {
		p.CacheWrite = p.CacheWriteLong
	}
	return p, ok
}

// unknownLongest is the length of an answer that a service with an unknown limit
// surely accepts as a limit, in tokens.
const unknownLongest = 8192

// longest returns the limit below which an answer may be limited.
func (g *Governor) longest(ref string, prompt int64) int64 {
	return cmp.Or(g.cfg.Longest(ref, prompt), unknownLongest)
}

// cost returns what a usage costs at a model's price, at most if a rate of the
// cache is unknown (exact is false then). If the price is unknown, it is the cost
// of what has a rate.
func (g *Governor) cost(ref string, u hermes.Usage, longCache bool) (cost hermes.Money, known, exact bool) {
	p, ok := g.cfg.Price(ref)
	if !ok {
		return 0, u == hermes.Usage{}, true
	}
	_, exact = p.Cost(u, longCache)
	cost, known = p.AtMost(u, longCache)
	return cost, known, exact || !known
}
