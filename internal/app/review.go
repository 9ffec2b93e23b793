package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hermes"
	"hermes/internal/auxiliary"
	"hermes/internal/config"
	"hermes/internal/memory"
	"hermes/internal/replay"
	"hermes/internal/review"
	"hermes/internal/session"
	"hermes/internal/session/jobs"
	"hermes/internal/skill"
	"hermes/internal/store"
	"hermes/internal/tool/skills"
	"hermes/internal/toolbox"
	"hermes/internal/toolset"
)

// reviewQuiet is how long the user must be idle before a review.
const reviewQuiet = 5 * time.Second

// makeReview makes the runner of background reviews, for all sessions.
func (a *App) makeReview() *review.Runner {
	c := review.Config{
		Model:      func(main string) hermes.Model { return a.aux().Model(auxiliary.Review, main) },
		NewRuntime: a.reviewRuntime, Now: a.opts.Now, Notices: review.On,
		Known: func(ctx context.Context, of hermes.SessionRef) string {
			f, err := a.memoryFile()
			if err != nil {
				return ""
			}
			known, _ := memory.Builtin{File: f.For(of)}.SystemBlock(ctx) // what can be read
			return known
		},
		Cost: func(ctx context.Context, session string) (hermes.Money, bool) {
			g, err := a.meter()
			if err != nil {
				return 0, false
			}
			return g.CostOf(ctx, session, auxiliary.Review, auxiliary.Replay)
		},
		Queue: func(ctx context.Context) (store.Reviews, error) { return a.Database(ctx) },
		Load: func(ctx context.Context, session string) (review.Conversation, error) {
			return a.storedConversation(ctx, session, hermes.Range{})
		},
	}
	if cfg, err := a.config(); err == nil {
		m := cfg.Memory()
		c.Pace = review.Pace{Turns: m.NudgeInterval, Steps: cfg.Skills().CreationNudgeInterval, Flush: m.FlushMinTurns}
		c.Notices = review.ParseNotices(cfg.Display().MemoryNotifications)
		set := cfg.Auxiliary(auxiliary.Review).MaxInputTokens
		c.Input = func(model string) int { return review.Input(set, a.models.Window(model)) }
	}
	return review.New(c)
}

// storedConversation reads a session for a review or a replay.
func (a *App) storedConversation(ctx context.Context, session string, which hermes.Range) (review.Conversation, error) {
	db, err := a.Database(ctx)
	if err != nil {
		return review.Conversation{}, err
	}
	return review.Load(ctx, db, session, which)
}

// makeTrials makes what tries the skills that models write, for all sessions.
func (a *App) makeTrials() *replay.Trials {
	c := replay.TrialsConfig{
		Config: replay.Config{Model: func(main string) hermes.Model { return a.aux().Model(auxiliary.Replay, main) }, Now: a.opts.Now},
		Skills: func(s hermes.SessionRef) (*skill.Library, error) {
			lib, err := a.skills()
			if err != nil {
				return nil, err
			}
			return lib.In(a.projectFolder(s)), nil
		},
	}
	cfg, err := a.config()
	if err != nil {
		c.Off = true
		return replay.NewTrials(c)
	}
	c.Tokens = int64(cfg.Skills().ReplayMaxTokens)
	c.Off, c.Drop = cfg.Skills().Replay == "off" || !cfg.Auxiliary(auxiliary.Replay).Enabled, cfg.Skills().ReplayLosers == "drop"
	c.Quiet = review.ParseNotices(cfg.Display().MemoryNotifications) == review.Off
	c.Specs = func(ctx context.Context) []hermes.Spec { return a.tooling().catalogue.All(ctx) }
	return replay.NewTrials(c)
}

// Replay tests a skill on a turn of a recorded session, the given one or the hardest for
// 0, and records the outcome.
func (s *Skills) Replay(ctx context.Context, name, session string, turn int64) (hermes.SkillTrial, error) {
	if err := s.app.CheckHalt(); err != nil {
		return hermes.SkillTrial{}, err
	}
	c, err := s.app.storedConversation(ctx, session, hermes.Range{Raw: true})
	switch {
	case errors.Is(err, hermes.ErrNotFound):
		return hermes.SkillTrial{}, fmt.Errorf("there is no session %q; run `hermes sessions list`", session)
	case err != nil:
		return hermes.SkillTrial{}, err
	}
	return s.app.trials().Replay(ctx, name, c, turn)
}

// reviewRuntime makes the runtime of one review: the memory tools, the skills tools
// behind the replay gate, and the configured extra tools that only read. All of them
// are behind the tool chain.
func (a *App) reviewRuntime(ctx context.Context, t review.Conversation) (review.Runtime, error) {
	cfg, err := a.config()
	if err != nil {
		return review.Runtime{}, err
	}
	var b review.Runtime
	skillTools := a.skillTools()
	gate, err := a.trials().Gate(ctx, t)
	if err != nil {
		return review.Runtime{}, err
	}
	if gate != nil {
		b.Trials = gate.Trials
		skillTools = skills.New(skills.Config{
			Library: func(hermes.SessionRef) hermes.SkillLibrary { return gate },
			Waits:   func(name string) bool { return gate.Waits(ctx, name) },
		})
	}
	of, err := a.reviewRun(ctx, t.Session)
	if err != nil {
		return review.Runtime{}, err
	}
	approvals, err := a.approvals(cfg, of)
	if err != nil {
		return review.Runtime{}, err
	}
	record, err := a.record()
	if err != nil {
		return review.Runtime{}, err
	}
	names := []string{"memory", "skills"}
	extra := a.reading(ctx, cfg.Auxiliary(auxiliary.Review).ExtraTools)
	if len(extra) > 0 {
		env, end, err := a.environmentOf(of, walled{})
		if err != nil {
			return review.Runtime{}, err
		}
		b.Environment, b.Close = env, end
	}
	sets := append([]hermes.Toolset{skillTools}, a.tooling().sets...) // the first of two with the same name is used
	set, err := toolset.NewCatalogue(sets, nil, a.opts.Now).Select(ctx, toolset.Selection{Enabled: append(names, extra...), Platform: t.Session.Platform})
	if err != nil {
		if b.Close != nil {
			err = errors.Join(err, b.Close())
		}
		return review.Runtime{}, err
	}
	o := toolbox.Options{Set: set, Approvals: approvals, Audit: record, Log: a.log(), Now: a.opts.Now}
	if cfg.Security().RedactSecrets {
		o.Redact = a.Mask
	}
	b.Tools = toolbox.New(o)
	return b, nil
}

// reviewRun is the run of a review, which reads files where its session works.
func (a *App) reviewRun(ctx context.Context, s hermes.SessionRef) (hermes.RunSpec, error) {
	run := hermes.RunSpec{Session: session.NewID(a.opts.Now()), Origin: hermes.Origin{Parent: s.ID}, Workspace: hermes.Workspace{Dir: s.Dir}}
	db, err := a.Database(ctx)
	if err != nil {
		return run, err
	}
	row, err := db.FindSession(ctx, s.ID)
	if err != nil {
		return run, fmt.Errorf("find out where the session works: %w", err)
	}
	run.Workspace = row.StoredRun().Workspace
	return run, nil
}

// reading keeps those of the named tools that certainly change nothing, because no
// user watches a review.
func (a *App) reading(ctx context.Context, names []string) []string {
	specs := a.tooling().catalogue.All(ctx)
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		at := slices.IndexFunc(specs, func(s hermes.Spec) bool { return s.Name == name })
		if at >= 0 && specs[at].Effect == hermes.EffectNone {
			return false
		}
		a.log().Warn("a tool of auxiliary."+auxiliary.Review+".extra_tools is ignored: it is unknown or not read-only", "tool", name)
		return true
	})
}

// reviewJob reviews a session, nil if that is off or makes no sense for its platform.
func (a *App) reviewJob(cfg *config.Config, run hermes.RunSpec) jobs.Job {
	task := cfg.Auxiliary(auxiliary.Review)
	if !task.Enabled || run.Prompt.IgnoreRules || a.opts.BaseURL != "" || untitled(run.Origin) {
		return nil
	}
	var wait jobs.Defer
	if task.Defer != "never" {
		wait = jobs.Defer{Quiet: reviewQuiet, MaxAge: task.DeferMaxAge}
	}
	return jobs.Review(a.trials().Before(a.review()), wait, a.opts.Now, a.log())
}
