package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"hermes"
)

// Rules are how a [Gate] judges.
type Rules struct {
	// Replay tries a draft; Try with what it needs.
	Replay func(ctx context.Context, d Draft) (hermes.SkillTrial, error)
	// Task reports whether there is a recorded task.
	Task bool
	// Own reports whether a skill was made by the model: only such ones, and
	// new ones, are tried.
	Own func(name string) bool
	// Check says what is wrong with a change before anything is spent on it;
	// nil looks at nothing.
	Check func(ctx context.Context, e hermes.SkillEdit) error
	// Drop forgets what lost; else it waits for the person.
	Drop bool
	// Most is how many drafts are tried; 0 is 2.
	Most int
}

const defaultMost = 2

// Gate is a library in which a draft of the model must win its replay before it
// is kept. What lost waits for the person or is dropped; what cannot be decided
// is kept as it would be without a gate, and told. Everything else passes. It
// may be used concurrently; drafts are tried one at a time.
type Gate struct {
	hermes.SkillLibrary
	rules Rules

	mu     sync.Mutex
	count  int
	lost   map[string]bool
	trials []hermes.SkillTrial
}

var _ hermes.SkillLibrary = (*Gate)(nil)

// NewGate puts a gate before a library.
func NewGate(l hermes.SkillLibrary, r Rules) *Gate {
	if r.Most <= 0 {
		r.Most = defaultMost
	}
	return &Gate{SkillLibrary: l, rules: r, lost: map[string]bool{}}
}

// Save tries a draft and hands the change on with what came of it. It writes
// nothing before the verdict; when ctx ends meanwhile, it writes nothing at all.
func (g *Gate) Save(ctx context.Context, e hermes.SkillEdit) (hermes.SkillOutcome, error) {
	if !e.Agent || e.File != "" && e.File != "SKILL.md" || !e.New && !g.rules.Own(e.Name) {
		return g.SkillLibrary.Save(ctx, e)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost[e.Name] || len(g.lost) > 0 && g.count >= g.rules.Most { // another name is no way round
		return hermes.SkillOutcome{}, errors.New("a draft has lost its replay already; leave it, no more are tried now")
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
			return hermes.SkillOutcome{}, fmt.Errorf("the skill %q is not kept: it %s; leave it", e.Name, t.Line())
		}
	}
	out, err := g.SkillLibrary.Save(ctx, e)
	out.Trial = &t
	return out, err
}

// Trials are those of the drafts that came so far, in order, also those that
// decided nothing.
func (g *Gate) Trials() []hermes.SkillTrial {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.trials)
}

// try replays the task, where there is one and the number of replays allows.
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
		if e.Base == "" { // what is written is what was compared
			e.Base = now.Hash
		}
		if d.Before = now.Content; d.Before == d.Text {
			return hermes.SkillTrial{}, errors.New("nothing would be changed")
		}
	}
	switch {
	case !g.rules.Task:
		return undecided("nothing in the conversation can be done again to try it")
	case g.count >= g.rules.Most:
		return undecided(fmt.Sprintf("no more than %d drafts are tried at a time", g.rules.Most))
	}
	g.count++
	return g.rules.Replay(ctx, d)
}
