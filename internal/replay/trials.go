package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/session/jobs"
	"hermes/internal/skill"
)

// TrialsConfig is what [Trials] work with. All funcs must be set.
type TrialsConfig struct {
	Config
	Off   bool // replays nothing
	Drop  bool // discards drafts of a review that lost
	Quiet bool // reports nothing to the user
	// Skills opens the library of a session, with the skills of its project.
	Skills func(hermes.SessionRef) (*skill.Library, error)
	// Specs lists all tools that a session may have.
	Specs func(ctx context.Context) []hermes.Spec
}

// Trials tries the skills that models write: those of a background review before they
// are kept, those of a conversation after its turn, and any skill when the user asks.
// Its methods may be called concurrently.
type Trials struct {
	cfg    TrialsConfig
	drafts *Drafts // of conversations, until their turn has ended
}

// NewTrials returns trials without drafts. It makes no calls.
func NewTrials(c TrialsConfig) *Trials { return &Trials{cfg: c, drafts: NewDrafts()} }

// Watch returns a library that notes each saved draft for the end of its turn.
func (t *Trials) Watch(l hermes.SkillLibrary) hermes.SkillLibrary { return t.drafts.Watch(l) }

// Waiting reports whether drafts of a session wait for their trial.
func (t *Trials) Waiting(session string) bool { return t.drafts.Has(session) }

// Gate returns the library of a conversation's folder for its review, in which drafts
// are tried before they are kept; nil if replays are off.
func (t *Trials) Gate(ctx context.Context, c jobs.Conversation) (*Gate, error) {
	if t.cfg.Off {
		return nil, nil
	}
	lib, err := t.cfg.Skills(c.Session)
	if err != nil {
		return nil, err
	}
	r, ok := Record(t.source(ctx, c))
	return NewGate(lib, Rules{
		Task: ok, Own: lib.Own, Check: lib.Check, Waits: lib.Waits, Drop: t.cfg.Drop,
		Replay: func(ctx context.Context, d Draft) (hermes.SkillTrial, error) { return Try(ctx, t.cfg.Config, r, d) },
	}), nil
}

// source returns where a task of a conversation is taken from: its last turn, or the
// hardest.
func (t *Trials) source(ctx context.Context, c jobs.Conversation) Source {
	specs := t.cfg.Specs(ctx)
	byName := map[string]hermes.Spec{}
	for _, s := range specs {
		byName[s.Name] = s
	}
	return Source{
		Session: c.Session.ID, Model: c.Model, Transcript: c.Transcript, Turn: c.Session.Turn, Specs: specs, Omit: keeping(),
		Changes: func(c hermes.ToolCall) bool { // unknown tools count as changing something
			return byName[c.Name].EffectOf([]byte(c.Arguments)) != hermes.EffectNone
		},
	}
}

// keeping lists the tools that store things; their calls are not part of a task.
func keeping() []string {
	return []string{"memory", "skill_manage", "skill_view", "skills_list", "learning", "todo"}
}

// maxDraftsTried limits the replays after one turn.
const maxDraftsTried = 2

// noTask says why a draft was not replayed.
const noTask = "no turn can be replayed to test it; that needs a turn with at least two tool calls and an answer"

// Settle tries the drafts of a conversation's last turns, which are stored already, with
// the user's approval. It records the outcomes, undoes a change that did harm, and
// returns a report for the user, "" for none. What it did before an error is reported too.
func (t *Trials) Settle(ctx context.Context, c jobs.Conversation) (report string, err error) {
	drafts := t.drafts.Take(c.Session.ID)
	if len(drafts) == 0 || t.cfg.Off {
		return "", nil
	}
	lib, err := t.cfg.Skills(c.Session)
	if err != nil {
		return "", err
	}
	from := t.source(ctx, c)
	from.Turn, from.Not = 0, c.Session.Turn
	r, ok := Record(from)
	from.Not = 0
	_, sameTurn := Record(from)
	var lines []string
	for i, d := range drafts {
		if d.Before != "" && !lib.Own(d.Name) {
			continue
		}
		trial := hermes.SkillTrial{Verdict: hermes.SkillUndecided, Why: noTask}
		switch {
		case !ok && sameTurn:
			trial.Why = "it was written in the turn that did the work, and only earlier turns are replayed automatically; " +
				"to replay that turn, use `hermes skills replay " + d.Name + " --session " + c.Session.ID + "`"
		case i >= maxDraftsTried:
			trial.Why = fmt.Sprintf("at most %d drafts are tested at a time", maxDraftsTried)
		case ok:
			if trial, err = Try(ctx, t.cfg.Config, r, d); err != nil {
				return strings.Join(lines, "\n\n"), err
			}
		}
		line, err := settle(ctx, lib, c.Session.ID, d, trial)
		if err != nil {
			return strings.Join(lines, "\n\n"), err
		}
		lines = append(lines, line)
	}
	if t.cfg.Quiet {
		return "", nil
	}
	return strings.Join(lines, "\n\n"), nil
}

// settle records a trial and undoes a change that did harm: it archives a new skill and
// restores the earlier text of an old one.
func settle(ctx context.Context, lib *skill.Library, session string, d Draft, t hermes.SkillTrial) (string, error) {
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

// Replay tests a skill on a turn of a conversation, the given one or the hardest for 0,
// and records the outcome.
func (t *Trials) Replay(ctx context.Context, name string, c jobs.Conversation, turn int64) (hermes.SkillTrial, error) {
	lib, err := t.cfg.Skills(c.Session)
	if err != nil {
		return hermes.SkillTrial{}, err
	}
	now, err := lib.View(ctx, name, "")
	if err != nil {
		return hermes.SkillTrial{}, err
	}
	from := t.source(ctx, c)
	from.Turn = turn
	r, ok := Record(from)
	switch {
	case !ok:
		return hermes.SkillTrial{}, fmt.Errorf("no turn of session %s can be replayed; that needs a turn with at least two tool calls and an answer", c.Session.ID)
	case turn > 0 && r.Turn != turn:
		return hermes.SkillTrial{}, fmt.Errorf("turn %d of session %s cannot be replayed; turn %d can", turn, c.Session.ID, r.Turn)
	}
	trial, err := Try(ctx, t.cfg.Config, r, Draft{Name: now.Skill.Name, Text: now.Content})
	if err != nil {
		return trial, err
	}
	return trial, lib.RecordTrial(ctx, now.Skill.Name, trial)
}

// Before returns a reviewer that tries the drafts of a conversation and then lets another one
// review it.
func (t *Trials) Before(next jobs.Reviewer) jobs.Reviewer { return reviewer{next, t} }

type reviewer struct {
	jobs.Reviewer
	trials *Trials
}

// Due reports whether a review or a trial is due.
func (r reviewer) Due(ctx context.Context, c jobs.Conversation) bool {
	return r.trials.Waiting(c.Session.ID) || r.Reviewer.Due(ctx, c)
}

// Review tries the drafts, unless the user asked for a review only, and reviews.
func (r reviewer) Review(ctx context.Context, c jobs.Conversation, asked bool) (string, error) {
	var tried string
	if !asked {
		var err error
		if tried, err = r.trials.Settle(ctx, c); err != nil {
			return tried, err
		}
	}
	said, err := r.Reviewer.Review(ctx, c, asked)
	return strings.TrimSpace(tried + "\n\n" + said), err
}
