package app

import (
	"cmp"
	"context"
	"time"

	"hermes"
	"hermes/internal/home"
	failures "hermes/internal/hook/learning"
	client "hermes/internal/learning"
	"hermes/internal/tool/learning"
	"hermes/internal/undo"
)

// learnings opens the store for what is learned from failures.
func (a *App) learnings(ctx context.Context) (hermes.Learnings, error) { return a.Database(ctx) }

func (a *App) learningTools() hermes.Toolset {
	return learning.New(func(ctx context.Context) (hermes.Learnings, error) {
		store, err := a.learnings(ctx)
		return recorded{store, a.learned()}, err
	}, a.opts.Now)
}

// recorded saves fixes so that they can be taken back.
type recorded struct {
	hermes.Learnings
	store *client.Store
}

// SaveLearning stores a fix on behalf of the session that it names, or of the
// person.
func (r recorded) SaveLearning(ctx context.Context, l hermes.Learning) (hermes.Learning, error) {
	return r.store.Save(ctx, cmp.Or(l.Session, "person"), l)
}

// learningHook answers failures that were seen before.
func (a *App) learningHook() hermes.Hook {
	return failures.New(failures.Config{Store: a.learnings, Now: a.opts.Now, Log: a.log()})
}

// learned is the learnings with the changes that can be taken back.
func (a *App) learned() *client.Store {
	return client.New(client.Config{Open: a.learnings, Now: a.opts.Now, Record: func(ctx context.Context, by, what string, records []string, write func() error) error {
		h, err := a.home()
		if err != nil {
			return err
		}
		return a.changes(h).Record(ctx, undo.Note{Kind: "learning", Actor: by, What: what}, records, write)
	}})
}

// Learned is what was learned from failures.
func (a *App) Learned() *Learned { return &Learned{a.learned(), a} }

// Learned is what commands do with learnings.
type Learned struct {
	*client.Store
	app *App
}

// Admit checks what a person saves, as if the model did, and brings it into
// its general form.
func (*Learned) Admit(l hermes.Learning) (hermes.Learning, error) { return learning.Admit(l) }

// Keep saves what was admitted, on the failure that looks most like it.
func (l *Learned) Keep(ctx context.Context, fix hermes.Learning) (hermes.Learning, error) {
	store, err := l.app.learnings(ctx)
	if err != nil {
		return fix, err
	}
	if fix.Touched.IsZero() {
		fix.Touched = l.app.opts.Now()
	}
	return learning.Keep(ctx, recorded{store, l.Store}, fix)
}

// recordTime bounds one look at a record of the journal.
const recordTime = 10 * time.Second

// changes is the journal of what can be taken back.
func (a *App) changes(h home.Dir) *undo.Journal {
	return undo.New(h.Join("undo"), a.opts.Now).With(client.Source, undo.Source{
		Read: func(name string) ([]byte, error) {
			ctx, cancel := context.WithTimeout(context.Background(), recordTime)
			defer cancel()
			return a.learned().ReadRecord(ctx, name)
		},
		Write: func(name string, content []byte) error {
			ctx, cancel := context.WithTimeout(context.Background(), recordTime)
			defer cancel()
			return a.learned().WriteRecord(ctx, name, content)
		},
	})
}

// tidyLearnings joins and retires learnings, and tells the log of each.
func (a *App) tidyLearnings(ctx context.Context) {
	r, err := a.learned().Tidy(ctx, false)
	for _, group := range r.Merged {
		a.log().Info("merged learnings", "count", len(group), "learning", client.Line(group[0]))
	}
	for _, gone := range r.Retired {
		a.log().Info("retired a learning", "why", gone.Why, "learning", client.Line(gone.Learning))
	}
	if err != nil {
		a.log().Warn("look after the learnings", "err", err)
	}
}
