package learning

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"hermes"
)

const day = 24 * time.Hour

// When a fix is retired. The hook keeps a failure without a fix for 30 days.
const (
	// wrongAfter is how often a fix may fail before it counts as wrong.
	wrongAfter = 3
	// idleAfter is how often a fix may be shown without helping once.
	idleAfter = 5
	// keepUnproved and keepProved are how long an unused fix is kept that has
	// never helped, or has helped.
	keepUnproved = 180 * day
	keepProved   = 730 * day
)

// Why a learning is retired.
const (
	Wrong   = "wrong"   // its fix mostly did not help
	Useless = "useless" // its fix was shown often and never helped
	Faded   = "faded"   // the failure has not occurred for long
)

// RetireReason returns why a learning is retired, "" if it stays.
func RetireReason(l hermes.Learning, now time.Time) string {
	idle := now.Sub(l.Touched)
	switch {
	case l.Fix == "":
		return ""
	case l.Failed >= wrongAfter && l.Trust() < 0.2:
		return Wrong
	case l.Shown >= idleAfter && l.Helped == 0:
		return Useless
	case idle > keepProved, idle > keepUnproved && l.Helped == 0:
		return Faded
	}
	return ""
}

// Report says what Tidy did or would do.
type Report struct {
	Merged  [][]hermes.Learning // each became one
	Retired []Retired
}

// Retired is a retired learning with the reason.
type Retired struct {
	Learning hermes.Learning
	Why      string
}

// Tidy merges duplicate learnings and retires useless ones. A wrong or useless
// fix is removed from its failure, which stays counted, so that the model is
// asked for a better one. A faded learning is removed completely. With dry,
// Tidy only reports. If a change fails, Tidy continues with the others.
func (b *Store) Tidy(ctx context.Context, dry bool) (Report, error) {
	var r Report
	all, err := b.Find(ctx, hermes.LearningQuery{Limit: -1})
	if err != nil {
		return r, err
	}
	var kept, faded []hermes.Learning
	var faults []error
	for _, l := range all {
		why := RetireReason(l, b.cfg.Now())
		switch why {
		case "":
			kept = append(kept, l)
			continue
		case Faded:
			faded = append(faded, l)
		default:
			if !dry {
				faults = append(faults, b.unlearn(ctx, l, why))
			}
		}
		r.Retired = append(r.Retired, Retired{l, why})
	}
	if !dry {
		faults = append(faults, b.drop(ctx, "upkeep", "forget "+Faded, faded))
	}
	for _, g := range Groups(kept) {
		if _, err := Join(g); err != nil {
			continue // too long to merge; both stay
		}
		if !dry {
			if _, err := b.merge(ctx, "upkeep", g); err != nil {
				faults = append(faults, err)
				continue
			}
		}
		r.Merged = append(r.Merged, g)
	}
	return r, errors.Join(faults...)
}

// unlearn removes a fix from its failure and keeps only how often it was seen.
func (b *Store) unlearn(ctx context.Context, l hermes.Learning, why string) error {
	store, err := b.cfg.Open(ctx)
	if err != nil {
		return err
	}
	bare := l
	bare.Fix, bare.Context, bare.Shown, bare.Helped, bare.Failed = "", "", 0, 0, 0
	bare.Touched = b.cfg.Now() // the failure gets a new retention period
	return b.cfg.Record(ctx, "upkeep", fmt.Sprintf("retire the %s fix of %s", why, Line(l)), Records(l), func() error {
		_, err := store.PutLearning(ctx, bare)
		return err
	})
}

// TidyNow merges and retires learnings, and logs each change.
func (b *Store) TidyNow(ctx context.Context, log *slog.Logger) error {
	r, err := b.Tidy(ctx, false)
	for _, group := range r.Merged {
		log.Info("merged learnings", "count", len(group), "learning", Line(group[0]))
	}
	for _, gone := range r.Retired {
		log.Info("retired a learning", "why", gone.Why, "learning", Line(gone.Learning))
	}
	return err
}
