package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hermes"
	"hermes/internal/session/turn"
)

// How a child session ends: first it is stored how it ended, then its worktree is removed, then its parent gets
// the report, and at last it is marked as done with. The next process goes on with the first of these steps that
// was not taken, so that a child never goes on without its folder, and no report is lost.

// dropped is how a child session ended whose call was undone, or cut off and not continued: there is
// no one who gets its report.
const dropped hermes.ChildStatus = "dropped"

// storeEnd stores how a child session ended. One that was never stored needs nothing.
func (m *Manager) storeEnd(ctx context.Context, child string, how hermes.ChildStatus, failure string) error {
	err := m.cfg.Store.UpdateSession(context.WithoutCancel(ctx), child, hermes.SessionChange{TaskEnded: how, TaskFailure: failure})
	if errors.Is(err, hermes.ErrNotFound) {
		return nil
	}
	return err
}

// mark stores that a child session is done with: nothing is left to do for it.
func (m *Manager) mark(ctx context.Context, child string, how hermes.ChildStatus) {
	change := hermes.SessionChange{Reopen: true, End: string(how)}
	if err := m.cfg.Store.UpdateSession(context.WithoutCancel(ctx), child, change); err != nil && !errors.Is(err, hermes.ErrNotFound) {
		m.cfg.Log.Warn("mark a child session as done with", "session", child, "err", err)
	}
}

// done marks a child session as done with, unless its worktree or something below it is left: then the next start
// tries it again.
func (m *Manager) done(ctx context.Context, child string, how hermes.ChildStatus, w hermes.Worktree) {
	below, err := m.childrenOf(context.WithoutCancel(ctx), child, func(short hermes.Session) bool { return !isMark(short.EndReason) })
	if err == nil && len(below) == 0 && !w.Later {
		m.mark(ctx, child, how)
	}
}

// isMark reports whether a session that ended for this reason is a child that is done with.
func isMark(reason string) bool {
	switch hermes.ChildStatus(reason) {
	case hermes.ChildCompleted, hermes.ChildFailed, hermes.ChildInterrupted, hermes.ChildStalled, hermes.ChildTimedOut, hermes.ChildOverBudget:
		return true
	}
	return false
}

// howEnded returns how a stored child session ended, "" if it goes on.
func howEnded(row hermes.Session) hermes.ChildStatus {
	switch how := row.Run.Origin.Task.Ended; {
	case how == dropped:
		return hermes.ChildInterrupted
	case how == "" && isMark(row.EndReason):
		return hermes.ChildStatus(row.EndReason)
	default:
		return how
	}
}

// close closes the session, stores how it ended, and returns what became of its worktree. One that only pauses
// has not ended, so how is "", and it keeps the worktree.
func (c *running) close(ctx context.Context, how hermes.ChildStatus, failure string) (w hermes.Worktree) {
	defer c.release()
	if c.child != nil {
		if err := c.child.Close(); err != nil {
			c.child.cfg.Log.Warn("close a child session", "session", c.child.id, "err", err)
		}
	}
	if how == "" {
		return w
	}
	var err error
	if c.child != nil {
		err = c.by.session.manager.storeEnd(ctx, c.child.id, how, failure)
	}
	switch {
	case err != nil && c.tree != nil: // the next process may go on there
		c.child.cfg.Log.Warn("store how a child session ended", "session", c.child.id, "err", err)
		return hermes.Worktree{Path: c.tree.Dir(), Kept: true, Later: true, Note: fmt.Sprintf("The worktree %s is kept, since the end of its session could not be stored: %v", c.tree.Dir(), err)}
	case err != nil:
		c.child.cfg.Log.Warn("store how a child session ended", "session", c.child.id, "err", err)
	case c.tree != nil:
		return c.tree.End(context.WithoutCancel(ctx))
	}
	return w
}

// abandon closes a child that could not begin. One that was to go on, as again says, pauses.
func (c *running) abandon(ctx context.Context, why error, again bool) {
	if again {
		c.close(ctx, "", "")
		return
	}
	failure, _ := c.by.session.cfg.Children.clipped(why.Error())
	w := c.close(ctx, hermes.ChildFailed, failure)
	if w.Kept {
		c.by.session.publish(hermes.Notice{Level: hermes.NoticeInfo, Text: w.Note})
	}
	if c.child != nil {
		c.by.session.manager.done(ctx, c.child.id, hermes.ChildFailed, w)
	}
}

// treeOf returns the worktree that a child session of an earlier process has for itself, or nil; parent is the folder
// of the session above it.
func (m *Manager) treeOf(row hermes.Session, parent string) Tree {
	if of := m.cfg.Children.WorktreeOf; of != nil {
		return of(row.Run.Workspace.Dir, parent)
	}
	return nil
}

// clearTime is how long the end of a session waits for worktrees that are removed. The next start does the rest.
const clearTime = 5 * time.Second

// clearing returns the context in which worktrees are removed: it ends clearTime after ends, or with done.
func clearing(ends context.Context) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ends))
	stop := context.AfterFunc(ends, func() { time.AfterFunc(clearTime, cancel) })
	return ctx, func() { stop(); cancel() }
}

// dropChildren ends child sessions with which nothing goes on. Their worktrees are removed beside the turns.
func (s *Session) dropChildren(rows []hermes.Session) {
	if len(rows) == 0 {
		return
	}
	dir := s.run.Workspace.Dir
	s.beside.Go(func(ends context.Context) {
		ctx, done := clearing(ends)
		defer done()
		s.clear(ctx, rows, dir)
	})
}

// clear removes the worktrees of child sessions with which nothing goes on, and of all below them, where nothing
// would be lost, and says which it keeps. Then they are done with. It reports whether all are; the next start does
// the rest. above is the folder of the session above them.
func (s *Session) clear(ctx context.Context, rows []hermes.Session, above string) (all bool) {
	all = true
	for _, row := range rows {
		if ctx.Err() != nil {
			return false
		}
		if err := s.clearOne(ctx, row, above); err != nil {
			all = false
			s.cfg.Log.Info("a child session is not done with yet; the next start tries it again", "session", row.ID, "err", err)
		}
	}
	return all
}

// errLeft is why a child session is not done with yet.
var errLeft = errors.New("it is in use, or something below it is left")

func (s *Session) clearOne(ctx context.Context, row hermes.Session, above string) error {
	m := s.manager
	if m.isLive(row.ID) { // a user works in it
		return errLeft
	}
	lease, err := m.cfg.Store.Acquire(ctx, row.ID, m.cfg.Owner, turn.LeaseTime) // nor in another process
	if err != nil {
		return err
	}
	defer func() { _ = m.cfg.Store.Release(context.WithoutCancel(ctx), lease) }() // else it expires
	how := howEnded(row)
	if how == "" {
		list, err := m.cfg.Store.Messages(ctx, row.ID, hermes.Range{Raw: true})
		if err != nil {
			return err
		}
		ended := dropped
		if how = hermes.ChildInterrupted; answered(list) {
			how, ended = hermes.ChildCompleted, hermes.ChildCompleted
		}
		if err := m.storeEnd(ctx, row.ID, ended, ""); err != nil {
			return err
		}
	}
	below, err := m.childrenOf(ctx, row.ID, func(short hermes.Session) bool { return !isMark(short.EndReason) })
	done := s.clear(ctx, below, row.Run.Workspace.Dir)
	if tree := m.treeOf(row, above); tree != nil {
		if w := tree.End(ctx); w.Kept && ctx.Err() == nil {
			s.publish(hermes.Notice{Level: hermes.NoticeInfo, Text: w.Note})
			done = done && !w.Later
		}
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !done || m.isLive(row.ID): // or a user has opened it since
		return errLeft
	}
	again, err := m.cfg.Store.Acquire(ctx, row.ID, m.cfg.Owner, turn.LeaseTime) // it may have taken long, and another process may have it
	if err != nil {
		return err
	}
	lease = again
	m.mark(ctx, row.ID, how)
	return nil
}
