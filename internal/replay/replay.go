// Package replay tests a draft of a skill: a model does a recorded task twice,
// with the draft and without it, and the figures are compared.
//
// No tool runs. Calls get their results from the recording, by tool and
// canonical arguments; a call that is not in it is a miss, which the model is
// told and the figures count. Both runs use the same model and have limits in
// steps, tokens and time. The package knows no store: the caller reads the
// transcript. A [Gate] wraps a library so that each draft is tried before it is
// kept. [Trials] says when a draft is tried and what becomes of it.
//
// Start at Trials for the drafts of sessions and at Try for one replay, then
// recording.go, tape.go, verdict.go and gate.go.
package replay

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes"
	"hermes/internal/agent"
)

//go:embed system.md
var system string

const (
	defaultTokens = 60_000
	maxSteps      = 16
	maxTime       = 4 * time.Minute
)

// Config is what a replay works with.
type Config struct {
	// Model returns the model that does the task and compares the outcomes.
	// main is the conversation's model.
	Model func(main string) hermes.Model
	// Tokens limits a whole trial; 0 means 60,000.
	Tokens int64
	Now    func() time.Time // nil is time.Now
}

// Draft is the text of a skill to test. Before is the text that it replaces,
// "" for a new skill; the draft is compared with it.
type Draft struct {
	Name, Text, Before string
}

// errSpent means that the tokens of a trial are used up.
var errSpent = errors.New("the tokens for replays are used up")

// Try replays a task with a draft and without it. If the replay cannot decide,
// the verdict is SkillUndecided; an error means that ctx has ended.
func Try(ctx context.Context, c Config, r Recording, d Draft) (hermes.SkillTrial, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Tokens <= 0 {
		c.Tokens = defaultTokens
	}
	t := hermes.SkillTrial{Name: d.Name, Session: r.Session, Turn: r.Turn, At: c.Now().UTC()}
	limit, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	m := &counted{Model: c.Model(r.Model), most: c.Tokens}
	err := both(limit, c, m, r, d, &t)
	t.Tokens = m.used()
	switch {
	case ctx.Err() != nil:
		return t, context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		t.Verdict, t.Why = hermes.SkillUndecided, "the time for replays is used up"
	case err != nil:
		t.Verdict, t.Why = hermes.SkillUndecided, err.Error()
	default:
		t.Verdict, t.Why = decide(t)
	}
	return t, nil
}

// both does the two runs, the one with the draft first.
func both(ctx context.Context, c Config, m *counted, r Recording, d Draft, t *hermes.SkillTrial) (err error) {
	if t.With, err = once(ctx, c, m, r, d.Text); err != nil {
		return err
	}
	t.Without, err = once(ctx, c, m, r, d.Before)
	return err
}

// once does the task with the text of a skill, or with none.
func once(ctx context.Context, c Config, m *counted, r Recording, skill string) (hermes.SkillRun, error) {
	before := m.used()
	t := newTape(r)
	done := hermes.TurnDone{}
	for e, err := range agent.Run(ctx, agent.Turn{
		Model: m, Tools: t, Number: 1, Now: c.Now, Steer: func() string { return "" },
		Request:    hermes.Request{System: system, Tools: r.Specs, Session: r.Session},
		Transcript: []hermes.Message{hermes.UserText(prompt(r, skill))},
		Budget:     agent.NewBudget(min(maxSteps, len(r.calls)+4)),
	}) {
		if e, ok := e.(hermes.TurnDone); ok {
			done = e
		}
		if err != nil && done.Failure == nil {
			done.Failure = hermes.FailureOf(err)
		}
	}
	run := hermes.SkillRun{Steps: done.Steps, Failed: t.failed, Missed: t.missed}
	switch {
	case ctx.Err() != nil:
		return run, context.Cause(ctx)
	case m.stopped() != nil:
		return run, m.stopped()
	case done.Err() != nil:
		return run, fmt.Errorf("the model call failed: %w", done.Err())
	}
	run.Tokens = m.used() - before
	if done.Outcome != hermes.OutcomeDone || !t.touches() {
		return run, nil
	}
	var err error
	run.Reached, err = agrees(ctx, m, r, t, done.Text)
	return run, err
}

// prompt returns the task for the model.
func prompt(r Recording, skill string) string {
	var b strings.Builder
	if skill != "" {
		fmt.Fprintf(&b, "<skill>\n%s\n</skill>\nUse this skill where it fits.\n\n", strings.TrimSpace(skill))
	}
	if len(r.Earlier) > 0 {
		fmt.Fprintf(&b, "What the user said before:\n- %s\n\n", strings.Join(r.Earlier, "\n- "))
	}
	return b.String() + "The task:\n" + r.Task
}
