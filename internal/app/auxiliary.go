package app

import (
	"cmp"
	"context"
	"slices"

	"hermes"
	"hermes/internal/auxiliary"
	"hermes/internal/config"
	"hermes/internal/services"
)

// makeAuxiliary makes the client that calls models for side tasks.
func (a *App) makeAuxiliary() *auxiliary.Client {
	c := auxiliary.Config{
		Task: a.auxiliaryTask, Reach: a.models.Side, Sees: a.models.Sees, Local: a.models.OnOwnServer, Halted: a.CheckHalt, Log: a.log(),
		Text: func() []auxiliary.Choice {
			return a.models.LastResort("openrouter", "nous", "custom", "openai-codex", "*")
		},
		Vision: func() []auxiliary.Choice {
			return a.models.LastResort("openrouter", "nous", "openai-codex", "anthropic", "custom")
		},
	}
	if cfg, err := a.config(); err == nil && a.opts.BaseURL == "" {
		c.Fallback = services.FallbackChoices(cfg)
	}
	return auxiliary.New(c)
}

// auxiliaryTask returns the configuration of a side task. A run with its own
// service, such as the demo, uses no other.
func (a *App) auxiliaryTask(name string) auxiliary.Task {
	cfg, err := a.config()
	if err != nil {
		return auxiliary.Task{}
	}
	t := services.Task(cfg, name)
	if a.opts.BaseURL != "" {
		return auxiliary.Task{Timeout: t.Timeout, Silence: t.Silence, Patient: t.Patient, MaxTokens: t.MaxTokens}
	}
	return t
}

// untitled reports whether a session needs no title, summary or review.
func untitled(o hermes.Origin) bool {
	return slices.Contains([]string{"oneshot", "subagent", "demo", "batch", "kanban", "tool", "cron", "eval"}, cmp.Or(o.Label, o.Platform))
}

// titles returns the func that finds a title for a session, nil if none is wanted.
func (a *App) titles(cfg *config.Config, run hermes.RunSpec) func(context.Context, string, []hermes.Message) (string, error) {
	t := cfg.Auxiliary(auxiliary.TitleTask)
	if !t.Enabled || a.opts.BaseURL != "" || untitled(run.Origin) {
		return nil
	}
	return func(ctx context.Context, model string, transcript []hermes.Message) (string, error) {
		return a.aux().Title(ctx, model, run.Session, t.Language, transcript)
	}
}

// judge returns the model of the smart mode, which reviews calls.
func (a *App) judge(policy string) func(context.Context, hermes.SessionRef, hermes.ApprovalRequest) (hermes.Decision, error) {
	if a.opts.BaseURL != "" {
		return nil
	}
	return func(ctx context.Context, s hermes.SessionRef, shown hermes.ApprovalRequest) (hermes.Decision, error) {
		return a.aux().Judge(ctx, s.Model, s.ID, policy, shown)
	}
}
