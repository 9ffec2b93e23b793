package app

import (
	"context"

	"hermes"
	"hermes/internal/auxiliary"
	"hermes/internal/config"
	"hermes/internal/contextengine"
)

// contextEngine makes the engine that keeps a session inside its window, or
// nil where compression is off.
func (a *App) contextEngine(cfg *config.Config, row hermes.Session) hermes.ContextEngine {
	c := cfg.Compression()
	if !c.Enabled {
		return nil
	}
	return contextengine.New(contextengine.Options{
		Config: contextengine.Config{
			Threshold: c.Threshold, ThresholdTokens: c.ThresholdTokens, TargetRatio: c.TargetRatio, ProtectFirst: c.ProtectFirst,
		},
		Summarize: func(ctx context.Context, prompt string, maxTokens int) (string, error) {
			return a.aux().Ask(ctx, auxiliary.Call{
				Task: auxiliary.Compression, Main: row.Model, Session: row.ID, Prompt: prompt, MaxTokens: maxTokens,
			})
		},
		Redact: a.Mask, Now: a.opts.Now, Log: a.log(),
	})
}
