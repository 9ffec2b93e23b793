package app

import (
	"context"

	"hermes"
	failures "hermes/internal/hook/learning"
	"hermes/internal/tool/learning"
)

// learnings opens the store for what is learned from failures.
func (a *App) learnings(ctx context.Context) (hermes.Learnings, error) { return a.Database(ctx) }

func (a *App) learningTools() hermes.Toolset { return learning.New(a.learnings, a.opts.Now) }

// learningHook answers failures that were seen before.
func (a *App) learningHook() hermes.Hook {
	return failures.New(failures.Config{Store: a.learnings, Now: a.opts.Now, Log: a.log()})
}
