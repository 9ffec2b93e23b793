package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"hermes"
)

// Rules say what a [Gate] tries and what it does with the results.
type Rules struct {
	// Replay tries a draft, as [Try] does.
	Replay func(ctx context.Context, d Draft) (hermes.SkillTrial, error)
	// Task reports whether there is a recorded task.
	Task bool
	// Own reports whether the model made a skill: only such skills and new ones
	// are tried.
	Own func(name string) bool
	// Check says what is wrong with a change before tokens are spent on it; nil
	// checks nothing.
	Check func(ctx context.Context, e hermes.SkillEdit) error
	// Waits reports whether changes of a skill wait for the user; nil means that none do.
	Waits func(ctx context.Context, name string) bool
	// Drop discards a draft that lost; otherwise it becomes a pending change.
	Drop bool
	// Most is how many drafts are tried; 0 means 2.
	Most int
}

const defaultMost = 2

// Gate is a library that keeps a model's draft only if it wins its replay. A
// draft that lost becomes a pending change or is dropped. An undecided draft is
// saved as without a gate, with its trial. All other changes pass. Its methods
// may be called concurrently; drafts are tried one at a time.
type Gate struct {
	hermes.SkillLibrary
	rules Rules

	mu     sync.Mutex
	count  int
	lost   map[string]bool
	trials []hermes.SkillTrial
}

var _ hermes.SkillLibrary = (*Gate)(nil)

// NewGate returns a gate for a library.
func NewGate(l hermes.SkillLibrary, r Rules) *Gate {
	if r.Most <= 0 {
		r.Most = defaultMost
	}
	return &Gate{SkillLibrary: l, rules: r, lost: map[string]bool{}}
}

// Save tries a draft and saves the change with its trial. It writes nothing
// before the verdict, and nothing if ctx ends before that.
func (g *Gate) Save(ctx context.Context, e hermes.SkillEdit) (hermes.SkillOutcome, error) {
	if !e.Agent || e.File != "" && e.File != "SKILL.md" || !e.New && !g.rules.Own(e.Name) {
		return g.SkillLibrary.Save(ctx, e)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost[e.Name] || len(g.lost) > 0 && g.count >= g.rules.Most { // a lost draft must not be tried under another name
		return hermes.SkillOutcome{}, errors.New("a draft already lost its replay; no more are tried now, go on without it")
	}
	if g.rules.Check != nil {
		if err := g.rules.Check(ctx, e); err != nil {
			return hermes.SkillOutcome{}, err
		}
	}
	t, err := g.try(ctx, &e)
	if err != nil {
		return hermes.SkillOutcome{}, fmt.Errorf("try the skill %q: %w", e.Name, err)
	}
	t.Name = e.Name
	e.Trial = &t
	g.trials = append(g.trials, t)
	if t.Verdict == hermes.SkillLost {
		g.lost[e.Name] = true
		if g.rules.Drop {
			return hermes.SkillOutcome{}, fmt.Errorf("the skill %q is not kept: it %s; go on without it", e.Name, t.Line())
		}
	}
	out, err := g.SkillLibrary.Save(ctx, e)
	out.Trial = &t
	return out, err
}

// Waits reports whether changes of a skill wait for the user.
func (g *Gate) Waits(ctx context.Context, name string) bool {
	return g.rules.Waits != nil && g.rules.Waits(ctx, name)
}

// Trials returns the trials of all drafts so far, in order, undecided ones
// too.
func (g *Gate) Trials() []hermes.SkillTrial {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.trials)
}

// try replays the task, if there is one and more drafts may be tried.
func (g *Gate) try(ctx context.Context, e *hermes.SkillEdit) (hermes.SkillTrial, error) {
	undecided := func(why string) (hermes.SkillTrial, error) {
		return hermes.SkillTrial{Verdict: hermes.SkillUndecided, Why: why}, nil
	}
	d := Draft{Name: e.Name, Text: e.Content}
	if !e.New {
		now, err := g.View(ctx, e.Name, "")
		if err != nil {
			return hermes.SkillTrial{}, err
		}
		if e.Base == "" { // the draft must replace the text it was compared with
			e.Base = now.Hash
		}
		if d.Before = now.Content; d.Before == d.Text {
			return hermes.SkillTrial{}, errors.New("the text is the same as before")
		}
	}
	switch {
	case !g.rules.Task:
		return undecided("the conversation has no task to replay")
	case g.count >= g.rules.Most:
		return undecided(fmt.Sprintf("at most %d drafts are tried at a time", g.rules.Most))
	}
	g.count++
	return g.rules.Replay(ctx, d)
}
