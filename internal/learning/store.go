package learning

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes"
)

// Config configures a Store.
type Config struct {
	// Open opens the store when it is needed.
	Open func(ctx context.Context) (hermes.Learnings, error)
	Now  func() time.Time // nil is time.Now
	// Pending returns the folder of learnings that wait for approval; nil has none.
	Pending func() (string, error)
	// Record, if set, wraps a change and records an undo entry. by is a
	// session's id, "person" or "upkeep". what is one line about the change.
	// records are the names of the records that may change; see [Records].
	Record func(ctx context.Context, by, what string, records []string, write func() error) error
}

// Store holds the learnings and offers the changes that users make. Its methods
// may be called concurrently.
type Store struct{ cfg Config }

// New makes a Store. It opens nothing yet.
func New(c Config) *Store {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Record == nil {
		c.Record = func(_ context.Context, _, _ string, _ []string, write func() error) error { return write() }
	}
	return &Store{c}
}

// Find returns learnings, the most recently touched first.
func (b *Store) Find(ctx context.Context, q hermes.LearningQuery) ([]hermes.Learning, error) {
	store, err := b.cfg.Open(ctx)
	if err != nil {
		return nil, err
	}
	return store.FindLearnings(ctx, q)
}

// Get returns the learnings with the given ids, in that order.
func (b *Store) Get(ctx context.Context, ids ...int64) ([]hermes.Learning, error) {
	all, err := b.Find(ctx, hermes.LearningQuery{Limit: -1})
	if err != nil {
		return nil, err
	}
	byID := map[int64]hermes.Learning{}
	for _, l := range all {
		byID[l.ID] = l
	}
	var out []hermes.Learning
	for _, id := range ids {
		l, ok := byID[id]
		if !ok {
			return nil, fmt.Errorf("there is no learning %d: %w", id, hermes.ErrNotFound)
		}
		out = append(out, l)
	}
	return out, nil
}

// Save stores a fix and replaces the previous one; the counts stay. The learning
// must be in its general form.
func (b *Store) Save(ctx context.Context, by string, l hermes.Learning) (saved hermes.Learning, err error) {
	store, err := b.cfg.Open(ctx)
	if err != nil {
		return l, err
	}
	if l.Touched.IsZero() {
		l.Touched = b.cfg.Now()
	}
	err = b.cfg.Record(ctx, by, "learned: "+Line(l), []string{text(l)}, func() error {
		saved, err = store.SaveLearning(ctx, l)
		return err
	})
	return saved, err
}

// Delete removes learnings by their ids, all or none.
func (b *Store) Delete(ctx context.Context, by string, ids ...int64) ([]hermes.Learning, error) {
	list, err := b.Get(ctx, ids...)
	if err != nil {
		return nil, err
	}
	return list, b.drop(ctx, by, "delete", list)
}

func (b *Store) drop(ctx context.Context, by, verb string, list []hermes.Learning) error {
	if len(list) == 0 {
		return nil
	}
	store, err := b.cfg.Open(ctx)
	if err != nil {
		return err
	}
	var f hermes.Forgetting
	for _, l := range list {
		f.IDs = append(f.IDs, l.ID)
	}
	return b.cfg.Record(ctx, by, verb+" "+named(list), Records(list...), func() error {
		_, err := store.ForgetLearnings(ctx, f)
		return err
	})
}

// Merge merges the learnings with the given ids and returns the result.
func (b *Store) Merge(ctx context.Context, by string, ids ...int64) (hermes.Learning, error) {
	list, err := b.Get(ctx, unique(ids)...)
	if err != nil {
		return hermes.Learning{}, err
	}
	if len(list) < 2 {
		return hermes.Learning{}, errors.New("name at least two learnings to merge")
	}
	return b.merge(ctx, by, list)
}

func (b *Store) merge(ctx context.Context, by string, list []hermes.Learning) (one hermes.Learning, err error) {
	l, err := Join(list)
	if err != nil {
		return l, err
	}
	store, err := b.cfg.Open(ctx)
	if err != nil {
		return l, err
	}
	var others []int64
	for _, o := range list {
		if o.ID != l.ID {
			others = append(others, o.ID)
		}
	}
	err = b.cfg.Record(ctx, by, "merge "+named(list), Records(list...), func() error {
		one, err = store.MergeLearnings(ctx, l, others...)
		return err
	})
	return one, err
}

func unique(ids []int64) []int64 {
	var out []int64
	seen := map[int64]bool{}
	for _, id := range ids {
		if !seen[id] {
			seen[id], out = true, append(out, id)
		}
	}
	return out
}

// named describes learnings on one line.
func named(list []hermes.Learning) string {
	if len(list) == 1 {
		return "the learning " + Line(list[0])
	}
	return fmt.Sprintf("%d learnings: %s …", len(list), Line(list[0]))
}

// Line formats a learning as one short line.
func Line(l hermes.Learning) string {
	line := l.Pattern
	if l.Fix != "" {
		line += " → " + l.Fix
	}
	line = strings.Join(strings.Fields(line), " ")
	if runes := []rune(line); len(runes) > 100 {
		line = string(runes[:99]) + "…"
	}
	return line
}
