package app

import (
	"context"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/memory"
	"hermes/internal/review"
	"hermes/internal/session"
	"hermes/internal/toolbox"
)

// reviewTask is the side task that looks back at hard work.
const reviewTask = "background_review"

// makeReview makes the room that looks back at hard work, for all sessions.
func (a *App) makeReview() *review.Room {
	c := review.Config{
		Model: func(main string) hermes.Model { return a.aux().Model(reviewTask, main) },
		Tools: a.reviewTools, Known: a.remembered, Cost: a.reviewCost, Now: a.opts.Now,
	}
	if cfg, err := a.config(); err == nil {
		c.MaxInput = cfg.Auxiliary(reviewTask).MaxInputTokens
	}
	return review.New(c)
}

// reviewTools are the tools of memory and skills behind the tool onion, and no
// others.
func (a *App) reviewTools(ctx context.Context, s hermes.SessionRef) (session.Toolbox, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	sets := []hermes.Toolset{a.memoryTools(), a.skillTools()}
	set, err := toolbox.NewCatalogue(sets, nil, a.opts.Now).Select(ctx, toolbox.Selection{Enabled: []string{"memory", "skills"}, Platform: s.Platform})
	if err != nil {
		return nil, err
	}
	o := toolbox.Options{Set: set, Approvals: a.approvals(cfg), Log: a.log(), Now: a.opts.Now}
	if cfg.Security().RedactSecrets {
		o.Redact = a.Mask
	}
	return toolbox.New(o), nil
}

// remembered is what the two files of memory hold.
func (a *App) remembered(ctx context.Context) string {
	b, err := a.book()
	if err != nil {
		return ""
	}
	var blocks []string
	for _, t := range memory.Targets() {
		if block, err := b.Block(ctx, t); err == nil && block != "" {
			blocks = append(blocks, block)
		}
	}
	return strings.Join(blocks, "\n\n")
}

// reviewCost is what the reviews of a session have cost, if every price is
// known.
func (a *App) reviewCost(ctx context.Context, session string) (hermes.Money, bool) {
	g, err := a.meter()
	if err != nil {
		return 0, false
	}
	list, err := g.Spent(ctx, hermes.SpendQuery{Session: session, By: hermes.SpendByPurpose})
	if err != nil {
		return 0, false
	}
	for _, s := range list {
		if s.Name == reviewTask {
			return s.Money, s.Unpriced == 0
		}
	}
	return 0, true
}

// looksBack looks back at the work of a session, or is nil where that is
// switched off or nobody would want it.
func (a *App) looksBack(cfg *config.Config, row hermes.Session) func(context.Context, hermes.SessionRef, string, []hermes.Message, session.Review) (string, error) {
	if !cfg.Auxiliary(reviewTask).Enabled || a.opts.IgnoreRules || a.opts.BaseURL != "" || slices.Contains(untitled, row.Source) {
		return nil
	}
	return func(ctx context.Context, ref hermes.SessionRef, model string, transcript []hermes.Message, op session.Review) (string, error) {
		t := review.Talk{Session: ref, Model: model, Transcript: transcript, Focus: op.Focus}
		if op.Asked {
			return a.review().Now(ctx, t)
		}
		return a.review().Turn(ctx, t)
	}
}
