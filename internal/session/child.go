package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"hermes"
	"hermes/internal/agent"
	"hermes/internal/session/turn"
)

// spawn runs a task in a new child session until it ends. The child's context
// is the call's, so it ends with its parent. It is unattended. The task may
// hold untrusted text, so the child starts with its parent's provenance.
func (m *Manager) spawn(ctx context.Context, run hermes.RunSpec, parent *Session, t hermes.Task) (hermes.Report, error) {
	over := make(chan hermes.TurnDone, 1)
	s, err := m.Open(ctx, Open{Run: run, parent: parent, done: over})
	if err != nil {
		return hermes.Report{}, fmt.Errorf("open the child session: %w", err)
	}
	defer s.Close()
	begun := context.AfterFunc(ctx, func() { _ = s.Close() }) // a turn that is prepared ends, too
	err = s.Do(ctx, hermes.From{}, hermes.Say{Parts: []hermes.Part{{Text: taskText(t)}}})
	begun()
	if err != nil {
		return hermes.Report{}, err
	}
	select {
	case done := <-over:
		r := report(s.id, done)
		r.Provenance = provenanceOf(ctx, s)
		return r, nil
	case <-s.done:
		err = hermes.ErrClosed
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return hermes.Report{Session: s.id, Status: "interrupted"}, err
}

// childRun returns the spec of a child session: its parent's, narrowed by the task. A child
// never has more rights, tools, steps or money than its parent has left.
func (l lender) childRun(parent hermes.SessionRef, task hermes.Task) (hermes.RunSpec, error) {
	run := l.run
	run.Session = ""
	run.Origin = hermes.Origin{Platform: hermes.PlatformChild, User: parent.User, Parent: parent.ID, Depth: parent.Depth + 1, Provenance: parent.Provenance}
	run.Workspace.Dir = parent.Dir
	run.Model.Ref = cmp.Or(task.Model, parent.Model)
	run.Tools.Only = nil
	for _, s := range l.tools.Specs() {
		run.Tools.Only = append(run.Tools.Only, s.Name)
	}
	run.Tools.Enabled = task.Toolsets
	if len(task.Toolsets) == 0 {
		run.Tools.Enabled = run.Tools.Only
	}
	run.Budget.Steps = task.MaxSteps
	if left := l.budget.Left(); left == 0 {
		return run, errors.New("no steps are left for a child session; do the work yourself, or say what remains to be done")
	} else if left > 0 && (task.MaxSteps <= 0 || task.MaxSteps > left) {
		run.Budget.Steps = left
	}
	return run, nil
}

// lender is the session as the calls of a turn see it.
type lender struct {
	session *Session
	run     hermes.RunSpec
	tools   hermes.Tools
	budget  *agent.Budget
}

// Ask asks the user. The settings limit the wait.
func (l lender) Ask(ctx context.Context, asked hermes.Asked, call string) (turn.Reply, error) {
	wait := l.session.cfg.Ask.Approval
	if asked.Question != nil {
		wait = l.session.cfg.Ask.Question
	}
	return l.session.askUser(ctx, newQuestion(asked, call), wait)
}

// Spawn runs a child session.
func (l lender) Spawn(ctx context.Context, parent hermes.SessionRef, t hermes.Task) (hermes.Report, error) {
	run, err := l.childRun(parent, t)
	if err != nil {
		return hermes.Report{}, err
	}
	return l.session.manager.spawn(ctx, run, l.session, t)
}

// Publish passes an event to the subscribers.
func (l lender) Publish(e hermes.Event) { l.session.publish(e) }

// provenanceOf returns the provenance of a child session. A child whose state
// cannot be read counts as tainted.
func provenanceOf(ctx context.Context, s *Session) string {
	st, err := s.State(ctx)
	if err != nil {
		return hermes.ProvenanceSource("a child session")
	}
	return hermes.AddProvenance(st.Row.Provenance, hermes.TranscriptProvenance(st.Transcript))
}

func taskText(t hermes.Task) string {
	if t.Context == "" {
		return t.Goal
	}
	return t.Goal + "\n\nWhat you need to know:\n" + t.Context
}

func report(id string, done hermes.TurnDone) hermes.Report {
	r := hermes.Report{Session: id, Summary: done.Text, Status: "completed", Steps: done.Steps, Usage: done.Usage}
	switch done.Outcome {
	case hermes.OutcomeInterrupted:
		r.Status = "interrupted"
	case hermes.OutcomeFailed:
		r.Status = "failed"
		r.Summary = done.Failure.Error()
	}
	return r
}
