package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

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
	// LeavesOnly lets no child start children itself.
	LeavesOnly bool
	// Model is the model of children whose task names none; the zero value is their parent's.
	Model hermes.ModelChoice
	// Default are the toolsets of children whose task names none; nil means those of their parent.
	Default []string
	// Quiet is after how long without progress a child is stopped, also within a call; 0 means
	// the defaults.
	Quiet time.Duration
	// Toolsets refuses the toolsets of a task that are not there, among the tools of the
	// parent, with an error for the model; nil accepts all.
	Toolsets func(ctx context.Context, names, tools []string) error
	// Worktree makes a worktree for a child that would work in a workspace; asked says that the task wants one,
	// so that it is an error if there can be none. It may return nil for a child without one. A nil func makes no worktrees.
	Worktree func(ctx context.Context, on hermes.Workspace, asked bool) (Tree, error)
	// WorktreeOf returns the worktree that a child of an earlier process has for itself, by its folder and
	// that of its parent, or nil. A nil func knows no worktrees.
	WorktreeOf func(dir, parent string) Tree
	// Changed lists the files that the file tools of a session changed, by their real paths. Nil knows none.
	Changed func(session string, transcript []hermes.Message) []string
	// Redact masks secrets in what children say; nil leaves it alone.
	Redact func(text string) string
	// Cost returns what the model calls of a session cost. Nil knows none.
	Cost func(ctx context.Context, session string) hermes.Money
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
	case m.paused:
		return nil, errors.New("the user has paused new child sessions; do the work yourself, or end your turn and say what remains (the user goes on with /agents resume)")
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

// redacted masks secrets in a text.
func (c Children) redacted(text string) string {
	if c.Redact == nil {
		return text
	}
	return c.Redact(text)
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
