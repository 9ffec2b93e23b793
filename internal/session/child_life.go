package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"hermes"
	"hermes/internal/protocol"
)

// How long a child session may make no progress, and how long it then has to end. While it waits for
// the user, its time does not run.
const (
	quietTime  = 450 * time.Second  // between calls
	inCallTime = 1200 * time.Second // within a call
	stallGrace = 120 * time.Second
)

// running is a child session that has begun its task.
type running struct {
	child   *Session // nil if it has nothing to do
	by      lender   // whose child it is
	fits    fits
	over    chan hermes.TurnDone
	release func()
	tree    Tree // nil if it has no worktree of its own
	pauses  bool // it runs in the background, and goes on when its parent is opened again
	// ended is the report of a child that has nothing to do: an earlier process ended it.
	ended *hermes.Report
	hung  bool      // it was given up; what is left to do comes when it ends
	told  chan bool // of one that pauses: whether its parent has the result, if it hung
}

// id is that of the child session.
func (c *running) id() string {
	if c.ended != nil {
		return c.ended.Session
	}
	return c.child.id
}

// Spawn runs a child session. again says that an earlier process began the call, which may have
// started the child.
func (l lender) Spawn(ctx context.Context, parent hermes.SessionRef, t hermes.Task, again bool) (hermes.Report, error) {
	c, err := l.child(ctx, parent, t, again)
	if err != nil {
		return hermes.Report{}, err
	}
	if t.Background {
		l.session.beside.Go(func(ctx context.Context) { c.deliver(ctx, parent) })
		return hermes.Report{Session: c.id(), Status: hermes.ChildRunning, Provenance: parent.Provenance}, nil
	}
	return c.report(ctx)
}

// child begins a child session, or goes on with the one that an earlier process began.
func (l lender) child(ctx context.Context, parent hermes.SessionRef, t hermes.Task, again bool) (*running, error) {
	fits, err := readFits(t.Schema)
	if err != nil {
		return nil, err
	}
	if t.Key != "" { // ids of calls may come again in another turn
		t.Key = keyIn(parent.Turn, t.Key)
	}
	if again && t.Key != "" {
		row, found, err := l.session.manager.childOf(ctx, parent.ID, t.Key)
		switch {
		case err != nil:
			return nil, err
		case found:
			return l.goOn(ctx, row, t, fits)
		}
	}
	run, err := l.childRun(ctx, parent, t)
	if err != nil {
		return nil, err
	}
	release, err := l.session.manager.admit(l.session)
	if err != nil {
		return nil, err
	}
	c := &running{by: l, fits: fits, pauses: t.Background, over: make(chan hermes.TurnDone, 1), release: release, told: make(chan bool, 1)}
	if c.tree, err = l.tree(ctx, run.Workspace, t.Worktree); err != nil {
		release()
		return nil, fmt.Errorf("make a worktree for the child session: %w", err)
	}
	if c.tree != nil {
		run.Workspace.Dir = c.tree.Dir()
	}
	return c, c.begin(ctx, run, hermes.Say{Parts: taskParts(t)}, false)
}

// keyIn is the key of a task, or its beginning, among all of a session.
func keyIn(turn int64, key string) string { return fmt.Sprintf("%d/%s", turn, key) }

// tree makes the worktree of a child, nil if it gets none. Plan mode changes nothing, also no repository.
func (l lender) tree(ctx context.Context, on hermes.Workspace, asked bool) (Tree, error) {
	if l.Mode() == hermes.ModePlan {
		if asked {
			return nil, errors.New("plan mode: no worktree is made; ask for a child without one")
		}
		return nil, nil
	}
	return l.session.cfg.Children.tree(ctx, on, asked)
}

// begin opens the session and sends it its first op. After an error a new child is gone; one that was to go on, as
// again says, has paused.
func (c *running) begin(ctx context.Context, run hermes.RunSpec, op hermes.Op, again bool) error {
	s, err := c.by.session.manager.Open(ctx, Open{Run: run, parent: c.by.session, budget: c.by.budget, done: c.over, misfit: c.fits.misfit})
	if err != nil {
		c.abandon(ctx, err, again)
		return fmt.Errorf("open the child session: %w", err)
	}
	c.child = s
	begun := context.AfterFunc(ctx, func() { _ = s.Close() }) // a turn that is prepared ends, too
	err = s.Do(ctx, hermes.From{}, op)
	begun()
	if errors.Is(err, hermes.ErrInterrupted) && ctx.Err() == nil { // only this child was stopped
		c.over <- hermes.TurnDone{Outcome: hermes.OutcomeInterrupted}
		return nil
	}
	if err != nil {
		c.abandon(ctx, err, again)
	}
	return err
}

// report waits for the end of the child and says what came of it.
func (c *running) report(ctx context.Context) (hermes.Report, error) {
	m := c.by.session.manager
	if c.ended != nil {
		if c.ended.Status != hermes.ChildRunning {
			m.done(ctx, c.ended.Session, c.ended.Status, c.ended.Worktree)
		}
		return *c.ended, nil
	}
	r, how, err := c.outcome(ctx)
	if !c.hung && !errors.Is(err, hermes.ErrClosed) && !errors.Is(err, hermes.ErrStaleLease) { // else another process may have it
		m.done(ctx, c.child.id, how, r.Worktree)
	}
	return r, err
}

// outcome waits for the end of the child and closes it.
func (c *running) outcome(ctx context.Context) (r hermes.Report, how hermes.ChildStatus, err error) {
	done, how, hangs, err := c.wait(ctx)
	if errors.Is(err, hermes.ErrClosed) && !c.pauses { // nothing would go on with it
		if err = nil; !c.by.session.manager.goesOn(c.by.session) {
			<-ctx.Done() // its call ends, too
			err = context.Cause(ctx)
		}
	}
	r = c.reported(ctx, done, how)
	if hangs {
		m := c.by.session.manager
		c.hung = true
		if err := m.storeEnd(ctx, c.child.id, how, r.Failure); err != nil {
			c.child.cfg.Log.Warn("store how a child session ended", "session", c.child.id, "err", err)
		}
		done := m.hangs(c.by.session)
		go func() { // ends with the session, which the manager waits for
			defer done()
			w := c.close(ctx, how, r.Failure)
			if w.Kept { // its report is out already
				c.by.session.publish(hermes.Notice{Level: hermes.NoticeInfo, Text: w.Note})
			}
			if !c.pauses || <-c.told { // else the result comes when the parent is opened again
				m.done(ctx, c.child.id, how, w)
			}
		}()
		return r, how, nil
	}
	if errors.Is(err, hermes.ErrClosed) || errors.Is(err, hermes.ErrStaleLease) || c.pauses && err != nil {
		c.close(ctx, "", "") // it pauses
		return r, how, err
	}
	r.Worktree = c.close(ctx, how, r.Failure)
	return r, how, err
}

// wait waits for the end of the child's turn, and stops it if it makes no progress. hangs says that it did
// not end then either.
func (c *running) wait(ctx context.Context) (done hermes.TurnDone, how hermes.ChildStatus, hangs bool, err error) {
	check := time.NewTimer(c.quiet())
	defer check.Stop()
	stopped := hermes.ChildStatus("")
	for {
		select {
		case done := <-c.over:
			return done, endOf(done, stopped), false, c.paused(done, stopped)
		case <-ctx.Done():
			return done, hermes.ChildInterrupted, false, context.Cause(ctx)
		case <-c.child.done:
			select {
			case done := <-c.over: // just before its end
				return done, endOf(done, stopped), false, c.paused(done, stopped)
			default:
				return done, hermes.ChildInterrupted, false, hermes.ErrClosed
			}
		case <-check.C:
			if stopped != "" {
				return done, stopped, true, nil
			}
			left := c.quiet()
			if left <= 0 {
				stopped, left = hermes.ChildStalled, stallGrace
				if c.child.cfg.Children.Quiet > 0 {
					stopped = hermes.ChildTimedOut
				}
				if err := c.child.Do(ctx, hermes.From{}, hermes.Stop{}); err != nil && ctx.Err() == nil && !errors.Is(err, hermes.ErrClosed) {
					c.child.cfg.Log.Warn("stop a child session that makes no progress", "session", c.child.id, "err", err)
				}
			}
			check.Reset(left)
		}
	}
}

// paused returns ErrClosed for a turn that ended because the child's session does, such as at the end of the program.
func (c *running) paused(done hermes.TurnDone, stopped hermes.ChildStatus) error {
	if done.Outcome == hermes.OutcomeInterrupted && stopped == "" && c.child.ending() {
		return hermes.ErrClosed
	}
	return nil
}

// quiet returns how long the child may still make no progress. While it has children of its own, they are what
// is watched.
func (c *running) quiet() time.Duration {
	var st protocol.Snapshot
	c.child.feed.fill(&st)
	set := c.child.cfg.Children.Quiet
	limit := cmp.Or(set, quietTime)
	if set == 0 && st.Turn != nil && len(st.Turn.Calls) > 0 {
		limit = inCallTime
	}
	if st.State == protocol.StateAsking || st.Activity.At.IsZero() || c.by.session.manager.waits(c.child) {
		return limit
	}
	return limit - c.child.cfg.Now().Sub(st.Activity.At)
}

// endOf returns how a child ended whose turn has this outcome; stopped is why it was stopped, if it was.
func endOf(done hermes.TurnDone, stopped hermes.ChildStatus) hermes.ChildStatus {
	switch {
	case done.Outcome == hermes.OutcomeInterrupted:
		return cmp.Or(stopped, hermes.ChildInterrupted)
	case done.Outcome == hermes.OutcomeFailed:
		return hermes.ChildFailed
	case done.Outcome == hermes.OutcomeBudget:
		return hermes.ChildOverBudget
	}
	return hermes.ChildCompleted
}
