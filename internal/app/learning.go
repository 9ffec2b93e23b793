package app

import (
	"context"

	"hermes"
	"hermes/internal/home"
	failures "hermes/internal/hook/learning"
	client "hermes/internal/learning"
	"hermes/internal/undo"
)

// learnings opens the store of learnings from failures.
func (a *App) learnings(ctx context.Context) (hermes.Learnings, error) { return a.Database(ctx) }

// learningHook adds known fixes to failures that were seen before.
func (a *App) learningHook() hermes.Hook {
	return failures.New(failures.Config{Store: a.learnings, Now: a.opts.Now, Log: a.log()})
}

// Learned returns the learnings from failures, whose changes can be undone.
func (a *App) Learned() *client.Store {
	pending := func() (string, error) {
		h, err := a.home()
		if err != nil {
			return "", err
		}
		return h.Pending("learnings"), nil
	}
	return client.New(client.Config{Open: a.learnings, Now: a.opts.Now, Pending: pending, Record: func(ctx context.Context, by, what string, records []string, write func() error) error {
		h, err := a.home()
		if err != nil {
			return err
		}
		return a.changes(h).Record(ctx, undo.Note{Kind: "learning", Actor: by, What: what}, records, write)
	}})
}

// changes returns the journal of changes that can be undone.
func (a *App) changes(h home.Dir) *undo.Journal {
	l := a.Learned()
	return undo.New(h.Join("undo"), a.opts.Now).With(client.Source, undo.Source{Read: l.ReadRecord, Write: l.WriteRecord})
}
