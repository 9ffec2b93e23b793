package app

import (
	"context"

	"hermes"
	"hermes/internal/home"
	failures "hermes/internal/hook/learning"
	client "hermes/internal/learning"
	"hermes/internal/tool/learning"
	"hermes/internal/undo"
)

// learnings opens the store of learnings from failures.
func (a *App) learnings(ctx context.Context) (hermes.Learnings, error) { return a.Database(ctx) }

func (a *App) learningTools() hermes.Toolset {
	return learning.New(learning.Config{
		Open: func(ctx context.Context) (hermes.Learnings, error) {
			store, err := a.learnings(ctx)
			return a.learned().Undoable(store), err
		},
		Propose: func(ctx context.Context, l hermes.Learning) (string, error) {
			p, err := a.learned().Propose(ctx, l)
			return p.ID, err
		},
		Now: a.opts.Now,
	})
}

// learningHook adds known fixes to failures that were seen before.
func (a *App) learningHook() hermes.Hook {
	return failures.New(failures.Config{Store: a.learnings, Now: a.opts.Now, Log: a.log()})
}

// learned returns the learnings store, whose changes can be undone.
func (a *App) learned() *client.Store {
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

// Learned returns the learnings for commands.
func (a *App) Learned() *Learned { return &Learned{a.learned(), a} }

// Learned is the learnings store with what commands need.
type Learned struct {
	*client.Store
	app *App
}

// Admit checks a fix that the user saves, by the same rules as for the model, and
// returns its general form.
func (*Learned) Admit(l hermes.Learning) (hermes.Learning, error) { return learning.Admit(l) }

// Keep saves an admitted fix with the failure that it is about. replaced is the fix
// that this failure had before.
func (l *Learned) Keep(ctx context.Context, fix hermes.Learning) (saved hermes.Learning, replaced string, err error) {
	store, err := l.app.learnings(ctx)
	if err != nil {
		return fix, "", err
	}
	if fix.Touched.IsZero() {
		fix.Touched = l.app.opts.Now()
	}
	return learning.Keep(ctx, l.Undoable(store), fix)
}

// Approve saves a pending learning as it was proposed. replaced is the fix that its
// failure had before.
func (l *Learned) Approve(ctx context.Context, id string) (saved hermes.Learning, replaced string, err error) {
	p, err := l.Proposal(id)
	if err != nil {
		return hermes.Learning{}, "", err
	}
	if saved, replaced, err = l.Keep(ctx, p.Learning); err != nil {
		return saved, "", err
	}
	return saved, replaced, l.Reject(id)
}

// changes returns the journal of changes that can be undone.
func (a *App) changes(h home.Dir) *undo.Journal {
	l := a.learned()
	return undo.New(h.Join("undo"), a.opts.Now).With(client.Source, undo.Source{Read: l.ReadRecord, Write: l.WriteRecord})
}
