package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
	"hermes/internal/session"
)

// obedient is a model that answers by the first message of the session and the newest one.
type obedient func(said string, last hermes.Message) hermestest.Step

func (obedient) ID() string { return "script:test" }

func (o obedient) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	step := o(r.Messages[0].Visible(), r.Messages[len(r.Messages)-1])
	for i := range step.Calls {
		step.Calls[i].ID = fmt.Sprintf("call_%d_%d", len(r.Messages), i)
	}
	return hermestest.NewScript(step).Stream(ctx, r)
}

// orders obeys messages such as "rm" or "delegate {…}": one call, then its result as the answer.
// "again" calls for ever.
func orders(said string, last hermes.Message) hermestest.Step {
	name, arguments, found := strings.Cut(said, " ")
	if !found {
		arguments = "{}"
	}
	if last.Role == hermes.RoleUser && name != "say" || name == "again" {
		return hermestest.CallTool(name, arguments)
	}
	return hermestest.Say(last.Text())
}

// delegating runs children at once and says how each ended.
func delegating() tool {
	spec := hermes.Spec{Name: "delegate", Schema: json.RawMessage(`{"type":"object"}`)}
	return tool{spec, func(ctx context.Context, c *hermes.Call) hermes.Result {
		var in struct {
			Goals    []string
			Steps    int
			Toolsets []string
			Role     hermes.ChildRole
		}
		if err := json.Unmarshal(c.Arguments, &in); err != nil {
			return hermes.ErrorResult(err.Error())
		}
		out := make([]string, len(in.Goals))
		var wg sync.WaitGroup
		for i, goal := range in.Goals {
			wg.Go(func() {
				r, err := c.Host.Spawn(ctx, hermes.Task{Goal: goal, MaxSteps: in.Steps, Toolsets: in.Toolsets, Role: in.Role})
				out[i] = fmt.Sprintf("%s, %s, %v", r.Status, r.Summary, err)
			})
		}
		wg.Wait()
		return hermes.Result{Text: strings.Join(out, "\n")}
	}}
}

// delegation is a message that has a session run children with these goals. One with children of its
// own is an orchestrator.
func delegation(goals ...string) string {
	work := map[string]any{"goals": goals}
	if slices.ContainsFunc(goals, func(g string) bool { return strings.HasPrefix(g, "delegate ") }) {
		work["role"] = hermes.RoleOrchestrator
	}
	raw, _ := json.Marshal(work)
	return "delegate " + string(raw)
}

// TestAChildAsksTheUserOfTheSessionsAbove: what a grandchild asks is shown at the top, under its
// own id, and its answer goes to it.
func TestAChildAsksTheUserOfTheSessionsAbove(t *testing.T) {
	t.Parallel()
	h := newFixture(t, obedient(orders), newToolTable(delegating(), remover(nil), asker(1)), func(c *session.Config) { c.Children.Depth = 2 })
	s := h.open(t, session.Open{})
	_, events, err := s.Attach(t.Context(), bob, protocol.After{})
	if err != nil {
		t.Fatal(err)
	}
	submit(t, s, say(delegation(delegation("rm", "clarify"), "clarify")))
	asked, deepest := 0, ""
	for e := range events {
		switch d := e.Event.(type) {
		case hermes.Asked:
			asked++
			shown, _, err := s.Attach(t.Context(), hermes.From{}, protocol.After{})
			if err != nil || !slices.ContainsFunc(shown.Questions, func(q protocol.OpenQuestion) bool { return q.Session == e.Session && q.Asked.ID == d.ID }) ||
				!slices.ContainsFunc(shown.Children, func(c protocol.Child) bool {
					return c.ID == e.Session && c.Parent == e.Parent
				}) {
				t.Errorf("the snapshot has %+v and %+v, %v", shown.Questions, shown.Children, err)
			}
			child, err := h.Get(t.Context(), e.Session)
			if err != nil {
				t.Fatal(err)
			}
			if e.Parent != s.ID() {
				deepest = e.Session
			}
			r := hermes.Reply{ID: d.ID, Answer: hermes.Answer{Texts: []string{"yes"}}}
			if d.Approval != nil {
				r.Approval.Decision = hermes.AllowOnce
			}
			if err := child.Do(t.Context(), bob, r); err != nil {
				t.Error(err)
			}
			if q := question(t, h.store, e.Session, d); !q.Answered || q.By != bob {
				t.Errorf("stored %+v", q)
			}
		case hermes.TurnDone:
			if e.Parent != "" {
				continue
			}
			if want := "completed, completed, once <nil>, <nil>\ncompleted, yes, <nil>, <nil>\ncompleted, yes, <nil>"; d.Text != want {
				t.Errorf("the children said %s", d.Text)
			}
			if asked != 3 || deepest == "" {
				t.Errorf("asked %d times, by a grandchild: %q", asked, deepest)
			}
			return
		}
	}
}

// TestAChildIsRefusedWhereNoUserIsAbove, whatever its parent may do without a user.
func TestAChildIsRefusedWhereNoUserIsAbove(t *testing.T) {
	t.Parallel()
	h := newFixture(t, obedient(orders), newToolTable(delegating(), remover(nil), asker(1)), with(func(_ hermes.RunSpec, r *session.Runtime) {
		r.Unattended = func(hermes.Risk) bool { return true }
	}))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say(delegation("rm", "clarify")))
	if got, want := until[hermes.TurnDone](e).Text, "completed, absent <nil>, <nil>\ncompleted, error: this session is unattended, <nil>"; got != want {
		t.Errorf("the children said %s", got)
	}
}

// TestChildrenAreBounded in how many there are and how deep they are nested.
func TestChildrenAreBounded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		limits session.Children
		say    string
		want   []string // of the reports, sorted
	}{
		"at once": {session.Children{}, delegation("say a", "say a", "say a", "say a"), []string{
			", , this session runs 3 child sessions already, and delegation.max_concurrent_children allows no more; wait until one has ended, or do the work yourself",
			"completed, say a, <nil>", "completed, say a, <nil>", "completed, say a, <nil>",
		}},
		"one after another": {session.Children{AtOnce: 1}, delegation("say a"), []string{"completed, say a, <nil>"}},
		"depth": {session.Children{}, delegation(delegation("say a")), []string{
			", , delegation.max_spawn_depth allows a depth of 1, so this child could not start others; use the role leaf",
		}},
		"deeper": {session.Children{Depth: 2}, delegation(delegation("say a")), []string{"completed, completed, say a, <nil>, <nil>"}},
		"program": {session.Children{AtOnce: 99}, delegation(slices.Repeat([]string{"say a"}, 65)...), append([]string{
			", , 64 child sessions run in this program already, which is the limit; do the work yourself, or try again later",
		}, slices.Repeat([]string{"completed, say a, <nil>"}, 64)...)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // the time stands while a child can go on
				m := obedient(func(said string, last hermes.Message) hermestest.Step {
					if said == "say a" {
						time.Sleep(time.Second)
					}
					return orders(said, last)
				})
				h := newFixture(t, m, newToolTable(delegating()), func(c *session.Config) { c.Children = tt.limits })
				s := h.open(t, session.Open{})
				for range 2 { // what has ended counts no more
					e := listen(t, s)
					submit(t, s, say(tt.say))
					done := until[hermes.TurnDone](e)
					got := strings.Split(done.Text, "\n")
					slices.Sort(got)
					if diff := cmp.Diff(tt.want, got); diff != "" {
						t.Error(diff)
					}
					submit(t, s, hermes.Undo{})
				}
				s.Close()
			})
		})
	}
}

// TestChildrenTakeTheStepsOfTheirParent: together they never make more model calls than the turn
// may, and it has what they leave.
func TestChildrenTakeTheStepsOfTheirParent(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		steps, child int // of the turn, and of each child by the settings
		calls        int // of the model: each turn that has no step left makes one more
	}{
		"the children use them up": {10, 50, 10 + 3 + 1},
		"each has its own limit":   {20, 4, 1 + 3*(4+1) + 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			var begun sync.WaitGroup // by all children: one that begins after the others took all steps is refused
			begun.Add(3)
			m := obedient(func(said string, last hermes.Message) hermestest.Step {
				calls.Add(1)
				if last.Role == hermes.RoleUser && !last.Synthetic && last.Text() == "again" {
					begun.Done()
					begun.Wait()
				}
				if last.Role == hermes.RoleUser && last.Synthetic || strings.Contains(last.Text(), "step") {
					return hermestest.Say("out of steps")
				}
				return orders(said, last)
			})
			h := newFixture(t, m, newToolTable(delegating(), echo("again")), func(c *session.Config) { c.Children.Steps = tt.child })
			s := h.open(t, session.Open{Run: hermes.RunSpec{Budget: hermes.RunBudget{Steps: tt.steps}}})
			e := listen(t, s)
			submit(t, s, say(delegation("again", "again", "again")))
			until[hermes.TurnDone](e)
			if got := int(calls.Load()); got != tt.calls {
				t.Errorf("the model was called %d times, want %d", got, tt.calls)
			}
		})
	}
}

// TestAStopOfTheParentEndsItsChildren, also while one waits for an answer or is prepared.
func TestAStopOfTheParentEndsItsChildren(t *testing.T) {
	t.Parallel()
	slow, entered, _ := gate("slow")
	h := newFixture(t, obedient(orders), newToolTable(delegating(), slow, remover(nil)))
	s := h.open(t, session.Open{})
	e := attend(t, s)
	submit(t, s, say(delegation("slow", "slow", "rm")))
	<-entered
	<-entered
	submit(t, s, hermes.Stop{})
	if d := until[hermes.TurnDone](e); d.Outcome != hermes.OutcomeInterrupted {
		t.Errorf("done %+v", d)
	}
	if live := h.Live(); len(live) != 1 {
		t.Errorf("%d sessions are live", len(live))
	}
	shown, _, err := s.Attach(t.Context(), hermes.From{}, protocol.After{})
	if err != nil || len(shown.Children) > 0 || len(shown.Questions) > 0 {
		t.Errorf("the snapshot has %+v and %+v, %v", shown.Children, shown.Questions, err)
	}
	if open, err := h.store.OpenQuestions(t.Context(), hermes.QuestionFilter{}); err != nil || len(open) > 0 {
		t.Errorf("open %+v, %v", open, err)
	}
}

// TestAStopOfOneChildEndsOnlyThat: its parent gets its report, and goes on with the others.
func TestAStopOfOneChildEndsOnlyThat(t *testing.T) {
	t.Parallel()
	for _, ask := range []bool{false, true} { // whether the child waits for an answer when it is stopped
		slow, entered, leave := gate("slow")
		h := newFixture(t, obedient(orders), newToolTable(delegating(), slow, asker(1)))
		s := h.open(t, session.Open{})
		_, events, err := s.Attach(t.Context(), bob, protocol.After{})
		if err != nil {
			t.Fatal(err)
		}
		goal := "slow"
		if ask {
			goal = "clarify"
		}
		submit(t, s, say(delegation(goal, "slow {}")))
		<-entered
		if !ask {
			<-entered
		}
		stopped := ""
		for e := range events {
			if d, ok := e.Event.(hermes.TurnDone); ok && e.Parent == "" {
				if want := "interrupted, , <nil>\ncompleted, let go, <nil>"; d.Text != want {
					t.Errorf("the children said %s", d.Text)
				}
				break
			}
			_, began := e.Event.(hermes.CallStarted)
			if _, asked := e.Event.(hermes.Asked); e.Parent == "" || stopped != "" || !began && !ask || ask && !asked {
				continue
			}
			child, err := h.Get(t.Context(), e.Session)
			if err != nil {
				t.Fatal(err)
			}
			if st := state(t, child); st.Transcript[0].Visible() != goal {
				continue
			}
			stopped = e.Session
			submit(t, child, hermes.Leave{}) // a frontend that goes away does not end it
			submit(t, child, hermes.Stop{})
			close(leave)
		}
		asking(t, h.store, stopped, false) // no one will go on with it
	}
}

// TestAChildThatIsStoppedWhileItIsPrepared is interrupted like any other.
func TestAChildThatIsStoppedWhileItIsPrepared(t *testing.T) {
	t.Parallel()
	preparing := make(chan string, 1)
	h := newFixture(t, obedient(orders), newToolTable(delegating()), func(c *session.Config) {
		next := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			if run.Origin.Depth > 0 {
				preparing <- run.Session
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			return next(ctx, run)
		}
	})
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say(delegation("say a")))
	child, err := h.Get(t.Context(), <-preparing)
	if err != nil {
		t.Fatal(err)
	}
	submit(t, child, hermes.Stop{})
	if got := until[hermes.TurnDone](e).Text; got != "interrupted, , <nil>" {
		t.Errorf("the child said %q", got)
	}
}

// TestAStallOfAChildCanBeSeen: its activity in the snapshot of its parent moves on while it
// thinks and writes, and is old when it does nothing.
func TestAStallOfAChildCanBeSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := obedient(func(said string, last hermes.Message) hermestest.Step {
			return hermestest.Step{Hang: said == "stall", Text: "x"}
		})
		writing := slowly{m, "write", 10 * time.Minute}
		h := newFixture(t, obedient(orders), newToolTable(delegating()), func(c *session.Config) { c.Models = models{writing} })
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say(delegation("write", "stall")))
		time.Sleep(5*time.Minute + time.Second)
		synctest.Wait()
		shown, _, err := s.Attach(t.Context(), hermes.From{}, protocol.After{})
		if err != nil || len(shown.Children) != 2 {
			t.Fatalf("children %+v, %v", shown.Children, err)
		}
		got := map[string]time.Duration{}
		for _, c := range shown.Children {
			got[c.Goal+": "+c.Activity.What] = time.Since(c.Activity.At).Round(time.Second)
			if c.ModelCalls != 1 || c.Parent != s.ID() {
				t.Errorf("child %+v", c)
			}
		}
		if got["stall: writing"] < 5*time.Minute || len(got) != 2 {
			t.Errorf("activities %v", got)
		}
		if at, ok := got["write: writing"]; !ok || at > 6*time.Second {
			t.Errorf("activities %v", got)
		}
		texts := 0
		for _, e := range e.heard {
			if d, ok := e.(hermes.TextDelta); ok && d.Text != "" {
				texts++
			}
		}
		if texts > 0 {
			t.Errorf("%d texts of children were shown above", texts)
		}
		submit(t, s, hermes.Stop{})
		until[hermes.TurnDone](e)
		s.Close()
	})
}

// slowly is a model that writes a text for a while, in pieces of a second, where the goal is that.
type slowly struct {
	obedient
	goal string
	time time.Duration
}

func (m slowly) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	said := r.Messages[0].Visible()
	if strings.HasPrefix(said, "delegate") {
		return obedient(orders).Stream(ctx, r)
	}
	if said != m.goal {
		return m.obedient.Stream(ctx, r)
	}
	return func(yield func(hermes.Delta, error) bool) {
		for range int(m.time / time.Second) {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				yield(hermes.Delta{}, context.Cause(ctx))
				return
			}
			if !yield(hermes.Delta{Text: "word "}, nil) {
				return
			}
		}
	}
}

// TestSnapshotsKnowTheChildren: what a frontend makes of the envelopes, from whatever moment on, is
// what the session says at the end.
func TestSnapshotsKnowTheChildren(t *testing.T) {
	t.Parallel()
	slow, entered, leave := gate("slow")
	h := newFixture(t, obedient(orders), newToolTable(delegating(), slow), func(c *session.Config) { c.Children.Depth = 2 })
	s := h.open(t, session.Open{})
	_, events, err := s.Attach(t.Context(), bob, protocol.After{})
	if err != nil {
		t.Fatal(err)
	}
	submit(t, s, say(delegation(delegation("slow"), "slow {}")))
	<-entered
	<-entered
	var view protocol.View
	seen := int64(0)
	for running := 0; running < 3; {
		e := <-events
		view.Apply(e)
		seen = e.Seq
		if _, ok := e.Event.(hermes.CallStarted); ok && e.Parent != "" {
			running++
		}
	}
	end, _, err := s.Attach(t.Context(), hermes.From{}, protocol.After{})
	if err != nil {
		t.Fatal(err)
	}
	for seen < end.Seq {
		e := <-events
		view.Apply(e)
		seen = e.Seq
	}
	var got protocol.Snapshot
	view.Fill(&got)
	if diff := cmp.Diff(end.Children, got.Children, cmpopts.EquateApproxTime(0)); diff != "" || len(end.Children) != 3 {
		t.Errorf("%d children; -snapshot +view:\n%s", len(end.Children), diff)
	}
	running := 0
	for _, c := range end.Children {
		if len(c.Calls) == 1 {
			running++
		}
	}
	if running != 3 {
		t.Errorf("children %+v", end.Children)
	}
	close(leave)
	for e := range events {
		if view.Apply(e); e.Parent == "" {
			if _, done := e.Event.(hermes.TurnDone); done {
				break
			}
		}
	}
	if view.Fill(&got); len(got.Children) > 0 {
		t.Errorf("left are %+v", got.Children)
	}
}

// TestTheToolsetsOfATaskAreChecked before a child is opened.
func TestTheToolsetsOfATaskAreChecked(t *testing.T) {
	t.Parallel()
	var tools []string
	h := newFixture(t, obedient(orders), newToolTable(delegating(), echo("other")), func(c *session.Config) {
		c.Children.Toolsets = func(_ context.Context, names, parents []string) error {
			tools = parents
			return errors.New("there is no toolset " + names[0])
		}
	})
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say(`delegate {"goals":["say a"],"toolsets":["attic"]}`))
	if got := until[hermes.TurnDone](e).Text; got != ", , there is no toolset attic" || !slices.Equal(tools, []string{"delegate", "other"}) {
		t.Errorf("the child said %q, of the tools %q", got, tools)
	}
	if list, err := h.store.ListSessions(t.Context(), hermes.SessionFilter{Parent: s.ID(), Limit: -1}); err != nil || len(list) > 0 {
		t.Errorf("children %+v, %v", list, err)
	}
}
