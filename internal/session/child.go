package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"hermes"
	"hermes/internal/agent"
	"hermes/internal/hook"
	"hermes/internal/session/turn"
)

// Children bounds the child sessions. Zero fields mean the defaults.
type Children struct {
	Depth  int // how deep they may be nested; a child of a conversation has depth 1
	AtOnce int // how many a session may have at once
	// Steps is how many model calls one may make; 0 or less means what its parent has left.
	Steps int
	// Toolsets refuses the toolsets of a task that are not there, among the tools of the
	// parent, with an error for the model; nil accepts all.
	Toolsets func(ctx context.Context, names, tools []string) error
	// Worktree makes a worktree for a child that would work in a workspace; asked says that the task wants one,
	// so that it is an error if there can be none. It may return nil: the child has none. Nil makes none.
	Worktree func(ctx context.Context, on hermes.Workspace, asked bool) (Tree, error)
}

// Tree is the worktree of a child session.
type Tree interface {
	// Dir is the folder in which the child works.
	Dir() string
	// End is called once, when the child has ended. It removes the worktree if nothing would be
	// lost, and says what became of it.
	End(ctx context.Context) hermes.Worktree
}

// The default bounds, and how many child sessions a process may have at once.
const (
	DefaultChildDepth = 1
	DefaultChildren   = 3
	maxChildren       = 64
)

// admit counts a child of a session, until release is called. If there are too many, the error
// is for the model.
func (m *Manager) admit(parent *Session) (release func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	most := cmp.Or(m.cfg.Children.AtOnce, DefaultChildren)
	switch {
	case parent.children >= most:
		return nil, fmt.Errorf("this session runs %d child sessions already, and delegation.max_concurrent_children allows no more; wait until one has ended, or do the work yourself", most)
	case m.children >= maxChildren:
		return nil, fmt.Errorf("%d child sessions run in this program already, which is the limit; do the work yourself, or try again later", maxChildren)
	}
	parent.children++
	m.children++
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		parent.children--
		m.children--
	}, nil
}

// spawn runs a task in a new child session until it ends. The child's context
// is the call's, so it ends with its parent. What it asks goes to its parent's
// frontends. The task may hold untrusted text, so the child starts with its
// parent's provenance.
func (m *Manager) spawn(ctx context.Context, run hermes.RunSpec, l lender, t hermes.Task) (hermes.Report, error) {
	release, err := m.admit(l.session)
	if err != nil {
		return hermes.Report{}, err
	}
	defer release()
	over := make(chan hermes.TurnDone, 1)
	s, err := m.Open(ctx, Open{Run: run, parent: l.session, budget: l.budget, done: over})
	if err != nil {
		return hermes.Report{}, fmt.Errorf("open the child session: %w", err)
	}
	defer s.Close()
	begun := context.AfterFunc(ctx, func() { _ = s.Close() }) // a turn that is prepared ends, too
	err = s.Do(ctx, hermes.From{}, hermes.Say{Parts: []hermes.Part{{Text: taskText(t)}}})
	begun()
	interrupted := hermes.Report{Session: s.id, Status: "interrupted"}
	switch {
	case err == nil:
	case errors.Is(err, hermes.ErrInterrupted) && ctx.Err() == nil: // only this child was stopped
		return interrupted, nil
	default:
		return hermes.Report{}, err
	}
	select {
	case done := <-over:
		return s.reported(ctx, done), nil
	case <-ctx.Done():
		return interrupted, context.Cause(ctx)
	case <-s.done:
	}
	select {
	case done := <-over: // just before its end
		return s.reported(ctx, done), nil
	default:
		return interrupted, hermes.ErrClosed
	}
}

// childRun returns the spec of a child session: its parent's, narrowed by the task. A child
// never has more rights, tools, steps or money than its parent has left. Which calls need the
// user is decided with its depth; see package toolbox.
func (l lender) childRun(ctx context.Context, parent hermes.SessionRef, task hermes.Task) (hermes.RunSpec, error) {
	limits := l.session.cfg.Children
	run := l.run
	run.Session = ""
	run.Origin = hermes.Origin{
		Platform: hermes.PlatformChild, User: parent.User, Chat: parent.Chat, Root: cmp.Or(parent.Root, parent.Platform),
		Parent: parent.ID, Depth: parent.Depth + 1, Provenance: parent.Provenance,
	}
	if most := cmp.Or(limits.Depth, DefaultChildDepth); run.Origin.Depth > most {
		return run, fmt.Errorf("this session may start no child session: delegation.max_spawn_depth allows a depth of %d; do the work yourself", most)
	}
	run.Rights.Mode = "" // its parent's, at each call
	run.Workspace.Dir = parent.Dir
	run.Model.Ref = cmp.Or(task.Model, parent.Model)
	run.Tools.Only = nil
	for _, s := range turn.Callable(l.tools) {
		run.Tools.Only = append(run.Tools.Only, s.Name)
	}
	run.Tools.Enabled = task.Toolsets
	if len(task.Toolsets) == 0 {
		run.Tools.Enabled = run.Tools.Only
	} else if limits.Toolsets != nil {
		if err := limits.Toolsets(ctx, task.Toolsets, run.Tools.Only); err != nil {
			return run, err
		}
	}
	left := l.budget.Left()
	if left == 0 {
		return run, errors.New("no steps are left for a child session; do the work yourself, or say what remains to be done")
	}
	run.Budget.Steps = fewest(task.MaxSteps, limits.Steps, left)
	return run, nil
}

// fewest returns the smallest limit; 0 or less is none, and -1 is returned if there is none.
func fewest(limits ...int) int {
	limits = slices.DeleteFunc(limits, func(n int) bool { return n <= 0 })
	if len(limits) == 0 {
		return -1
	}
	return slices.Min(limits)
}

// lender is the session as the calls of a turn see it.
type lender struct {
	session *Session
	run     hermes.RunSpec
	tools   hermes.Tools
	hooks   *hook.Hooks
	budget  *agent.Budget
}

// Ask asks the user. The settings limit the wait.
func (l lender) Ask(ctx context.Context, ref hermes.SessionRef, asked hermes.Asked, call string) (turn.Reply, error) {
	wait := l.session.cfg.Ask.Approval
	if asked.Question != nil {
		wait = l.session.cfg.Ask.Question
	}
	q := newQuestion(asked, call)
	if !l.hooks.WantsQuestions() {
		return l.session.askUser(ctx, q, wait)
	}
	decided := make(chan hermes.Decision, 1)
	defer close(decided)
	q.opened = func(a hermes.Asked) {
		l.session.jobs.Go(func(ctx context.Context) {
			l.hooks.Asked(ctx, ref, a)
			if d, ok := <-decided; ok { // else its turn has ended
				l.hooks.Answered(ctx, ref, a, d)
			}
		})
	}
	r, err := l.session.askUser(ctx, q, wait)
	switch {
	case errors.Is(err, turn.ErrNoAnswer):
		decided <- hermes.TimedOut
	case err == nil:
		decided <- r.Approval.Decision
	}
	return r, err
}

// Spawn runs a child session.
func (l lender) Spawn(ctx context.Context, parent hermes.SessionRef, t hermes.Task) (hermes.Report, error) {
	run, err := l.childRun(ctx, parent, t)
	if err != nil {
		return hermes.Report{}, err
	}
	tree, err := l.session.cfg.Children.tree(ctx, run.Workspace, t.Worktree)
	if err != nil {
		return hermes.Report{}, fmt.Errorf("make a worktree for the child session: %w", err)
	}
	if tree == nil {
		return l.session.manager.spawn(ctx, run, l, t)
	}
	run.Workspace.Dir = tree.Dir()
	r, err := l.session.manager.spawn(ctx, run, l, t)
	r.Worktree = tree.End(context.WithoutCancel(ctx))
	return r, err
}

// tree makes the worktree of a child, nil if it gets none.
func (c Children) tree(ctx context.Context, on hermes.Workspace, asked bool) (Tree, error) {
	if c.Worktree != nil {
		return c.Worktree(ctx, on, asked)
	}
	if asked {
		return nil, errors.New("there are no worktrees here; ask for a child without one")
	}
	return nil, nil
}

// Mode is how risky calls of the turn are treated now.
func (l lender) Mode() hermes.RightsMode { return l.session.callMode() }

// Attended reports whether a user can be asked now.
func (l lender) Attended() bool { return l.session.attended() }

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

// reported is what a child says of its turn.
func (s *Session) reported(ctx context.Context, done hermes.TurnDone) hermes.Report {
	r := hermes.Report{Session: s.id, Summary: done.Text, Status: "completed", Steps: done.Steps, Usage: done.Usage, Provenance: provenanceOf(ctx, s)}
	switch done.Outcome {
	case hermes.OutcomeInterrupted:
		r.Status = "interrupted"
	case hermes.OutcomeFailed:
		r.Status = "failed"
		r.Summary = done.Failure.Error()
	}
	return r
}
