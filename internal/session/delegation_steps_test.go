package session_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
	"hermes/internal/store/sqlite"
)

var errDead = errors.New("the process is dead")

// life is that of a process, which dies before a step: it does nothing more then.
type life struct {
	mu    sync.Mutex
	armed bool
	left  int // how many steps it does once it is armed
	died  chan struct{}
	after chan struct{} // closed at the end of the test
}

func newLife(left int) *life {
	return &life{left: left, died: make(chan struct{}), after: make(chan struct{})}
}

func (l *life) arm(on bool) (alive bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = on
	return l.left >= 0
}

// step does a step, or waits for the end of the test if the process dies here. It does nothing half: another step that is under way
// when the process dies is done.
func (l *life) step(do func() error) error {
	l.mu.Lock()
	if l.armed && l.left >= 0 {
		if l.left--; l.left < 0 {
			close(l.died)
		}
	}
	if l.left >= 0 {
		defer l.mu.Unlock()
		return do()
	}
	l.mu.Unlock()
	<-l.after
	return errDead
}

// doomed is the store of a process that dies.
type doomed struct {
	hermes.Store
	life *life
}

func (m doomed) UpdateSession(ctx context.Context, id string, c hermes.SessionChange) error {
	return m.life.step(func() error { return m.Store.UpdateSession(ctx, id, c) })
}

func (m doomed) Commit(ctx context.Context, l hermes.Lease, c hermes.Change) (hermes.Committed, error) {
	var done hermes.Committed
	err := m.life.step(func() (err error) {
		done, err = m.Store.Commit(ctx, l, c)
		return err
	})
	return done, err
}

func (m doomed) Rewind(ctx context.Context, l hermes.Lease, from int64, back ...int64) error {
	return m.life.step(func() error { return m.Store.Rewind(ctx, l, from, back...) })
}

func (m doomed) AddWaiting(ctx context.Context, l hermes.Lease, w hermes.WaitingMessage) (int64, error) {
	var id int64
	err := m.life.step(func() (err error) {
		id, err = m.Store.AddWaiting(ctx, l, w)
		return err
	})
	return id, err
}

func (m doomed) EndCall(ctx context.Context, l hermes.Lease, call string, result hermes.Message) error {
	return m.life.step(func() error { return m.Store.EndCall(ctx, l, call, result) })
}

func (m doomed) Release(ctx context.Context, l hermes.Lease) error {
	return m.life.step(func() error { return m.Store.Release(ctx, l) })
}

// yard is the disk with the one worktree of a test, which is kept if it holds something.
type yard struct {
	mu          sync.Mutex
	gone, holds bool
	entered     bool // after it was gone
	busy        bool // it cannot be removed now
}

func (y *yard) here() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return !y.gone
}

// plot is the worktree of a yard as a process sees it.
type plot struct {
	*yard
	life *life
}

func (plot) Dir() string { return "/tree" }

func (p plot) End(context.Context) (w hermes.Worktree) {
	_ = p.life.step(func() error { // a process that is dead does not get it
		p.mu.Lock()
		defer p.mu.Unlock()
		switch p.gone = !p.holds && !p.busy; {
		case p.busy:
			w = hermes.Worktree{Path: "/tree", Kept: true, Later: true, Note: "The worktree /tree could not be removed"}
		case p.holds:
			w = hermes.Worktree{Path: "/tree", Kept: true, Note: "The worktree /tree is kept: new.txt"}
		default:
			w = hermes.Worktree{Note: "removed"}
		}
		return nil
	})
	return w
}

// process makes a process whose children work in the yard.
func (y *yard) process(t *testing.T, st hermes.Store, l *life, m hermes.Model, b ...tool) *fixture {
	t.Helper()
	h := newFixture(t, m, newToolTable(b...), func(c *session.Config) {
		c.Store = doomed{st, l}
		c.Children.Worktree = func(context.Context, hermes.Workspace, bool) (session.Tree, error) { return plot{y, l}, nil }
		c.Children.WorktreeOf = func(string, string) session.Tree {
			if !y.here() {
				return nil
			}
			return plot{y, l}
		}
		next := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			if run.Origin.Depth > 0 && !y.here() {
				y.mu.Lock()
				y.entered = true
				y.mu.Unlock()
			}
			return next(ctx, run)
		}
	})
	t.Cleanup(func() { close(l.after) }) // before its sessions are closed
	return h
}

// lives waits for so many ends of turns, and reports whether the process is alive then.
func (l *life) lives(e *ear, turns int) bool {
	for turns > 0 {
		select {
		case got := <-e.events:
			if _, ended := got.(hermes.TurnDone); ended {
				turns--
			}
		case <-l.died:
			return false
		}
	}
	return l.arm(false)
}

// failing is a model whose child writes, calls a tool, and fails once it may; last is called just before.
func failing(may <-chan struct{}, last func()) obedient {
	return func(said string, m hermes.Message) hermestest.Step {
		switch {
		case said != "fail":
			return polite(said, m)
		case m.Role == hermes.RoleUser:
			step := hermestest.CallTool("look", `{}`)
			step.Text = "I look first."
			return step
		}
		<-may
		last()
		return hermestest.Step{Err: errors.New("the model is gone")}
	}
}

// TestACrashWithinTheEndOfAChildLosesNothing: wherever a process dies after a child has failed, the next one
// has one report, which says so, and goes on with nothing in a folder that is gone.
func TestACrashWithinTheEndOfAChildLosesNothing(t *testing.T) {
	t.Parallel()
	for _, background := range []bool{false, true} {
		alive := false
		for step := 0; !alive; step++ {
			name := fmt.Sprintf("background is %v, step %d", background, step)
			st, disk, first, may := hermestest.NewStore(), &yard{}, newLife(step), make(chan struct{})
			h := disk.process(t, st, first, failing(may, func() { first.arm(true) }), tasks(), echo("look"))
			s := h.open(t, session.Open{})
			e := listen(t, s)
			submit(t, s, say(tasksOf(background, "fail")))
			if background {
				until[hermes.TurnDone](e)
			}
			close(may)
			alive = first.lives(e, 1)
			if alive {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			for again := range 2 { // the second one finds nothing to do
				asked := false
				next := disk.process(t, st, newLife(0), failing(may, func() { asked = true }), tasks(), echo("look"))
				s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
				e = hear(t, s)
				if state(t, s).Cut {
					submit(t, s, hermes.Continue{})
					until[hermes.TurnDone](e)
				}
				submit(t, s, say("hello"))
				until[hermes.TurnDone](e)
				for background && len(results(t, st, s.ID())) == 0 {
					until[hermes.TurnDone](e)
				}
				if err := next.Close(); err != nil {
					t.Fatal(err)
				}
				if again > 0 && asked {
					t.Errorf("%s: the child goes on", name)
				}
			}
			reports := results(t, st, s.ID())
			if !background {
				reports = slices.DeleteFunc(stored(t, st, s.ID()), func(m string) bool { return !strings.HasPrefix(m, "tool: ") })
			}
			if len(reports) != 1 || !strings.Contains(reports[0], "failed") || background && !strings.Contains(reports[0], "the model is gone") {
				t.Errorf("%s: the reports are %q", name, reports)
			}
			if row := childrenOf(t, st, s.ID())[0]; row.EndReason != "failed" || disk.here() || disk.entered {
				t.Errorf("%s: the child ended as %q, its folder is there: %v, and it went on without: %v", name, row.EndReason, disk.here(), disk.entered)
			}
			if alive {
				t.Logf("background is %v: %d steps", background, step)
			}
			if step > 40 {
				t.Fatal("there is no end of steps")
			}
		}
	}
}

// TestAnUndoneCallLeavesNoWorktree of children that a crash cut off, and no report of one that had ended, wherever the process
// that undoes it dies.
func TestAnUndoneCallLeavesNoWorktree(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"a call", "the background", "the background, ended"} {
		background, ended := kind != "a call", kind == "the background, ended"
		alive := false
		for step := 0; !alive; step++ {
			name := fmt.Sprintf("%s, step %d", kind, step)
			st, disk := hermestest.NewStore(), &yard{}
			slow, entered, may := gate("slow")
			held, started := holding(make(chan struct{}))
			refused := make(chan struct{}, 8)
			h := disk.process(t, full{st, refused}, newLife(0), obedient(polite), held, slow)
			s := h.open(t, session.Open{})
			submit(t, s, say(tasksOf(background, "slow")))
			if <-entered; background {
				<-started
			}
			if ended {
				close(may)
				<-refused
			}
			again, runs, leave := gate("slow")
			close(leave)
			second := newLife(step)
			h = disk.process(t, st, second, obedient(polite), tasks(), again)
			s = h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
			second.arm(true)
			undone := make(chan error, 1)
			go func(s *session.Session) { // ends with the test at the latest
				undone <- errors.Join(s.Do(context.Background(), hermes.From{}, hermes.Undo{}), s.Close())
			}(s)
			select {
			case err := <-undone:
				if alive = second.arm(false); alive && err != nil {
					t.Fatal(err)
				}
			case <-second.died:
			}
			h = disk.process(t, st, newLife(0), obedient(polite), tasks(), again)
			s = h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
			e := hear(t, s)
			submit(t, s, say("hello"))
			until[hermes.TurnDone](e)
			goesOn := background && step == 0 // it was not undone
			for goesOn && len(results(t, st, s.ID())) == 0 {
				until[hermes.TurnDone](e)
			}
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			if disk.here() || disk.entered {
				t.Errorf("%s: the worktree is there: %v, its child went on without it: %v", name, disk.here(), disk.entered)
			}
			if goesOn {
				continue
			}
			if row := childrenOf(t, st, s.ID())[0]; len(runs) > 0 || row.EndReason != map[bool]string{true: "completed", false: "interrupted"}[ended] || len(results(t, st, s.ID())) > 0 {
				t.Errorf("%s: %d children run, the first ended as %q; the results are %q", name, len(runs), row.EndReason, results(t, st, s.ID()))
			}
			if alive {
				t.Logf("%s: %d steps", kind, step)
			}
			if step > 40 {
				t.Fatal("there is no end of steps")
			}
		}
	}
}

// TestAWorktreeThatHoldsSomethingIsKept when its child is dropped, and the user is told where it is: after an undo, and after a
// message instead of continuing, where the model is told, too.
func TestAWorktreeThatHoldsSomethingIsKept(t *testing.T) {
	t.Parallel()
	for _, op := range []hermes.Op{hermes.Undo{}, hermes.Retry{}, say("hello")} {
		st, disk := hermestest.NewStore(), &yard{holds: true}
		slow, entered, _ := gate("slow")
		h := disk.process(t, st, newLife(0), obedient(polite), tasks(), slow)
		s := h.open(t, session.Open{})
		submit(t, s, say(tasksOf(false, "slow")))
		<-entered
		h = disk.process(t, st, newLife(0), obedient(polite), tasks(), slow)
		s = h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
		e := hear(t, s)
		submit(t, s, op)
		_, says := op.(hermes.Say)
		if says {
			until[hermes.TurnDone](e)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for got := range e.events {
			e.heard = append(e.heard, got)
		}
		if !slices.ContainsFunc(e.heard, func(e hermes.Event) bool {
			n, ok := e.(hermes.Notice)
			return ok && n.Text == "The worktree /tree is kept: new.txt"
		}) {
			t.Errorf("%T: the user is told %+v", op, e.heard)
		}
		if says {
			if got := stored(t, st, s.ID())[2]; !strings.Contains(got, `"worktree":"/tree, if something in it would be lost; else it is removed"`) {
				t.Errorf("the call says %s", got)
			}
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		if row := childrenOf(t, st, s.ID())[0]; !disk.here() || row.EndReason != "interrupted" {
			t.Errorf("the worktree is there: %v, the child ended as %q", disk.here(), row.EndReason)
		}
	}
}

// TestAnUndoEndsWhatIsBelowADroppedChild: children of its own, but not a copy that the user has made of it.
func TestAnUndoEndsWhatIsBelowADroppedChild(t *testing.T) {
	t.Parallel()
	st := hermestest.NewStore()
	slow, entered, _ := gate("slow")
	deep := tasks()
	run := deep.run
	deep.run = func(ctx context.Context, c *hermes.Call) hermes.Result {
		if c.Host.Session().Depth > 0 {
			return run(ctx, c)
		}
		_, err := c.Host.Spawn(ctx, hermes.Task{Goal: tasksOf(false, "slow"), Role: hermes.RoleOrchestrator, Key: c.ID + "/1"})
		return hermes.Result{Text: fmt.Sprint(err)}
	}
	var mu sync.Mutex
	ended := map[string]int{}
	change := func(c *session.Config) {
		c.Store, c.Children.Depth = st, 2
		c.Children.WorktreeOf = func(dir, parent string) session.Tree { return namedTree{dir + " of " + parent, &mu, ended} }
		c.Children.Worktree = func(_ context.Context, on hermes.Workspace, _ bool) (session.Tree, error) {
			return namedTree{on.Dir + "/tree", nil, nil}, nil
		}
	}
	h := newFixture(t, obedient(polite), newToolTable(deep, slow), change)
	s := h.open(t, session.Open{Run: hermes.RunSpec{Workspace: hermes.Workspace{Dir: "/work"}}})
	submit(t, s, say(session.DelegateTool))
	<-entered
	child := childrenOf(t, st, s.ID())[0]
	copied, err := h.Branch(t.Context(), child.ID, "mine")
	if err != nil {
		t.Fatal(err)
	}
	h = newFixture(t, obedient(polite), newToolTable(deep, slow), change)
	s = h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	submit(t, s, hermes.Undo{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(ended) != 2 || ended["/work/tree of /work"] != 1 || ended["/work/tree/tree of /work/tree"] != 1 {
		t.Errorf("the worktrees that ended are %v", ended)
	}
	for _, row := range append(childrenOf(t, st, child.ID), childrenOf(t, st, s.ID())...) {
		if want := map[bool]string{true: "", false: "interrupted"}[row.ID == copied.ID]; row.EndReason != want {
			t.Errorf("%s at depth %d ended as %q, want %q", row.ID, row.Run.Origin.Depth, row.EndReason, want)
		}
	}
}

// namedTree is a worktree that notes its end.
type namedTree struct {
	dir   string
	mu    *sync.Mutex
	ended map[string]int
}

func (n namedTree) Dir() string { return n.dir }

func (n namedTree) End(context.Context) hermes.Worktree {
	if n.mu != nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.ended[n.dir]++
	}
	return hermes.Worktree{}
}

// TestAFailedChildSaysWhyAfterACrash: its report has the failure, and what it wrote last is not its answer. So it is
// when its call goes on, and when the user says something else.
func TestAFailedChildSaysWhyAfterACrash(t *testing.T) {
	t.Parallel()
	may := make(chan struct{})
	close(may)
	for _, op := range []hermes.Op{hermes.Continue{}, say("hello")} {
		open := func() hermes.Store {
			st, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "state.db")})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = st.Close() })
			return st
		}
		st := open()
		reported := tasks()
		reported.run = func(ctx context.Context, c *hermes.Call) hermes.Result {
			r, err := c.Host.Spawn(ctx, hermes.Task{Goal: "fail", Key: c.ID + "/1"})
			if err == nil && c.Host.Session().Depth == 0 {
				_, err = c.Host.Spawn(ctx, hermes.Task{Goal: "slow", Key: c.ID + "/2"})
			}
			return hermes.Result{Text: fmt.Sprintf("%s|%s|%s|%v", r.Status, r.Failure, r.Summary, err)}
		}
		slow, entered, _ := gate("slow")
		h := newFixture(t, failing(may, func() {}), newToolTable(reported, slow, echo("look")), func(c *session.Config) { c.Store = st })
		s := h.open(t, session.Open{})
		submit(t, s, say(session.DelegateTool))
		<-entered
		again, _, leave := gate("slow")
		close(leave)
		h = newFixture(t, failing(may, func() { t.Error("the child that failed goes on") }), newToolTable(reported, again, echo("look")), func(c *session.Config) { c.Store = st })
		s = h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
		e := hear(t, s)
		submit(t, s, op)
		until[hermes.TurnDone](e)
		got := stored(t, st, s.ID())[2]
		want := "tool: failed|the model is gone|I look first.|<nil>"
		if _, ok := op.(hermes.Say); ok {
			want = `"status":"failed","summary":"It failed: the model is gone\nWhat it wrote last, which is no answer:\nI look first."`
		}
		if !strings.Contains(got, want) {
			t.Errorf("the call says %s, not %s", got, want)
		}
	}
}
