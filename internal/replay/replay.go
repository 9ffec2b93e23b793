// Package replay has a draft of a skill prove itself: a recorded task is done
// again twice, with the draft and without it, and the figures are compared.
//
// Nothing is ever run. Calls are answered from the recording, by tool and
// canonical arguments; a call that was not made then is a miss, which is said
// and counted. Both runs are asked of the same model and are bounded in steps,
// tokens and time. The package knows neither stores nor skills' folders:
// whoever has a transcript makes a [Recording] of it, and [Gate] stands before
// a library so that a draft passes here before it is kept.
//
// Start at Try, then recording.go, tape.go, verdict.go and gate.go.
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
	// Model is the model that does the task and judges the ends; main is the
	// conversation's own.
	Model func(main string) hermes.Model
	// Tokens bounds a whole trial; 0 is 60,000.
	Tokens int64
	Now    func() time.Time // nil is time.Now
}

// Draft is the text of a skill to be proven. Before is what stood there, ""
// for a new one: it is what the draft is compared with.
type Draft struct {
	Name, Text, Before string
}

// errSpent means that the tokens of a trial are used up.
var errSpent = errors.New("the tokens for replays are used up")

// Try replays a task with a draft and without it. What cannot be found out is
// a verdict, too; an error means that ctx has ended.
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
		if err != nil && done.Err == nil {
			done.Err = err
		}
	}
	run := hermes.SkillRun{Steps: done.Steps, Failed: t.failed, Missed: t.missed}
	switch {
	case ctx.Err() != nil:
		return run, context.Cause(ctx)
	case m.stopped() != nil:
		return run, m.stopped()
	case done.Err != nil:
		return run, fmt.Errorf("the model could not be asked: %w", done.Err)
	}
	run.Tokens = m.used() - before
	if done.Outcome != hermes.OutcomeDone || !t.touches() {
		return run, nil
	}
	var err error
	run.Reached, err = agrees(ctx, m, r, t, done.Text)
	return run, err
}

// prompt is the task as it is put to the model.
func prompt(r Recording, skill string) string {
	var b strings.Builder
	if skill != "" {
		fmt.Fprintf(&b, "<skill>\n%s\n</skill>\nUse this skill where it fits.\n\n", strings.TrimSpace(skill))
	}
	if len(r.Earlier) > 0 {
		fmt.Fprintf(&b, "What the person said before:\n- %s\n\n", strings.Join(r.Earlier, "\n- "))
	}
	return b.String() + "The task:\n" + r.Task
}
