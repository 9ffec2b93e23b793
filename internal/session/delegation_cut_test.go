package session_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/hook"
	"hermes/internal/session"
)

// holding is tasks whose calls go on after they have started their tasks, until leave is closed.
func holding(leave <-chan struct{}) (held tool, started chan struct{}) {
	started = make(chan struct{}, 8)
	inner := tasks()
	return tool{inner.spec, func(ctx context.Context, c *hermes.Call) hermes.Result {
		r := inner.run(ctx, c)
		started <- struct{}{}
		select {
		case <-leave:
		case <-ctx.Done():
		}
		return r
	}}, started
}

// polite obeys, takes note of what the program says, and greets.
func polite(said string, last hermes.Message) hermestest.Step {
	if last.Role == hermes.RoleUser && !last.Synthetic && strings.Contains(last.Text(), "hello") {
		return hermestest.Say("good day")
	}
	return noting(said, last)
}

// results lists the results of tasks in the background in a transcript.
func results(t *testing.T, st hermes.Store, id string) (list []string) {
	t.Helper()
	for _, m := range stored(t, st, id) {
		if strings.HasPrefix(m, "user: [Result of the background task ") {
			list = append(list, m)
		}
	}
	return list
}

// TestACutCallOwnsItsChildrenInTheBackground: after a crash within a call that started a task in the background,
// its child goes on with the call, or with the message that drops it, and reports once.
func TestACutCallOwnsItsChildrenInTheBackground(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		ended        bool // the child, before the crash
		op           hermes.Op
		call, status string // what the call says
	}{
		{"the call goes on", false, hermes.Continue{}, "running, ", "completed"},
		{"the call goes on after its result", true, hermes.Continue{}, "running, ", "completed"},
		{"something else is said", false, say("hello"), `"status":"goes on if it can"}`, "completed"},
		{"something else is said after its result", true, say("hello"), `"status":"completed","summary":"let go"}`, "completed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			slow, entered, leave := gate("slow")
			held, started := holding(make(chan struct{}))
			h := newFixture(t, obedient(polite), newToolTable(held, slow))
			s := h.open(t, session.Open{})
			e := listen(t, s)
			submit(t, s, say(tasksOf(true, "slow")))
			<-started
			<-entered
			if tt.ended {
				close(leave)
				for len(until[hermes.Queued](e).Messages) == 0 {
				}
			}
			again, _, _ := gate("slow")
			now := make(chan struct{})
			close(now)
			free, _ := holding(now)
			next := newFixture(t, obedient(polite), newToolTable(free, again), func(c *session.Config) { c.Store = h.store })
			s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
			e = hear(t, s)
			child := childrenOf(t, h.store, s.ID())[0].ID
			if _, err := next.Get(t.Context(), child); err == nil {
				t.Error("the child goes on before its call")
			}
			submit(t, s, tt.op)
			until[hermes.TurnDone](e)
			if got := stored(t, h.store, s.ID())[2]; !strings.Contains(got, tt.call) {
				t.Errorf("the call says %q", got)
			}
			if got := until[hermes.TurnDone](e).Text; got != "noted" {
				t.Errorf("the turn of the result says %q", got)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got := results(t, h.store, s.ID()); len(got) != 1 || !strings.HasPrefix(got[0], "user: [Result of the background task "+child+": "+tt.status+"]") {
				t.Errorf("the results are %q", got)
			}
			if rows := childrenOf(t, h.store, s.ID()); len(rows) != 1 || rows[0].EndReason != tt.status {
				t.Errorf("%d children, of which the first ended as %q", len(rows), rows[0].EndReason)
			}
		})
	}
}

// TestAChildThatTheUserOpenedIsTheirs: its parent does not take it over, nor close it, and goes on with it
// later.
func TestAChildThatTheUserOpenedIsTheirs(t *testing.T) {
	t.Parallel()
	for _, background := range []bool{true, false} {
		slow, entered, _ := gate("slow")
		h := newFixture(t, obedient(polite), newToolTable(tasks(), slow))
		s := h.open(t, session.Open{})
		submit(t, s, say(tasksOf(background, "slow")))
		<-entered
		again, _, leave := gate("slow")
		close(leave)
		tree := countedTree{new(sync.Mutex), new(int)}
		next := newFixture(t, obedient(polite), newToolTable(tasks(), again), func(c *session.Config) {
			c.Store = h.store
			c.Children.WorktreeOf = func(string, string) session.Tree { return tree }
		})
		child := next.open(t, session.Open{Run: hermes.RunSpec{Session: childrenOf(t, h.store, s.ID())[0].ID}})
		s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
		e := hear(t, s)
		if !background {
			submit(t, s, hermes.Continue{})
			if got := until[hermes.TurnDone](e).Text; !strings.Contains(got, child.ID()+" is open in a frontend of its own already; close it there") {
				t.Errorf("the call says %q", got)
			}
		}
		submit(t, s, say("hello"))
		until[hermes.TurnDone](e)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if *tree.ends != 0 {
			t.Error("its worktree was ended")
		}
		if st := state(t, child); st.Running {
			t.Error("the child works for its parent")
		}
		if !background {
			continue
		}
		if err := child.Close(); err != nil {
			t.Fatal(err)
		}
		s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
		e = hear(t, s)
		until[hermes.TurnDone](e)
		if got := results(t, h.store, s.ID()); len(got) != 1 {
			t.Errorf("the results are %q", got)
		}
	}
}

// marking is a store that tells how sessions are marked to have ended, once that is stored.
type marking struct {
	hermes.Store
	marks chan string
}

func (m marking) UpdateSession(ctx context.Context, id string, change hermes.SessionChange) error {
	err := m.Store.UpdateSession(ctx, id, change)
	if change.Reopen && change.End != "" {
		m.marks <- change.End
	}
	return err
}

// TestALookAtAChildRunsNothingAgain: a child in the background that ended without an answer stays ended, although
// the user opened it since.
func TestALookAtAChildRunsNothingAgain(t *testing.T) {
	t.Parallel()
	slow, entered, _ := gate("slow")
	marks := make(chan string, 8)
	h := newFixture(t, obedient(polite), newToolTable(tasks(), slow), func(c *session.Config) { c.Store = marking{c.Store, marks} })
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say(tasksOf(true, "slow")))
	until[hermes.TurnDone](e)
	<-entered
	id := childrenOf(t, h.store, s.ID())[0].ID
	child, err := h.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	submit(t, child, hermes.Stop{})
	if got := until[hermes.TurnDone](e).Text; got != "noted" {
		t.Errorf("the turn of the result says %q", got)
	}
	<-marks
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	child = h.open(t, session.Open{Run: hermes.RunSpec{Session: id}})
	if err := child.Close(); err != nil {
		t.Fatal(err)
	}
	s = h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	e = hear(t, s)
	submit(t, s, say("hello"))
	until[hermes.TurnDone](e)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-entered:
		t.Error("the child runs again")
	default:
	}
	if rows := childrenOf(t, h.store, s.ID()); rows[0].EndReason != "interrupted" {
		t.Errorf("the child ended as %q", rows[0].EndReason)
	}
	if got := results(t, h.store, s.ID()); len(got) != 1 {
		t.Errorf("the results are %q", got)
	}
}

// masked is a fixture's change: secrets are masked.
func masked(c *session.Config) {
	c.Children.Redact = func(text string) string { return strings.ReplaceAll(text, "secret", "***") }
	c.Children.Changed = func(string, []hermes.Message) (files []string) {
		for i := range 250 {
			files = append(files, fmt.Sprintf("/%03d", i))
		}
		return files
	}
}

// TestWhatAChildSaysIsShortAndWithoutSecrets: as the result of a call, as a message, and after a crash.
func TestWhatAChildSaysIsShortAndWithoutSecrets(t *testing.T) {
	t.Parallel()
	check := func(name, got string, files bool) {
		t.Helper()
		if n := len([]rune(got)); n > 14_000 || strings.Contains(got, "secret") || !strings.Contains(got, "*** x") || !strings.Contains(got, "(cut; session_search reads the whole session)") {
			t.Errorf("%s: %d characters: %.300s", name, n, got)
		}
		if files && (!strings.Contains(got, "/099, and 150 more]") || strings.Contains(got, "/100")) {
			t.Errorf("%s: %s", name, got[len(got)-200:])
		}
	}
	hangs := make(chan struct{}, 1)
	m := obedient(func(said string, last hermes.Message) hermestest.Step {
		switch said {
		case "long":
			return hermestest.Say("secret " + strings.Repeat("x", 20_000) + "secret")
		case "hang":
			hangs <- struct{}{}
			return hermestest.Step{Hang: true}
		}
		return polite(said, last)
	})
	h := newFixture(t, m, newToolTable(tasks()), masked)
	for _, background := range []bool{true, false} {
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say(tasksOf(background, "long")))
		until[hermes.TurnDone](e)
		if background {
			until[hermes.TurnDone](e)
			check("in the background", results(t, h.store, s.ID())[0], true)
			continue
		}
		check("a call", stored(t, h.store, s.ID())[2], false)
	}
	s := h.open(t, session.Open{})
	submit(t, s, say(tasksOf(false, "long", "hang")))
	<-hangs
	next := newFixture(t, m, newToolTable(tasks()), masked, func(c *session.Config) { c.Store = h.store })
	s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	e := hear(t, s)
	submit(t, s, say("hello"))
	until[hermes.TurnDone](e)
	check("after a crash", stored(t, h.store, s.ID())[2], false)
}

// countedTree is a worktree that counts how often it was ended.
type countedTree struct {
	mu   *sync.Mutex
	ends *int
}

func (countedTree) Dir() string { return "/tree" }
func (c countedTree) End(context.Context) hermes.Worktree {
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.ends++
	return hermes.Worktree{}
}

// TestAChildThatPausesKeepsItsWorktree, also if its session is closed before that of its parent, as at the end of
// the program. A child for which a call waits is interrupted.
func TestAChildThatPausesKeepsItsWorktree(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"the child", "the parent", "all"} {
		for _, background := range []bool{true, false} {
			if !background && first == "the parent" {
				continue // its call ends with its parent
			}
			slow, entered, _ := gate("slow")
			tree := countedTree{new(sync.Mutex), new(int)}
			h := newFixture(t, obedient(polite), newToolTable(tasks(), slow), func(c *session.Config) {
				c.Children.Worktree = func(context.Context, hermes.Workspace, bool) (session.Tree, error) { return tree, nil }
			})
			s := h.open(t, session.Open{})
			e := listen(t, s)
			submit(t, s, say(tasksOf(background, "slow")))
			<-entered
			id := childrenOf(t, h.store, s.ID())[0].ID
			if first == "the child" {
				child, err := h.Get(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				if err := child.Close(); err != nil {
					t.Fatal(err)
				}
				if !background {
					if got := until[hermes.TurnDone](e).Text; got != "interrupted, " {
						t.Errorf("the call says %q", got)
					}
				}
			}
			if first != "all" {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			end, ends := "closed", 0
			if !background { // its call ends with it, or goes on
				end, ends = "interrupted", 1
			}
			if row := childrenOf(t, h.store, s.ID())[0]; row.EndReason != end || *tree.ends != ends {
				t.Errorf("%s first, background is %v: the child ended as %q, its worktree %d times", first, background, row.EndReason, *tree.ends)
			}
		}
	}
}

// TestAStalledGrandchildLeavesItsParentRunning: while a child waits for children of its own, those are what is
// watched.
func TestAStalledGrandchildLeavesItsParentRunning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := obedient(func(said string, last hermes.Message) hermestest.Step {
			if said == "stall" {
				return hermestest.Step{Text: "half", Hang: true}
			}
			return orders(said, last)
		})
		deep := tasks()
		run := deep.run
		deep.run = func(ctx context.Context, c *hermes.Call) hermes.Result {
			if c.Host.Session().Depth == 0 {
				r, err := c.Host.Spawn(ctx, hermes.Task{Goal: tasksOf(false, "stall"), Role: hermes.RoleOrchestrator})
				return hermes.Result{Text: fmt.Sprintf("%s, %s, %v", r.Status, r.Summary, err)}
			}
			time.Sleep(time.Second)
			return run(ctx, c)
		}
		h := newFixture(t, m, newToolTable(deep), func(c *session.Config) { c.Children.Depth, c.Children.Quiet = 2, time.Minute })
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say(session.DelegateTool))
		if got := until[hermes.TurnDone](e).Text; got != "completed, timeout, half, <nil>" {
			t.Errorf("the child said %q", got)
		}
		s.Close()
	})
}

// TestAHookThatRefusesAResultDoesNotDropIt: it waits, and other messages do not wait for it.
func TestAHookThatRefusesAResultDoesNotDropIt(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	refuses := true
	hooks := []hermes.Hook{{Name: "strict", TurnStart: func(_ context.Context, _ hermes.SessionRef, m hermes.Message) ([]hermes.Part, error) {
		mu.Lock()
		defer mu.Unlock()
		if refuses && m.Synthetic && m.Text() != "a note" {
			return nil, errors.New("no results today")
		}
		return nil, nil
	}}}
	h := newFixture(t, obedient(polite), newToolTable(tasks()), func(c *session.Config) {
		next := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			r, err := next(ctx, run)
			if err == nil {
				r.Hooks = hook.New(nil, hooks...)
			}
			return r, err
		}
	})
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say(tasksOf(true, "say one")))
	until[hermes.TurnDone](e)
	if d := until[hermes.TurnDone](e); d.Outcome != hermes.OutcomeFailed || state(t, s).Queued != 1 {
		t.Errorf("done %+v, %d wait", d, state(t, s).Queued)
	}
	submit(t, s, hermes.Say{Parts: []hermes.Part{{Text: "a note"}}, Synthetic: true})
	if d := until[hermes.TurnDone](e); d.Text != "noted" || state(t, s).Queued != 1 { // which does not wait for the user
		t.Errorf("done %+v, %d wait", d, state(t, s).Queued)
	}
	mu.Lock()
	refuses = false
	mu.Unlock()
	submit(t, s, say("hello"))
	until[hermes.TurnDone](e)
	if d := until[hermes.TurnDone](e); d.Text != "noted" || len(results(t, h.store, s.ID())) != 1 {
		t.Errorf("the turn of the result: %+v", d)
	}
}

// chosen is models that note what they are asked for.
type chosen struct {
	models
	mu   *sync.Mutex
	seen *[]hermes.ModelChoice
}

func (c chosen) Model(ctx context.Context, m hermes.ModelChoice) (hermes.Model, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.seen = append(*c.seen, m)
	return c.models.Model(ctx, m)
}

// TestAChildThatGoesOnKeepsTheServiceOfItsModel, although its parent is opened with another service.
func TestAChildThatGoesOnKeepsTheServiceOfItsModel(t *testing.T) {
	t.Parallel()
	slow, entered, _ := gate("slow")
	h := newFixture(t, obedient(polite), newToolTable(tasks(), slow))
	s := h.open(t, session.Open{})
	submit(t, s, say(tasksOf(true, "slow")))
	<-entered
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	list := chosen{models{obedient(polite)}, new(sync.Mutex), new([]hermes.ModelChoice)}
	next := newFixture(t, nil, newToolTable(tasks(), slow), func(c *session.Config) { c.Store, c.Models = h.store, list })
	s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID(), Model: hermes.ModelChoice{Provider: "other"}}})
	until[hermes.TurnDone](hear(t, s))
	list.mu.Lock()
	defer list.mu.Unlock()
	if !slices.ContainsFunc(*list.seen, func(c hermes.ModelChoice) bool { return c.Ref == "script:test" && c.Provider == "" }) {
		t.Errorf("the models are %+v", *list.seen)
	}
}

// TestACompactionHidesNoCommandFromAReport: a child whose transcript was shortened still says that commands may
// have changed more files.
func TestACompactionHidesNoCommandFromAReport(t *testing.T) {
	t.Parallel()
	big := func(c hermestest.Step, used int64) hermestest.Step {
		c.Text = fmt.Sprint(used) + strings.Repeat(" thought", 2500)
		c.Usage = &hermes.Usage{Input: used, Output: 10, Calls: 1}
		return c
	}
	read := tool{hermes.Spec{Name: "read", Schema: echo("read").spec.Schema, Effect: hermes.EffectNone}, func(context.Context, *hermes.Call) hermes.Result {
		return hermes.Result{Text: "a word"}
	}}
	m := hermestest.NewScript(hermestest.CallTool(session.DelegateTool, `{}`))
	for i := range 20 {
		if i == 6 {
			m.Add(hermestest.CallTool("shell", `{}`))
		}
		m.Add(big(hermestest.CallTool("read", `{}`), min(2_000+5_000*int64(i), 95_000)))
	}
	m.Add(hermestest.Say("done"), hermestest.Say("thanks"))
	var restored []hermes.Message
	give := tool{tasks().spec, func(ctx context.Context, c *hermes.Call) hermes.Result {
		r, err := c.Host.Spawn(ctx, hermes.Task{Goal: "work"})
		return hermes.Result{Text: fmt.Sprintf("%s, %v, %v", r.Summary, r.MayBeMore, err)}
	}}
	h := newFixture(t, m, newToolTable(give, read, echo("shell")), compressing(t, filepath.Join(t.TempDir(), "state.db"), &restored))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("go"))
	until[hermes.TurnDone](e)
	if got := stored(t, h.store, s.ID())[2]; got != "tool: done, true, <nil>" {
		t.Errorf("the report is %q", got)
	}
	if list := stored(t, h.store, childrenOf(t, h.store, s.ID())[0].ID); slices.Contains(list, "tool: did shell") {
		t.Errorf("the transcript was not shortened: %.60q", list)
	}
}

// unreadable is a store that reads the transcript of a grandchild only once, for its own report.
type unreadable struct {
	hermes.Store
	reads *atomic.Int64
}

func (s unreadable) Messages(ctx context.Context, id string, r hermes.Range) ([]hermes.Message, error) {
	if row, err := s.FindSession(ctx, id); err == nil && row.Run.Origin.Depth == 2 && r.Raw && s.reads.Add(1) > 1 {
		return nil, errors.New("the disk is gone")
	}
	return s.Store.Messages(ctx, id, r)
}

// TestAChildThatCannotBeReadTaintsTheReport of the one that started it.
func TestAChildThatCannotBeReadTaintsTheReport(t *testing.T) {
	t.Parallel()
	for _, broken := range []bool{false, true} {
		from := make(chan string, 1)
		deep := tasks()
		run := deep.run
		deep.run = func(ctx context.Context, c *hermes.Call) hermes.Result {
			if c.Host.Session().Depth > 0 {
				return run(ctx, c)
			}
			r, err := c.Host.Spawn(ctx, hermes.Task{Goal: tasksOf(false, "say one"), Role: hermes.RoleOrchestrator})
			from <- r.Provenance
			return hermes.Result{Text: fmt.Sprintf("%s, %v", r.Status, err)}
		}
		h := newFixture(t, obedient(orders), newToolTable(deep), func(c *session.Config) {
			c.Children.Depth = 2
			if broken {
				c.Store = unreadable{c.Store, new(atomic.Int64)}
			}
		})
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say(session.DelegateTool))
		until[hermes.TurnDone](e)
		if got := <-from; strings.Contains(got, "a child session") != broken {
			t.Errorf("broken is %v: the report is from %q", broken, got)
		}
	}
}

// TestAnUndoneCallStartsNoChildLater: its children in the background, which a crash cut off, do not go on.
func TestAnUndoneCallStartsNoChildLater(t *testing.T) {
	t.Parallel()
	slow, entered, _ := gate("slow")
	held, started := holding(make(chan struct{}))
	h := newFixture(t, obedient(polite), newToolTable(held, slow))
	s := h.open(t, session.Open{})
	submit(t, s, say(tasksOf(true, "slow")))
	<-started
	<-entered
	again, runs, leave := gate("slow")
	close(leave)
	next := newFixture(t, obedient(polite), newToolTable(tasks(), again), func(c *session.Config) { c.Store = h.store })
	s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	submit(t, s, hermes.Undo{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	e := hear(t, s)
	submit(t, s, say("hello"))
	until[hermes.TurnDone](e)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if rows := childrenOf(t, h.store, s.ID()); len(runs) > 0 || rows[0].EndReason != "interrupted" {
		t.Errorf("%d children run later, the first ended as %q", len(runs), rows[0].EndReason)
	}
}

// TestAChildThatEndedBeforeACrashEndsItsWorktree when its call goes on.
func TestAChildThatEndedBeforeACrashEndsItsWorktree(t *testing.T) {
	t.Parallel()
	hold, holds, _ := gate("slow")
	h := newFixture(t, obedient(polite), newToolTable(tasks(), hold))
	s := h.open(t, session.Open{})
	submit(t, s, say(tasksOf(false, "say one", "slow")))
	<-holds
	again, _, leave := gate("slow")
	close(leave)
	tree := countedTree{new(sync.Mutex), new(int)}
	next := newFixture(t, obedient(polite), newToolTable(tasks(), again), func(c *session.Config) {
		c.Store = h.store
		c.Children.WorktreeOf = func(string, string) session.Tree { return tree }
	})
	s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	e := hear(t, s)
	submit(t, s, hermes.Continue{})
	until[hermes.TurnDone](e)
	if *tree.ends != 2 {
		t.Errorf("%d worktrees of 2 children were ended", *tree.ends)
	}
}

// full is a store that stores no waiting messages.
type full struct {
	hermes.Store
	refused chan struct{}
}

func (f full) AddWaiting(context.Context, hermes.Lease, hermes.WaitingMessage) (int64, error) {
	f.refused <- struct{}{}
	return 0, errors.New("the disk is full")
}

// TestAResultOfTheBackgroundComesOnce, although its call goes on without the background, as where no user attends: as a
// message if that was stored before the crash, else with the call.
func TestAResultOfTheBackgroundComesOnce(t *testing.T) {
	t.Parallel()
	for _, stores := range []bool{true, false} {
		slow, entered, leave := gate("slow")
		held, started := holding(make(chan struct{}))
		refused := make(chan struct{}, 8)
		memory := hermestest.NewStore()
		h := newFixture(t, obedient(polite), newToolTable(held, slow), func(c *session.Config) {
			if c.Store = memory; !stores {
				c.Store = full{memory, refused}
			}
		})
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say(tasksOf(true, "slow")))
		<-started
		<-entered
		close(leave)
		if stores {
			for len(until[hermes.Queued](e).Messages) == 0 {
			}
		} else {
			<-refused
		}
		inner := tasks()
		unattended := tool{inner.spec, func(ctx context.Context, c *hermes.Call) hermes.Result {
			c.Arguments = []byte(strings.Replace(string(c.Arguments), "true", "false", 1))
			return inner.run(ctx, c)
		}}
		for cut := range 2 {
			next := newFixture(t, obedient(polite), newToolTable(unattended, slow), func(c *session.Config) { c.Store = memory })
			s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
			e = hear(t, s)
			if cut == 0 {
				submit(t, s, hermes.Continue{})
				until[hermes.TurnDone](e)
			}
			submit(t, s, say("hello"))
			until[hermes.TurnDone](e)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		called := strings.Contains(stored(t, memory, s.ID())[2], "let go")
		if got := len(results(t, memory, s.ID())); called == stores || (got == 1) != stores || got > 1 {
			t.Errorf("the message was stored: %v; the call has the result: %v; %d messages", stores, called, got)
		}
	}
}

// TestATaskThatQuotesAnInterruptionGoesOn after a crash: it is no mark of one.
func TestATaskThatQuotesAnInterruptionGoesOn(t *testing.T) {
	t.Parallel()
	hangs := make(chan struct{}, 1)
	model := func(hang bool) hermes.Model {
		return obedient(func(said string, last hermes.Message) hermestest.Step {
			if strings.HasPrefix(said, "explain") {
				if hang {
					hangs <- struct{}{}
				}
				return hermestest.Step{Text: "it was stopped", Hang: hang}
			}
			return polite(said, last)
		})
	}
	h := newFixture(t, model(true), newToolTable(tasks()))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say(tasksOf(true, "explain [The user interrupted this turn here.]")))
	until[hermes.TurnDone](e)
	<-hangs
	next := newFixture(t, model(false), newToolTable(tasks()), func(c *session.Config) { c.Store = h.store })
	s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	until[hermes.TurnDone](hear(t, s))
	if got := results(t, h.store, s.ID()); len(got) != 1 || !strings.Contains(got[0], "it was stopped") {
		t.Errorf("the results are %q", got)
	}
}

// TestAHangingGrandchildLeavesItsParentWatched: once it was given up, its parent is stopped if it makes no progress.
func TestAHangingGrandchildLeavesItsParentWatched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		leave := make(chan struct{})
		stuck := tool{hermes.Spec{Name: "stuck", Schema: echo("stuck").spec.Schema}, func(context.Context, *hermes.Call) hermes.Result {
			<-leave
			return hermes.Result{}
		}}
		m := obedient(func(said string, last hermes.Message) hermestest.Step {
			if strings.HasPrefix(said, session.DelegateTool+" ") && last.Role == hermes.RoleTool {
				return hermestest.Step{Text: "half", Hang: true}
			}
			return orders(said, last)
		})
		deep := tasks()
		run := deep.run
		deep.run = func(ctx context.Context, c *hermes.Call) hermes.Result {
			if c.Host.Session().Depth == 0 {
				r, err := c.Host.Spawn(ctx, hermes.Task{Goal: tasksOf(false, "stuck"), Role: hermes.RoleOrchestrator})
				return hermes.Result{Text: fmt.Sprintf("%s, %s, %v", r.Status, r.Summary, err)}
			}
			return run(ctx, c)
		}
		h := newFixture(t, m, newToolTable(deep, stuck), func(c *session.Config) { c.Children.Depth, c.Children.Quiet = 2, time.Minute })
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say(session.DelegateTool))
		time.AfterFunc(time.Hour, func() { close(leave) })
		time.Sleep(20 * time.Minute)
		if got := until[hermes.TurnDone](e).Text; !strings.HasPrefix(got, "timeout, ") {
			t.Errorf("the child said %q", got)
		}
		time.Sleep(time.Hour)
		s.Close()
	})
}

// damagedRow is a store that cannot read one session.
type damagedRow struct {
	hermes.Store
	id string
}

func (d damagedRow) FindSession(ctx context.Context, ref string) (hermes.Session, error) {
	if ref == d.id {
		return hermes.Session{}, errors.New("the row is damaged")
	}
	return d.Store.FindSession(ctx, ref)
}

// TestADamagedChildKeepsNoConversationClosed: its parent is opened and works, also if what went on in the background cannot be read.
func TestADamagedChildKeepsNoConversationClosed(t *testing.T) {
	t.Parallel()
	h := newFixture(t, obedient(orders), newToolTable())
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("say hello"))
	until[hermes.TurnDone](e)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	child := hermes.Session{ID: "20260101_000000_damaged", Platform: hermes.PlatformChild, Parent: s.ID(), Started: time.Now()}
	if err := h.store.CreateSession(t.Context(), child); err != nil {
		t.Fatal(err)
	}
	next := newFixture(t, obedient(orders), newToolTable(), func(c *session.Config) { c.Store = damagedRow{h.store, child.ID} })
	again := next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	e = hear(t, again)
	submit(t, again, say("say again"))
	if got := until[hermes.TurnDone](e); got.Failure != nil {
		t.Errorf("the turn failed: %v", got.Failure)
	}
}
