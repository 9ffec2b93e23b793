package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/replay"
	"hermes/internal/review"
	"hermes/internal/skill"
	"hermes/internal/tool/skills"
)

// replayTask is the side task that replays a recorded task.
const replayTask = "skill_replay"

// notTasks lists the tools that store things; their calls are not part of a task.
func notTasks() []string {
	return []string{"memory", "skill_manage", "skill_view", "skills_list", "learning", "todo"}
}

func replays(cfg *config.Config) bool {
	return cfg.Skills().Replay != "off" && cfg.Auxiliary(replayTask).Enabled
}

// gatedSkills returns the replay gate and the skills toolset behind it; the gate is
// nil if replays are off.
func (a *App) gatedSkills(ctx context.Context, cfg *config.Config, tools *sessionTools, t review.Conversation) (*replay.Gate, hermes.Toolset, error) {
	lib, err := a.skills()
	if err != nil {
		return nil, nil, err
	}
	if !replays(cfg) {
		return nil, a.skillTools(), nil
	}
	here := lib.In(t.Session.Dir)
	r, ok := replay.Record(a.tape(ctx, cfg, tools, t))
	gate := replay.NewGate(here, replay.Rules{
		Task: ok, Own: here.Own, Check: here.Check, Drop: cfg.Skills().ReplayLosers == "drop",
		Replay: func(ctx context.Context, d replay.Draft) (hermes.SkillTrial, error) {
			return replay.Try(ctx, a.replayConfig(cfg), r, d)
		},
	})
	return gate, skills.New(skills.Config{
		Library: func(string) hermes.SkillLibrary { return gate },
		Waits:   func(name string) bool { return here.Waits(ctx, name) },
	}), nil
}

func (a *App) replayConfig(cfg *config.Config) replay.Config {
	return replay.Config{
		Model:  func(main string) hermes.Model { return a.aux().Model(replayTask, main) },
		Tokens: int64(cfg.Skills().ReplayMaxTokens), Now: a.opts.Now,
	}
}

// tape returns the source for a recording of a conversation.
func (a *App) tape(ctx context.Context, cfg *config.Config, tools *sessionTools, t review.Conversation) replay.Source {
	specs := a.specs(ctx, cfg, tools)
	effects := map[string]hermes.Spec{}
	for _, s := range specs {
		effects[s.Name] = s
	}
	return replay.Source{
		Session: t.Session.ID, Model: t.Model, Transcript: t.Transcript, Turn: t.Session.Turn, Specs: specs, Omit: notTasks(),
		Changes: func(c hermes.ToolCall) bool { // unknown tools count as changing something
			return effects[c.Name].EffectOf([]byte(c.Arguments)) != hermes.EffectNone
		},
	}
}

// noTask says why a draft was not replayed.
const noTask = "no turn can be replayed to test it; that needs a turn with at least two tool calls and an answer"

// tryDrafts replays the skills that the session's model wrote in its last turns.
// They are stored already, with the user's approval. tryDrafts records and reports
// the outcome and undoes a change that did harm.
func (a *App) tryDrafts(ctx context.Context, cfg *config.Config, t review.Conversation) (report string, err error) {
	drafts := a.drafts.Take(t.Session.ID)
	if len(drafts) == 0 || !replays(cfg) {
		return "", nil
	}
	lib, err := a.skills()
	if err != nil {
		return "", err
	}
	tools := a.newSessionTools(cfg, func(string) {})
	defer tools.shell.Close() // nothing was started
	from := a.tape(ctx, cfg, tools, t)
	from.Turn, from.Not = 0, t.Session.Turn
	r, ok := replay.Record(from)
	from.Not = 0
	_, sameTurn := replay.Record(from)
	var lines []string
	for i, d := range drafts {
		if d.Before != "" && !lib.Own(d.Name) {
			continue
		}
		trial := hermes.SkillTrial{Verdict: hermes.SkillUndecided, Why: noTask}
		switch {
		case !ok && sameTurn:
			trial.Why = "it was written in the turn that did the work, and only earlier turns are replayed automatically; " +
				"to replay that turn, use `hermes skills replay " + d.Name + " --session " + t.Session.ID + "`"
		case i >= maxDraftsTried:
			trial.Why = fmt.Sprintf("at most %d drafts are tested at a time", maxDraftsTried)
		case ok:
			if trial, err = replay.Try(ctx, a.replayConfig(cfg), r, d); err != nil {
				return strings.Join(lines, "\n\n"), err
			}
		}
		line, err := a.settleDraft(ctx, lib.In(t.Session.Dir), t.Session.ID, d, trial)
		if err != nil {
			return strings.Join(lines, "\n\n"), err
		}
		lines = append(lines, line)
	}
	if review.ParseNotices(cfg.Display().MemoryNotifications) == review.Off {
		return "", nil
	}
	return strings.Join(lines, "\n\n"), nil
}

// maxDraftsTried limits the replays after one turn.
const maxDraftsTried = 2

// settleDraft records a trial and undoes a change that did harm: it archives a new
// skill and restores the earlier text of an old one.
func (a *App) settleDraft(ctx context.Context, lib *skill.Library, session string, d replay.Draft, t hermes.SkillTrial) (string, error) {
	now, err := lib.View(ctx, d.Name, "")
	if errors.Is(err, hermes.ErrNotFound) {
		return "", nil // deleted meanwhile
	}
	if err != nil {
		return "", err
	}
	if err := lib.RecordTrial(ctx, d.Name, t); err != nil {
		return "", err
	}
	line := "The skill " + d.Name + " " + t.Line() + "."
	if t.Verdict == hermes.SkillUndecided {
		line = "The skill " + d.Name + " is kept and " + t.Line() + "."
	}
	usage, err := lib.Usages()
	if err != nil || !t.Harmful() || now.Content != d.Text || usage[d.Name].Pinned || !usage[d.Name].Agent {
		return line, err
	}
	if d.Before == "" {
		return line + " It was archived; restore it with `hermes curator restore " + d.Name + "`.", lib.Archive(ctx, d.Name, t.Line())
	}
	_, err = lib.Save(ctx, hermes.SkillEdit{Name: d.Name, Content: d.Before, Base: now.Hash, Agent: true, Session: session})
	return line + " The change was undone; `hermes undo` restores it.", err
}

// Replay tests a skill on a turn of a recorded session, the given one or the hardest,
// and records the outcome.
func (s *Skills) Replay(ctx context.Context, name, session string, turn int64) (hermes.SkillTrial, error) {
	a := s.app
	cfg, err := a.config()
	if err != nil {
		return hermes.SkillTrial{}, err
	}
	t, err := a.earlierConversation(ctx, session)
	switch {
	case errors.Is(err, hermes.ErrNotFound):
		return hermes.SkillTrial{}, fmt.Errorf("there is no session %q; run `hermes sessions list`", session)
	case err != nil:
		return hermes.SkillTrial{}, err
	}
	db, err := a.Database(ctx)
	if err != nil {
		return hermes.SkillTrial{}, err
	}
	if t.Transcript, err = db.Messages(ctx, t.Session.ID, hermes.Range{Raw: true}); err != nil {
		return hermes.SkillTrial{}, err
	}
	lib := s.In(t.Session.Dir)
	now, err := lib.View(ctx, name, "")
	if err != nil {
		return hermes.SkillTrial{}, err
	}
	tools := a.newSessionTools(cfg, func(string) {})
	defer tools.shell.Close() // nothing was started
	from := a.tape(ctx, cfg, tools, t)
	from.Turn = turn
	r, ok := replay.Record(from)
	switch {
	case !ok:
		return hermes.SkillTrial{}, fmt.Errorf("no turn of session %s can be replayed; that needs a turn with at least two tool calls and an answer", t.Session.ID)
	case turn > 0 && r.Turn != turn:
		return hermes.SkillTrial{}, fmt.Errorf("turn %d of session %s cannot be replayed; turn %d can", turn, t.Session.ID, r.Turn)
	}
	trial, err := replay.Try(ctx, a.replayConfig(cfg), r, replay.Draft{Name: now.Skill.Name, Text: now.Content})
	if err != nil {
		return trial, err
	}
	return trial, lib.RecordTrial(ctx, now.Skill.Name, trial)
}
