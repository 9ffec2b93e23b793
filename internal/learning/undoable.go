package learning

import (
	"cmp"
	"context"
	"log/slog"

	"hermes"
)

// Undoable returns learnings whose fixes are saved so that they can be undone.
func (b *Store) Undoable(l hermes.Learnings) hermes.Learnings { return undoable{l, b} }

type undoable struct {
	hermes.Learnings
	store *Store
}

// SaveLearning stores a fix in the name of its session, or of the user if it has
// none.
func (u undoable) SaveLearning(ctx context.Context, l hermes.Learning) (hermes.Learning, error) {
	return u.store.Save(ctx, cmp.Or(l.Session, "person"), l)
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
