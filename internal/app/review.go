package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/memory"
	"hermes/internal/review"
	"hermes/internal/session"
	"hermes/internal/toolbox"
)

const (
	// reviewTask is the side task that reviews finished work.
	reviewTask = "background_review"
	// reviewQuiet is how long the user must be idle before a review.
	reviewQuiet = 5 * time.Second
)

// makeReview makes the runner of background reviews, for all sessions.
func (a *App) makeReview() *review.Runner {
	c := review.Config{
		Model:      func(main string) hermes.Model { return a.aux().Model(reviewTask, main) },
		NewRuntime: a.reviewRuntime, Known: a.remembered, Cost: a.reviewCost, Now: a.opts.Now,
		Queue: func(ctx context.Context) (review.Queue, error) { return a.Database(ctx) }, Load: a.earlierConversation,
		Notices: review.On,
	}
	if cfg, err := a.config(); err == nil {
		m := cfg.Memory()
		c.Pace = review.Pace{Turns: m.NudgeInterval, Steps: cfg.Skills().CreationNudgeInterval, Flush: m.FlushMinTurns}
		c.Notices = review.ParseNotices(cfg.Display().MemoryNotifications)
		set := cfg.Auxiliary(reviewTask).MaxInputTokens
		c.Input = func(model string) int { return review.Input(set, a.window(model)) }
	}
	return review.New(c)
}

// reviewRuntime makes the runtime of one review: the memory tools, the skills tools
// behind the replay gate, and the configured extra tools that only read. All of them
// are behind the tool chain.
func (a *App) reviewRuntime(ctx context.Context, t review.Conversation) (review.Runtime, error) {
	cfg, err := a.config()
	if err != nil {
		return review.Runtime{}, err
	}
	tools := a.newSessionTools(cfg, func(string) {})
	gate, skills, err := a.gatedSkills(ctx, cfg, tools, t)
	if err != nil {
		return review.Runtime{}, errors.Join(err, tools.shell.Close())
	}
	b := review.Runtime{Close: tools.shell.Close}
	if gate != nil {
		b.Trials = gate.Trials
	}
	names := []string{"memory", "skills"}
	extra := a.reading(ctx, cfg, tools, cfg.Auxiliary(reviewTask).ExtraTools)
	if len(extra) > 0 {
		env, err := a.environment(hermes.Session{Dir: t.Session.Dir})
		if err != nil {
			return review.Runtime{}, errors.Join(err, b.Close())
		}
		b.Environment, b.Close = env, func() error { return errors.Join(tools.shell.Close(), env.Close()) }
	}
	sets := append([]hermes.Toolset{a.memoryTools(), skills}, tools.sets...) // the first of two with the same name is used
	set, err := toolbox.NewCatalogue(sets, nil, a.opts.Now).Select(ctx, toolbox.Selection{Enabled: append(names, extra...), Platform: t.Session.Platform})
	if err != nil {
		return review.Runtime{}, errors.Join(err, b.Close())
	}
	o := toolbox.Options{Set: set, Approvals: a.approvals(cfg), Log: a.log(), Now: a.opts.Now}
	if cfg.Security().RedactSecrets {
		o.Redact = a.Mask
	}
	b.Tools = toolbox.New(o)
	return b, nil
}

// reading keeps those of the named tools that certainly change nothing, because no
// user watches a review.
func (a *App) reading(ctx context.Context, cfg *config.Config, tools *sessionTools, names []string) []string {
	specs := a.specs(ctx, cfg, tools)
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		at := slices.IndexFunc(specs, func(s hermes.Spec) bool { return s.Name == name })
		if at >= 0 && specs[at].Effect == hermes.EffectNone {
			return false
		}
		a.log().Warn("a tool of auxiliary."+reviewTask+".extra_tools is ignored: it is unknown or not read-only", "tool", name)
		return true
	})
}

// specs lists all tools of a kit.
func (a *App) specs(ctx context.Context, cfg *config.Config, tools *sessionTools) []hermes.Spec {
	table := a.catalogue(cfg, tools)
	set, err := table.Select(ctx, toolbox.Selection{Enabled: table.Names()})
	if err != nil { // only because ctx has ended, which the caller sees too
		return nil
	}
	return set.Specs()
}

// remembered returns the content of the two memory files for a session's user.
func (a *App) remembered(ctx context.Context, of hermes.SessionRef) string {
	b, err := a.memoryFile()
	if err != nil {
		return ""
	}
	b = b.For(of.Platform, of.User)
	var blocks []string
	for _, t := range memory.Targets() {
		if block, err := b.Block(ctx, t); err == nil && block != "" {
			blocks = append(blocks, block)
		}
	}
	return strings.Join(blocks, "\n\n")
}

// reviewCost returns the cost of a session's reviews and their replays, if every price
// is known.
func (a *App) reviewCost(ctx context.Context, session string) (hermes.Money, bool) {
	g, err := a.meter()
	if err != nil {
		return 0, false
	}
	list, err := g.Spent(ctx, hermes.SpendQuery{Session: session, By: hermes.SpendByPurpose})
	if err != nil {
		return 0, false
	}
	var sum hermes.Money
	known := true
	for _, s := range list {
		if s.Name == reviewTask || s.Name == replayTask {
			sum += s.Money
			known = known && s.Unpriced == 0
		}
	}
	return sum, known
}

// earlierConversation reads a session for a review or a replay.
func (a *App) earlierConversation(ctx context.Context, id string) (review.Conversation, error) {
	db, err := a.Database(ctx)
	if err != nil {
		return review.Conversation{}, err
	}
	row, err := db.FindSession(ctx, id)
	if err != nil {
		return review.Conversation{}, err
	}
	list, err := db.Messages(ctx, row.ID, hermes.Range{})
	return review.Conversation{
		Session: hermes.SessionRef{
			ID: row.ID, Turn: row.Turns, Platform: row.Platform, User: row.User, Dir: row.Dir, Provenance: hermes.AddProvenance(row.Provenance, hermes.TranscriptProvenance(list)),
		},
		Model: row.Model, Transcript: list,
	}, err
}

// addReview enables reviews of a session, unless they are off or make no sense for
// its platform.
func (a *App) addReview(cfg *config.Config, row hermes.Session, runtime *session.Runtime) {
	task := cfg.Auxiliary(reviewTask)
	if !task.Enabled || a.opts.IgnoreRules || a.opts.BaseURL != "" || slices.Contains(untitled, row.Platform) {
		return
	}
	if task.Defer != "never" {
		runtime.Defer = session.Defer{Quiet: reviewQuiet, MaxAge: task.DeferMaxAge}
	}
	conversation := func(ref hermes.SessionRef, model string, transcript []hermes.Message) review.Conversation {
		return review.Conversation{Session: ref, Model: model, Transcript: transcript}
	}
	runtime.Due = func(ctx context.Context, ref hermes.SessionRef, transcript []hermes.Message) bool {
		return a.drafts.Has(ref.ID) || a.review().Due(ctx, conversation(ref, "", transcript))
	}
	runtime.Save = func(ctx context.Context, ref hermes.SessionRef, model string, transcript []hermes.Message, cut bool) error {
		return a.review().Save(ctx, conversation(ref, model, transcript), cut)
	}
	runtime.Review = func(ctx context.Context, ref hermes.SessionRef, model string, transcript []hermes.Message, op session.Review) (string, error) {
		t := conversation(ref, model, transcript)
		if op.Asked {
			t.Focus = op.Focus
			return a.review().Now(ctx, t)
		}
		tried, err := a.tryDrafts(ctx, cfg, t)
		if err != nil {
			return tried, err
		}
		said, err := a.review().Turn(ctx, t)
		return strings.TrimSpace(tried + "\n\n" + said), err
	}
}
