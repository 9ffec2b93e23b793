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

// replayTask is the side task that does a recorded task again.
const replayTask = "skill_replay"

// notTasks are the tools that keep things: what they did is no part of a task.
func notTasks() []string {
	return []string{"memory", "skill_manage", "skill_view", "skills_list", "learning", "todo"}
}

func replays(cfg *config.Config) bool {
	return cfg.Skills().Replay != "off" && cfg.Auxiliary(replayTask).Enabled
}

// gatedSkills is the toolset skills behind the gate of replays, and the gate;
// nil where replays are switched off.
func (a *App) gatedSkills(ctx context.Context, cfg *config.Config, tools *toolKit, t review.Conversation) (*replay.Gate, hermes.Toolset, error) {
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

// tape is what a recording of a talk is made from.
func (a *App) tape(ctx context.Context, cfg *config.Config, tools *toolKit, t review.Conversation) replay.Source {
	specs := a.specs(ctx, cfg, tools)
	effects := map[string]hermes.Spec{}
	for _, s := range specs {
		effects[s.Name] = s
	}
	return replay.Source{
		Session: t.Session.ID, Model: t.Model, Transcript: t.Transcript, Turn: t.Session.Turn, Specs: specs, Omit: notTasks(),
		Changes: func(c hermes.ToolCall) bool { // a tool that is gone may have done anything
			return effects[c.Name].EffectOf([]byte(c.Arguments)) != hermes.EffectNone
		},
	}
}

// noTask tells why a draft was not tried.
const noTask = "nothing in the conversation can be done again to try it; that takes a turn with two calls of tools at least, which ended in words"

// tryDrafts tries the skills that the session's own model wrote in its last
// turns. They stand already, by the person's leave: what won or lost is booked
// and told, and what did harm is taken back.
func (a *App) tryDrafts(ctx context.Context, cfg *config.Config, t review.Conversation) (told string, err error) {
	drafts := a.drafts.Take(t.Session.ID)
	if len(drafts) == 0 || !replays(cfg) {
		return "", nil
	}
	lib, err := a.skills()
	if err != nil {
		return "", err
	}
	tools := a.newSessionTools(cfg, func(string) {})
	defer tools.shell.Close() // nothing was begun
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
			trial.Why = "it was written in the turn that did the work, and it is tried on earlier ones by itself; " +
				"to try it on that turn: `hermes skills replay " + d.Name + " --session " + t.Session.ID + "`"
		case i >= maxDraftsTried:
			trial.Why = fmt.Sprintf("no more than %d drafts are tried at a time", maxDraftsTried)
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

// maxDraftsTried bounds the replays after one turn.
const maxDraftsTried = 2

// settleDraft books a trial and takes back what did harm: a new skill goes to
// the archive, of an older one the text of before comes back.
func (a *App) settleDraft(ctx context.Context, lib *skill.Library, session string, d replay.Draft, t hermes.SkillTrial) (string, error) {
	now, err := lib.View(ctx, d.Name, "")
	if errors.Is(err, hermes.ErrNotFound) {
		return "", nil // it is gone meanwhile
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
		return line + " It was taken away; `hermes curator restore " + d.Name + "` brings it back.", lib.Archive(ctx, d.Name, t.Line())
	}
	_, err = lib.Save(ctx, hermes.SkillEdit{Name: d.Name, Content: d.Before, Base: now.Hash, Agent: true, Session: session})
	return line + " The change was taken back; `hermes undo` makes it again.", err
}

// Replay tries a skill as it stands against the task of a recorded session, the
// turn that is named or the hardest one, and books the outcome.
func (s *Skills) Replay(ctx context.Context, name, session string, turn int64) (hermes.SkillTrial, error) {
	a := s.app
	cfg, err := a.config()
	if err != nil {
		return hermes.SkillTrial{}, err
	}
	t, err := a.earlierConversation(ctx, session)
	switch {
	case errors.Is(err, hermes.ErrNotFound):
		return hermes.SkillTrial{}, fmt.Errorf("there is no session %q; `hermes sessions list` shows those there are", session)
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
	defer tools.shell.Close() // nothing was begun
	from := a.tape(ctx, cfg, tools, t)
	from.Turn = turn
	r, ok := replay.Record(from)
	switch {
	case !ok:
		return hermes.SkillTrial{}, fmt.Errorf("nothing in the session %s can be done again: that takes a turn with two calls of tools at least, which ended in words", t.Session.ID)
	case turn > 0 && r.Turn != turn:
		return hermes.SkillTrial{}, fmt.Errorf("turn %d of the session %s cannot be done again; turn %d can", turn, t.Session.ID, r.Turn)
	}
	trial, err := replay.Try(ctx, a.replayConfig(cfg), r, replay.Draft{Name: now.Skill.Name, Text: now.Content})
	if err != nil {
		return trial, err
	}
	return trial, lib.RecordTrial(ctx, now.Skill.Name, trial)
}
