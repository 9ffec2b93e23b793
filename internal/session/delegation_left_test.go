package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
)

// stuckUntil is a tool that does not end before leave is closed, whatever ends its turn.
func stuckUntil(leave <-chan struct{}) tool {
	return tool{hermes.Spec{Name: "stuck", Schema: echo("stuck").spec.Schema}, func(context.Context, *hermes.Call) hermes.Result {
		<-leave
		return hermes.Result{Text: "let go"}
	}}
}

func minute(c *session.Config) { c.Children.Quiet = time.Minute }

// TestAResultOfAHangingChildIsNotLost: it could not be stored before the child ended, and comes when its parent is opened again.
func TestAResultOfAHangingChildIsNotLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory, leave := hermestest.NewStore(), make(chan struct{})
		h := newFixture(t, obedient(polite), newToolTable(tasks(), stuckUntil(leave)), minute, func(c *session.Config) { c.Store = full{memory, make(chan struct{}, 8)} })
		s := h.open(t, session.Open{})
		submit(t, s, say(tasksOf(true, "stuck")))
		time.AfterFunc(10*time.Minute, func() { close(leave) })
		time.Sleep(20 * time.Minute)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		next := newFixture(t, obedient(polite), newToolTable(tasks(), stuckUntil(leave)), func(c *session.Config) { c.Store = memory })
		s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
		e := hear(t, s)
		submit(t, s, say("hello"))
		until[hermes.TurnDone](e)
		time.Sleep(time.Minute)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := results(t, memory, s.ID()); len(got) != 1 || !strings.Contains(got[0], "timeout") {
			t.Errorf("the results are %q", got)
		}
	})
}

// TestACrashAroundTheEndOfAHangingChildLosesNothing: wherever a process dies after it gave up a child, there is one report,
// and no worktree is left.
func TestACrashAroundTheEndOfAHangingChildLosesNothing(t *testing.T) {
	t.Parallel()
	for _, background := range []bool{false, true} {
		alive := false
		for step := 0; !alive; step++ {
			synctest.Test(t, func(t *testing.T) {
				st, disk, first, leave := hermestest.NewStore(), &yard{}, newLife(step), make(chan struct{})
				h := disk.process(t, st, first, obedient(polite), tasks(), stuckUntil(leave))
				s := h.open(t, session.Open{})
				submit(t, s, say(tasksOf(background, "stuck")))
				time.Sleep(30 * time.Second)
				first.arm(true)
				time.Sleep(time.Hour)
				close(leave)
				time.Sleep(time.Minute)
				alive = first.arm(false)
				if alive {
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
				}
				next := disk.process(t, st, newLife(0), obedient(polite), tasks(), stuckUntil(leave))
				s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
				e := hear(t, s)
				if state(t, s).Cut {
					submit(t, s, hermes.Continue{})
					until[hermes.TurnDone](e)
				}
				submit(t, s, say("hello"))
				until[hermes.TurnDone](e)
				time.Sleep(time.Minute)
				if err := next.Close(); err != nil {
					t.Fatal(err)
				}
				reports := results(t, st, s.ID())
				if !background {
					reports = slices.DeleteFunc(stored(t, st, s.ID()), func(m string) bool { return !strings.HasPrefix(m, "tool: ") })
				}
				if row := childrenOf(t, st, s.ID())[0]; len(reports) != 1 || row.EndReason == "" || row.EndReason == "closed" || disk.here() || disk.entered {
					t.Errorf("background is %v, step %d: the reports are %q; the child ended as %q, its folder is there: %v, and it went on without: %v",
						background, step, reports, row.EndReason, disk.here(), disk.entered)
				}
				if step > 40 {
					t.Fatal("there is no end of steps")
				}
			})
			if t.Failed() {
				return
			}
		}
	}
}

// TestAnEndedChildOfACallThatDoesNotGoOnLeavesNoWorktree: it ended just before a crash, and the call is undone, or something
// else is said, wherever the process that does that dies.
func TestAnEndedChildOfACallThatDoesNotGoOnLeavesNoWorktree(t *testing.T) {
	t.Parallel()
	for _, op := range []hermes.Op{hermes.Undo{}, say("hello")} {
		alive := false
		for step := 0; !alive; step++ {
			st, disk, may := hermestest.NewStore(), &yard{}, make(chan struct{})
			first := newLife(3) // it stores that the child has ended
			h := disk.process(t, st, first, failing(may, func() { first.arm(true) }), tasks(), echo("look"))
			s := h.open(t, session.Open{})
			submit(t, s, say(tasksOf(false, "fail")))
			close(may)
			<-first.died
			second := newLife(step)
			h = disk.process(t, st, second, failing(may, func() {}), tasks(), echo("look"))
			s = h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
			second.arm(true)
			did := make(chan error, 1)
			go func(s *session.Session) { // ends with the test at the latest
				_ = s.Do(context.Background(), hermes.From{}, op)
				did <- s.Close()
			}(s)
			select {
			case <-did:
				alive = second.arm(false)
			case <-second.died:
			}
			h = disk.process(t, st, newLife(0), failing(may, func() {}), tasks(), echo("look"))
			s = h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
			e := hear(t, s)
			submit(t, s, say("hello"))
			until[hermes.TurnDone](e)
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			row := childrenOf(t, st, s.ID())[0]
			if row.Run.Origin.Task.Ended != "failed" {
				t.Fatalf("the scene is wrong: it is stored that the child ended as %q", row.Run.Origin.Task.Ended)
			}
			if disk.here() || row.EndReason != "failed" {
				t.Errorf("%T, step %d: the worktree is there: %v, the child ended as %q", op, step, disk.here(), row.EndReason)
			}
			if step > 40 {
				t.Fatal("there is no end of steps")
			}
		}
	}
}

// family stores a session and what is left of child sessions of an earlier process, by the id of each and of its parent.
func family(t *testing.T, children ...[2]string) (st hermes.Store, parent string) {
	t.Helper()
	h := newFixture(t, obedient(polite), newToolTable())
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("hello"))
	until[hermes.TurnDone](e)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	st = h.store
	for _, c := range children {
		if c[1] == "" {
			c[1] = s.ID()
		}
		row := hermes.Session{ID: c[0], Platform: hermes.PlatformChild, Parent: c[1], Started: time.Now()}
		row.Run.Origin = hermes.Origin{Platform: hermes.PlatformChild, Parent: c[1], Depth: 1}
		row.Run.Workspace.Dir = "/" + c[0]
		if err := st.CreateSession(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		if err := st.UpdateSession(t.Context(), c[0], hermes.SessionChange{End: "closed"}); err != nil {
			t.Fatal(err)
		}
	}
	return st, s.ID()
}

// reopened opens a session with a frontend, closes it again, and returns what that frontend was told.
func reopened(t *testing.T, st hermes.Store, id string, trees func(dir, parent string) session.Tree) (told []string) {
	t.Helper()
	h := newFixture(t, obedient(polite), newToolTable(), func(c *session.Config) { c.Store, c.Children.WorktreeOf = st, trees })
	s := h.open(t, session.Open{Run: hermes.RunSpec{Session: id}})
	e := hear(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for got := range e.events {
		if n, ok := got.(hermes.Notice); ok {
			told = append(told, n.Text)
		}
	}
	return told
}

func endOf(t *testing.T, st hermes.Store, id string) string {
	t.Helper()
	row, err := st.FindSession(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return row.EndReason
}

// TestAWorktreeThatCouldNotBeRemovedIsTriedAgain at the next start, and the user is told both times: that of a child of a
// call, and of one in the background that has reported.
func TestAWorktreeThatCouldNotBeRemovedIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, background := range []bool{false, true} {
		st, id := family(t, [2]string{"child", ""})
		want := "interrupted"
		if background {
			want = "completed"
			inBackground(t, st, "child", hermes.ChildCompleted)
			add(t, st, "child", hermes.UserText("count"))
			add(t, st, id, hermes.Message{Role: hermes.RoleUser, Synthetic: true, Parts: []hermes.Part{{Text: "[Result of the background task child: completed]\none"}}})
		}
		disk := &yard{busy: true}
		trees := func(string, string) session.Tree { return plot{disk, newLife(0)} }
		if told := reopened(t, st, id, trees); !slices.Equal(told, []string{"The worktree /tree could not be removed"}) {
			t.Errorf("the user is told %q", told)
		}
		if got := endOf(t, st, "child"); got != "closed" {
			t.Errorf("a child whose worktree is busy ended as %q", got)
		}
		disk.busy, disk.holds = false, true
		if told := reopened(t, st, id, trees); !slices.Equal(told, []string{"The worktree /tree is kept: new.txt"}) {
			t.Errorf("the user is told %q", told)
		}
		if got := endOf(t, st, "child"); got != want {
			t.Errorf("a child whose worktree is kept ended as %q", got)
		}
		if told := reopened(t, st, id, trees); len(told) != 0 {
			t.Errorf("later the user is told %q", told)
		}
	}
}

// add adds messages to the transcript of a session.
func add(t *testing.T, st hermes.Store, id string, list ...hermes.Message) {
	t.Helper()
	lease, err := st.Acquire(t.Context(), id, hermes.Owner{Name: "earlier"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Commit(t.Context(), lease, hermes.Change{Append: list}); err != nil {
		t.Fatal(err)
	}
	if err := st.Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
}

// TestAChildThatIsOpenInAnotherProcessIsLeftAlone by the start of its parent.
func TestAChildThatIsOpenInAnotherProcessIsLeftAlone(t *testing.T) {
	t.Parallel()
	st, id := family(t, [2]string{"child", ""})
	lease, err := st.Acquire(t.Context(), "child", hermes.Owner{Name: "another process"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	disk := &yard{}
	trees := func(string, string) session.Tree { return plot{disk, newLife(0)} }
	reopened(t, st, id, trees)
	row, err := st.FindSession(t.Context(), "child")
	if err != nil || row.EndReason != "closed" || row.Run.Origin.Task.Ended != "" || !disk.here() {
		t.Errorf("it ended as %q (%q), its worktree is there: %v, %v", row.EndReason, row.Run.Origin.Task.Ended, disk.here(), err)
	}
	if err := st.Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	reopened(t, st, id, trees)
	if got := endOf(t, st, "child"); got != "interrupted" || disk.here() {
		t.Errorf("later it ended as %q, its worktree is there: %v", got, disk.here())
	}
}

// TestAnAnsweredChildOfAnEarlierVersionHasCompleted, which did not store how it ended.
func TestAnAnsweredChildOfAnEarlierVersionHasCompleted(t *testing.T) {
	t.Parallel()
	st, id := family(t, [2]string{"child", ""})
	add(t, st, "child", hermes.UserText("count"), hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "one"}}})
	reopened(t, st, id, nil)
	if got := endOf(t, st, "child"); got != "completed" {
		t.Errorf("it ended as %q", got)
	}
}

// TestAChildInTheBackgroundThatNeverBeganLeavesNoWorktree, whether it is stored that it failed or nothing is.
func TestAChildInTheBackgroundThatNeverBeganLeavesNoWorktree(t *testing.T) {
	t.Parallel()
	for how, want := range map[hermes.ChildStatus]string{"": "interrupted", hermes.ChildFailed: "failed"} {
		st, id := family(t, [2]string{"child", ""})
		inBackground(t, st, "child", how)
		disk := &yard{}
		reopened(t, st, id, func(string, string) session.Tree { return plot{disk, newLife(0)} })
		if got := endOf(t, st, "child"); got != want || disk.here() || len(results(t, st, id)) > 0 {
			t.Errorf("%q: it ended as %q, its worktree is there: %v, the results are %q", how, got, disk.here(), results(t, st, id))
		}
	}
}

// openingTree is a worktree that is opened while Hermes ends it.
type openingTree struct{ open func() }

func (openingTree) Dir() string { return "/tree" }
func (o openingTree) End(context.Context) hermes.Worktree {
	o.open()
	return hermes.Worktree{}
}

// TestAChildThatIsOpenedWhileItIsClearedIsNotDoneWith, by a user of this process or of another one.
func TestAChildThatIsOpenedWhileItIsClearedIsNotDoneWith(t *testing.T) {
	t.Parallel()
	for _, here := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			st, id := family(t, [2]string{"child", ""})
			ended := make(chan struct{})
			var h *fixture
			tree := openingTree{func() {
				if here {
					h.open(t, session.Open{Run: hermes.RunSpec{Session: "child"}})
				} else {
					time.Sleep(time.Hour) // its lease expires
					if _, err := st.Acquire(t.Context(), "child", hermes.Owner{Name: "another process"}, time.Hour); err != nil {
						t.Error(err)
					}
				}
				close(ended)
			}}
			h = newFixture(t, obedient(polite), newToolTable(), func(c *session.Config) {
				c.Store, c.Children.WorktreeOf = st, func(string, string) session.Tree { return tree }
			})
			hear(t, h.open(t, session.Open{Run: hermes.RunSpec{Session: id}}))
			<-ended
			synctest.Wait()
			if got := endOf(t, st, "child"); got != "" && got != "closed" {
				t.Errorf("opened here is %v: it ended as %q", here, got)
			}
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// waitingTree cannot be removed before its context ends.
type waitingTree struct{ ends chan struct{} }

func (waitingTree) Dir() string { return "/tree" }
func (w waitingTree) End(ctx context.Context) hermes.Worktree {
	w.ends <- struct{}{}
	<-ctx.Done()
	return hermes.Worktree{Path: "/tree", Kept: true, Note: "it cannot be looked at"}
}

// TestWorktreesDoNotHoldUpTheEndOfASession for more than some seconds, however many are left; the next start does the rest.
func TestWorktreesDoNotHoldUpTheEndOfASession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st, id := family(t, [2]string{"one", ""}, [2]string{"two", ""}, [2]string{"three", ""})
		tree := waitingTree{make(chan struct{}, 8)}
		begun := time.Now()
		told := reopened(t, st, id, func(string, string) session.Tree { return tree })
		if took := time.Since(begun); took > 10*time.Second || len(tree.ends) != 1 || len(told) > 0 {
			t.Errorf("the end took %v, with %d worktrees; the user is told %q", took, len(tree.ends), told)
		}
		for _, child := range []string{"one", "two", "three"} {
			if got := endOf(t, st, child); got != "closed" {
				t.Errorf("%s ended as %q", child, got)
			}
		}
	})
}

// inBackground makes a stored child session one in the background that ended so.
func inBackground(t *testing.T, st hermes.Store, id string, how hermes.ChildStatus) {
	t.Helper()
	row, err := st.FindSession(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	row.Run.Origin.Task = hermes.TaskOrigin{Background: true, Ended: how}
	if err := st.UpdateSession(t.Context(), id, hermes.SessionChange{Run: &row.Run}); err != nil {
		t.Fatal(err)
	}
}

// TestWorktreesOfUnreportedChildrenDoNotHoldUpTheEndOfASession for more than some seconds either; the next start reports.
func TestWorktreesOfUnreportedChildrenDoNotHoldUpTheEndOfASession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st, id := family(t, [2]string{"one", ""}, [2]string{"two", ""})
		for _, child := range []string{"one", "two"} {
			inBackground(t, st, child, hermes.ChildCompleted)
			add(t, st, child, hermes.UserText("count"), hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "one"}}})
		}
		tree := waitingTree{make(chan struct{}, 8)}
		h := newFixture(t, obedient(polite), newToolTable(), func(c *session.Config) {
			c.Store, c.Children.WorktreeOf = st, func(string, string) session.Tree { return tree }
		})
		s := h.open(t, session.Open{Run: hermes.RunSpec{Session: id}})
		<-tree.ends
		<-tree.ends
		begun := time.Now()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("the end took %v", took)
		}
		if got := results(t, st, id); len(got) > 0 || endOf(t, st, "one") != "closed" {
			t.Errorf("the results are %q, one ended as %q", got, endOf(t, st, "one"))
		}
		var mu sync.Mutex
		ended := map[string]int{}
		h = newFixture(t, obedient(polite), newToolTable(), func(c *session.Config) {
			c.Store, c.Children.WorktreeOf = st, func(dir, _ string) session.Tree { return namedTree{dir, &mu, ended} }
		})
		s = h.open(t, session.Open{Run: hermes.RunSpec{Session: id}})
		time.Sleep(time.Minute)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := results(t, st, id); len(got) != 2 || ended["/one"] != 1 || endOf(t, st, "one") != "completed" {
			t.Errorf("later the results are %q, %v ended, one as %q", got, ended, endOf(t, st, "one"))
		}
	})
}

// TestADamagedGrandchildKeepsNoOtherWorktree: only its parent is looked at again.
func TestADamagedGrandchildKeepsNoOtherWorktree(t *testing.T) {
	t.Parallel()
	st, id := family(t, [2]string{"child", ""}, [2]string{"whole", "child"}, [2]string{"damaged", "child"})
	var mu sync.Mutex
	ended := map[string]int{}
	reopened(t, damagedRow{st, "damaged"}, id, func(dir, _ string) session.Tree { return namedTree{dir, &mu, ended} })
	if len(ended) != 2 || ended["/child"] != 1 || ended["/whole"] != 1 {
		t.Errorf("the worktrees that ended are %v", ended)
	}
	if child, whole := endOf(t, st, "child"), endOf(t, st, "whole"); child != "closed" || whole != "interrupted" {
		t.Errorf("the child ended as %q, the other one below it as %q", child, whole)
	}
}

// TestAReportKnowsWhatAUserHasMadeOfItsChild: a copy of the child is not one of its children, and its worktree is kept
// while the user has it open; a later start removes that.
func TestAReportKnowsWhatAUserHasMadeOfItsChild(t *testing.T) {
	t.Parallel()
	hold, holds, _ := gate("slow")
	reported := tasks()
	run := reported.run
	reported.run = func(ctx context.Context, c *hermes.Call) hermes.Result {
		if c.Host.Session().Depth > 0 {
			return run(ctx, c)
		}
		one, err := c.Host.Spawn(ctx, hermes.Task{Goal: "say one", Key: c.ID + "/1"})
		if err == nil {
			_, err = c.Host.Spawn(ctx, hermes.Task{Goal: "slow", Key: c.ID + "/2"})
		}
		return hermes.Result{Text: fmt.Sprintf("%q %q %v", one.Files, one.Worktree.Note, err)}
	}
	h := newFixture(t, obedient(polite), newToolTable(reported, hold))
	s := h.open(t, session.Open{})
	submit(t, s, say(session.DelegateTool))
	<-holds
	var first string
	for _, row := range childrenOf(t, h.store, s.ID()) {
		if row.EndReason == "completed" {
			first = row.ID
		}
	}
	again, _, leave := gate("slow")
	close(leave)
	tree := countedTree{new(sync.Mutex), new(int)}
	next := newFixture(t, obedient(polite), newToolTable(reported, again), func(c *session.Config) {
		c.Store = h.store
		c.Children.WorktreeOf = func(string, string) session.Tree { return tree }
		c.Children.Changed = func(id string, _ []hermes.Message) []string { return []string{id} }
	})
	if _, err := next.Branch(t.Context(), first, "mine"); err != nil {
		t.Fatal(err)
	}
	next.open(t, session.Open{Run: hermes.RunSpec{Session: first}})
	s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	e := hear(t, s)
	submit(t, s, hermes.Continue{})
	until[hermes.TurnDone](e)
	if got, want := stored(t, h.store, s.ID())[2], fmt.Sprintf(`[%q] "The worktree /tree is kept: a session works in it. It is looked at again when this session is opened again." <nil>`, first); !strings.HasSuffix(got, want) {
		t.Errorf("the call says %s, want %s", got, want)
	}
	if got := endOf(t, h.store, first); got != "" {
		t.Errorf("what a user works in ended as %q", got)
	}
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}
	before := *tree.ends
	reopened(t, h.store, s.ID(), func(string, string) session.Tree { return tree })
	if got := endOf(t, h.store, first); got != "completed" || *tree.ends != before+1 {
		t.Errorf("later it ended as %q, and %d worktrees", got, *tree.ends-before)
	}
}

// TestTheWorktreeOfAChildThatHasReportedIsTriedAgain at the next start, if something still worked in it at the end of the child.
func TestTheWorktreeOfAChildThatHasReportedIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, background := range []bool{false, true} {
		st, disk, may := hermestest.NewStore(), &yard{busy: true}, make(chan struct{})
		close(may)
		h := disk.process(t, st, newLife(0), failing(may, func() {}), tasks(), echo("look"))
		s := h.open(t, session.Open{})
		e := hear(t, s)
		submit(t, s, say(tasksOf(background, "fail")))
		for until[hermes.TurnDone](e); background && len(results(t, st, s.ID())) == 0; {
			until[hermes.TurnDone](e)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		child := childrenOf(t, st, s.ID())[0].ID
		if got := endOf(t, st, child); got != "closed" {
			t.Errorf("background is %v: a child whose worktree is busy ended as %q", background, got)
		}
		disk.busy = false
		reopened(t, st, s.ID(), func(string, string) session.Tree { return plot{disk, newLife(0)} })
		if got := endOf(t, st, child); got != "failed" || disk.here() {
			t.Errorf("background is %v: later it ended as %q, its worktree is there: %v", background, got, disk.here())
		}
	}
}

// TestAChildIsNotDoneWithWhileSomethingBelowItIsLeft: the next start ends the worktree of a grandchild that was in use.
func TestAChildIsNotDoneWithWhileSomethingBelowItIsLeft(t *testing.T) {
	t.Parallel()
	disk, one := &yard{busy: true}, tasks()
	run := one.run
	one.run = func(ctx context.Context, c *hermes.Call) hermes.Result {
		if c.Host.Session().Depth > 0 {
			return run(ctx, c)
		}
		r, err := c.Host.Spawn(ctx, hermes.Task{Goal: tasksOf(false, "say one"), Role: hermes.RoleOrchestrator, Key: c.ID + "/1"})
		return hermes.Result{Text: fmt.Sprint(r.Status, err)}
	}
	trees := 0
	h := newFixture(t, obedient(polite), newToolTable(one), func(c *session.Config) {
		c.Children.Depth = 2
		c.Children.Worktree = func(context.Context, hermes.Workspace, bool) (session.Tree, error) {
			if trees++; trees == 1 { // the child works where its parent does
				return nil, nil
			}
			return plot{disk, newLife(0)}, nil
		}
	})
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say(session.DelegateTool))
	until[hermes.TurnDone](e)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	child := childrenOf(t, h.store, s.ID())[0].ID
	below := childrenOf(t, h.store, child)[0].ID
	if a, b := endOf(t, h.store, child), endOf(t, h.store, below); a != "closed" || b != "closed" || !disk.here() {
		t.Fatalf("the child ended as %q, the one below it as %q", a, b)
	}
	disk.busy = false
	reopened(t, h.store, s.ID(), func(dir, _ string) session.Tree {
		if dir == "/tree" {
			return plot{disk, newLife(0)}
		}
		return nil
	})
	if a, b := endOf(t, h.store, child), endOf(t, h.store, below); a != "completed" || b != "completed" || disk.here() {
		t.Errorf("later the child ended as %q, the one below it as %q, and its worktree is there: %v", a, b, disk.here())
	}
}

// TestAnUndoneResultDoesNotComeAgain, although its child is not done with.
func TestAnUndoneResultDoesNotComeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st, id := family(t, [2]string{"child", ""})
		inBackground(t, st, "child", hermes.ChildCompleted)
		add(t, st, "child", hermes.UserText("count"), hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "one"}}})
		add(t, st, id, hermes.UserText("and?"), hermes.Message{Role: hermes.RoleUser, Synthetic: true, Parts: []hermes.Part{{Text: "[Result of the background task child: completed]\none"}}})
		for _, undo := range []bool{true, false} {
			h := newFixture(t, obedient(polite), newToolTable(), func(c *session.Config) {
				c.Store = st
				c.Children.WorktreeOf = func(string, string) session.Tree { return plot{&yard{busy: true}, newLife(0)} }
			})
			s := h.open(t, session.Open{Run: hermes.RunSpec{Session: id}})
			if undo {
				submit(t, s, hermes.Undo{})
			}
			synctest.Wait()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got := results(t, st, id); len(got) != 0 || endOf(t, st, "child") != "closed" {
				t.Errorf("undo is %v: the results are %q", undo, got)
			}
		}
	})
}

// TestTheWorktreeOfAHangingChildIsTold when its session has ended at last: its report came before.
func TestTheWorktreeOfAHangingChildIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk, leave := &yard{holds: true}, make(chan struct{})
		h := newFixture(t, obedient(polite), newToolTable(tasks(), stuckUntil(leave)), minute, func(c *session.Config) {
			c.Children.Worktree = func(context.Context, hermes.Workspace, bool) (session.Tree, error) {
				return plot{disk, newLife(0)}, nil
			}
		})
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say(tasksOf(false, "stuck")))
		time.AfterFunc(time.Hour, func() { close(leave) })
		time.Sleep(2 * time.Hour)
		until[hermes.TurnDone](e)
		if n := until[hermes.Notice](e); n.Text != "The worktree /tree is kept: new.txt" {
			t.Errorf("the user is told %q", n.Text)
		}
	})
}
