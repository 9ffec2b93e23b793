package app

import (
	"context"
	"slices"

	"hermes"
	"hermes/internal/config"
)

// summarizer stores what a session was about, or is nil where nobody will look for
// it. A run with a service of its own, such as the demo's, asks no model.
func (a *App) summarizer(cfg *config.Config, row hermes.Session) func(context.Context, string, []hermes.Message) error {
	if !cfg.Sessions().Summaries || a.opts.BaseURL != "" || slices.Contains(untitled, row.Platform) {
		return nil
	}
	return func(ctx context.Context, model string, transcript []hermes.Message) error {
		text, err := a.aux().Summary(ctx, model, row.ID, transcript)
		if err != nil || text == "" {
			return err
		}
		db, err := a.Database(ctx)
		if err != nil {
			return err
		}
		return db.SaveSummary(ctx, hermes.Summary{Session: row.ID, Text: a.Mask(text), At: a.opts.Now()})
	}
}
