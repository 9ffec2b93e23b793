package app

import (
	"context"

	"hermes"
	"hermes/internal/config"
)

// summarizer returns the func that stores a summary of a session, nil for platforms
// that need none. A run with its own service, such as the demo, gets none.
func (a *App) summarizer(cfg *config.Config, run hermes.RunSpec) func(context.Context, string, []hermes.Message) error {
	if !cfg.Sessions().Summaries || a.opts.BaseURL != "" || untitled(run.Origin) {
		return nil
	}
	return func(ctx context.Context, model string, transcript []hermes.Message) error {
		text, err := a.aux().Summary(ctx, model, run.Session, transcript)
		if err != nil || text == "" {
			return err
		}
		db, err := a.Database(ctx)
		if err != nil {
			return err
		}
		return db.SaveSummary(ctx, hermes.Summary{Session: run.Session, Text: a.Mask(text), At: a.opts.Now()})
	}
}
