package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
	"hermes/internal/session"
)

// tasks is a tool that gives tasks to children, one after another, as delegate_task does: a call that is
// run again goes on.
func tasks() tool {
	spec := hermes.Spec{Name: session.DelegateTool, Schema: json.RawMessage(`{"type":"object"}`), Effect: hermes.EffectResumes}
	return tool{spec, func(ctx context.Context, c *hermes.Call) hermes.Result {
		var in struct {
			Goals      []string
			Background bool
			Schema     json.RawMessage
			Role       hermes.ChildRole
		}
		if err := json.Unmarshal(c.Arguments, &in); err != nil {
			return hermes.ErrorResult(err.Error())
		}
		out := make([]string, len(in.Goals))
		for i, goal := range in.Goals {
			r, err := c.Host.Spawn(ctx, hermes.Task{Goal: goal, Background: in.Background, Schema: in.Schema, Role: in.Role, Key: fmt.Sprintf("%s/%d", c.ID, i+1)})
			out[i] = fmt.Sprintf("%s, %s", r.Status, r.Summary)
			if r.Result != nil || r.Misfit != "" {
				out[i] += fmt.Sprintf(" (%s %s)", r.Result, r.Misfit)
			}
			if err != nil {
				out[i] = "error: " + err.Error()
			}
		}
		return hermes.Result{Text: strings.Join(out, "\n")}
	}}
}

func tasksOf(background bool, goals ...string) string {
	raw, _ := json.Marshal(map[string]any{"goals": goals, "background": background})
	return session.DelegateTool + " " + string(raw)
}

// noting obeys, and takes note of what the program says.
func noting(said string, last hermes.Message) hermestest.Step {
	if last.Role == hermes.RoleUser && last.Synthetic {
		return hermestest.Say("noted")
	}
	return orders(said, last)
}

// childrenOf returns the complete rows of the children of a session, oldest first.
func childrenOf(t *testing.T, st hermes.Store, id string) []hermes.Session {
	t.Helper()
	list, err := st.ListSessions(t.Context(), hermes.SessionFilter{Parent: id, Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	var rows []hermes.Session
	for _, short := range list {
		row, err := st.FindSession(t.Context(), short.ID)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b hermes.Session) int { return strings.Compare(a.Run.Origin.Task.Key, b.Run.Origin.Task.Key) })
	return rows
}

// TestACrashLosesNoChildAndDoublesNone: of three tasks one has ended when the process dies, one runs, and
// one has not begun. The next process has three reports of three children.
func TestACrashLosesNoChildAndDoublesNone(t *testing.T) {
	t.Parallel()
	hangs := make(chan struct{}, 1)
	m := obedient(func(said string, last hermes.Message) hermestest.Step {
		if said == "say two" {
			hangs <- struct{}{}
			return hermestest.Step{Hang: true}
		}
		return orders(said, last)
	})
	h := newFixture(t, m, newToolTable(tasks()))
	s := h.open(t, session.Open{})
	submit(t, s, say(tasksOf(false, "say one", "say two", "say three")))
	<-hangs

	after := newFixture(t, obedient(orders), newToolTable(tasks()), func(c *session.Config) { c.Store = h.store })
	again := after.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	if st := state(t, again); !st.Cut || st.Running {
		t.Fatalf("state %+v", st)
	}
	e := listen(t, again)
	submit(t, again, hermes.Continue{})
	if got, want := until[hermes.TurnDone](e).Text, "completed, say one\ncompleted, say two\ncompleted, say three"; got != want {
		t.Errorf("the children said %q", got)
	}
	rows := childrenOf(t, h.store, s.ID())
	if len(rows) != 3 {
		t.Fatalf("%d children", len(rows))
	}
	for i, row := range rows {
		want := []string{"user: say " + []string{"one", "two", "three"}[i], "assistant: say " + []string{"one", "two", "three"}[i]}
		if got := stored(t, h.store, row.ID); !slices.Equal(got, want) {
			t.Errorf("child %d: %q", i, got)
		}
		if row.EndReason != "completed" {
			t.Errorf("child %d ended as %q", i, row.EndReason)
		}
	}
}

// TestWhoDoesNotContinueADelegationHasWhatItKnows: another message closes the call with what its children
// said before the crash.
func TestWhoDoesNotContinueADelegationHasWhatItKnows(t *testing.T) {
	t.Parallel()
	hangs := make(chan struct{}, 1)
	m := obedient(func(said string, last hermes.Message) hermestest.Step {
		if said == "say two" {
			hangs <- struct{}{}
			return hermestest.Step{Hang: true}
		}
		return orders(said, last)
	})
	h := newFixture(t, m, newToolTable(tasks()))
	s := h.open(t, session.Open{})
	submit(t, s, say(tasksOf(false, "say one", "say two")))
	<-hangs
	after := newFixture(t, hermestest.NewScript(hermestest.Say("I see")), newToolTable(tasks()), func(c *session.Config) { c.Store = h.store })
	again := after.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	e := hear(t, again)
	submit(t, again, say("never mind"))
	until[hermes.TurnDone](e)
	rows := childrenOf(t, h.store, s.ID())
	for _, want := range []string{`"status":"completed","summary":"say one"`, rows[1].ID + `","status":"cut off"`} {
		if got := stored(t, h.store, s.ID())[2]; !strings.Contains(got, want) {
			t.Errorf("the call says %s, not %s", got, want)
		}
	}
}

// TestAChildInTheBackgroundReportsLater: its call returns at once, and its result comes between turns,
// also after a crash of the process, and once.
func TestAChildInTheBackgroundReportsLater(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"it ends", "the user stops", "the session is closed", "the process dies"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			slow, entered, leave := gate("slow")
			h := newFixture(t, obedient(noting), newToolTable(tasks(), slow))
			s := h.open(t, session.Open{})
			e := listen(t, s)
			submit(t, s, say(tasksOf(true, "slow")))
			if got := until[hermes.TurnDone](e).Text; got != "running, " {
				t.Errorf("the call returned %q", got)
			}
			<-entered
			switch how {
			case "the user stops":
				submit(t, s, hermes.Stop{})
			case "the session is closed":
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			reopen := func() {
				again, _, leave := gate("slow")
				close(leave)
				next := newFixture(t, obedient(noting), newToolTable(tasks(), again), func(c *session.Config) { c.Store = h.store })
				s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
				e = hear(t, s)
			}
			if how == "the session is closed" || how == "the process dies" {
				reopen()
			} else {
				close(leave)
			}
			until[hermes.TurnDone](e)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			reopen() // which delivers nothing again
			submit(t, s, hermes.Say{Parts: []hermes.Part{{Text: "hello"}}, Synthetic: true})
			until[hermes.TurnDone](e)
			rows := childrenOf(t, h.store, s.ID())
			if len(rows) != 1 || rows[0].EndReason != "completed" {
				t.Fatalf("%d children, of which the first ended as %q", len(rows), rows[0].EndReason)
			}
			var results []hermes.Message
			list, err := h.store.Messages(t.Context(), s.ID(), hermes.Range{})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range list {
				if strings.HasPrefix(m.Text(), "[Result of the background task "+rows[0].ID+": completed]\n") {
					results = append(results, m)
				}
			}
			if len(results) != 1 || !results[0].Synthetic || !strings.Contains(results[0].Provenance, "a child session") {
				t.Errorf("the result came as %+v", results)
			}
		})
	}
}

// TestAPausedAnswerIsAskedForAgain: a child in the background that is closed while its model answers goes on when
// its parent is opened again, and what it had of the answer is no result.
func TestAPausedAnswerIsAskedForAgain(t *testing.T) {
	t.Parallel()
	for name, had := range map[string]string{"before its first word": "", "within a text": "half a sentence"} {
		for _, first := range []string{"write", "slow"} {
			t.Run(name+" of "+first, func(t *testing.T) {
				t.Parallel()
				slow, _, leave := gate("slow")
				close(leave)
				hangs := make(chan struct{}, 1)
				model := func(hang bool) hermes.Model {
					return obedient(func(said string, last hermes.Message) hermestest.Step {
						switch {
						case last.Synthetic:
							return hermestest.Say("noted")
						case said != first || first == "slow" && last.Role == hermes.RoleUser:
							return orders(said, last)
						case !hang:
							return hermestest.Say("the whole answer")
						}
						hangs <- struct{}{}
						return hermestest.Step{Text: had, Hang: true}
					})
				}
				h := newFixture(t, model(true), newToolTable(tasks(), slow))
				s := h.open(t, session.Open{})
				e := listen(t, s)
				submit(t, s, say(tasksOf(true, first)))
				until[hermes.TurnDone](e)
				<-hangs
				child := childrenOf(t, h.store, s.ID())[0].ID
				if had != "" {
					running, err := h.Get(t.Context(), child)
					if err != nil {
						t.Fatal(err)
					}
					st, events, err := running.Attach(t.Context(), hermes.From{}, protocol.After{})
					if err != nil {
						t.Fatal(err)
					}
					for writes := st.Turn != nil && st.Turn.Text == had; !writes; {
						_, writes = (<-events).Event.(hermes.TextDelta)
					}
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				next := newFixture(t, model(false), newToolTable(tasks(), slow), func(c *session.Config) { c.Store = h.store })
				s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
				e = hear(t, s)
				until[hermes.TurnDone](e)
				list := stored(t, h.store, s.ID())
				if got, want := list[len(list)-2], "user: [Result of the background task "+child+": completed]\nthe whole answer"; strings.TrimSuffix(got, "\n[Commands that it ran may have changed more.]") != want {
					t.Errorf("the result is %q, want %q", got, want)
				}
			})
		}
	}
}

// TestAResultWaitsThroughAStop: what a child in the background said is not dropped with the messages that
// wait, and begins no turn by itself then.
func TestAResultWaitsThroughAStop(t *testing.T) {
	t.Parallel()
	slow, entered, leave := gate("slow")
	busy, working, _ := gate("busy")
	m := obedient(func(said string, last hermes.Message) hermestest.Step {
		if last.Text() == "work" {
			return hermestest.CallTool("busy", `{}`)
		}
		return noting(said, last)
	})
	h := newFixture(t, m, newToolTable(tasks(), slow, busy))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say(tasksOf(true, "slow")))
	until[hermes.TurnDone](e)
	<-entered
	submit(t, s, say("work"))
	<-working
	close(leave)
	for len(until[hermes.Queued](e).Messages) == 0 {
	}
	submit(t, s, hermes.Say{Parts: []hermes.Part{{Text: "later"}}, Busy: hermes.BusyQueue})
	submit(t, s, hermes.Stop{})
	if d := until[hermes.TurnDone](e); d.Outcome != hermes.OutcomeInterrupted {
		t.Errorf("done %+v", d)
	}
	if st := state(t, s); st.Running || st.Queued != 1 {
		t.Errorf("running is %v, %d wait", st.Running, st.Queued)
	}
	submit(t, s, hermes.Say{Parts: []hermes.Part{{Text: "hello"}}, Synthetic: false})
	until[hermes.TurnDone](e)
	if d := until[hermes.TurnDone](e); d.Text != "noted" {
		t.Errorf("the turn of the result: %+v", d)
	}
}

// TestAChildWithoutProgressIsStopped, with what it had: a model that is silent, a call that takes too long,
// and neither one that writes slowly nor one that waits for the user.
func TestAChildWithoutProgressIsStopped(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		goal  string
		quiet time.Duration
		want  string
		after time.Duration
	}{
		"silent":       {"stall", 0, "stalled, half", 450 * time.Second},
		"in a call":    {"slow {}", 0, "stalled, ", 1200 * time.Second},
		"the settings": {"stall", time.Minute, "timeout, half", time.Minute},
		"writing":      {"write", 0, "completed, word", 2000 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				slow, _, _ := gate("slow")
				m := obedient(func(said string, last hermes.Message) hermestest.Step {
					if said == "stall" {
						return hermestest.Step{Text: "half", Hang: true}
					}
					return orders(said, last)
				})
				h := newFixture(t, m, newToolTable(tasks(), slow), func(c *session.Config) {
					c.Models, c.Children.Quiet = models{slowly{m, "write", 2000 * time.Second}}, tt.quiet
				})
				s := h.open(t, session.Open{})
				e := listen(t, s)
				began := time.Now()
				submit(t, s, say(tasksOf(false, tt.goal)))
				for {
					st, _, err := s.Attach(t.Context(), hermes.From{}, protocol.After{})
					if err != nil {
						t.Fatal(err)
					}
					if st.Done != nil {
						break
					}
					time.Sleep(time.Second)
				}
				done := until[hermes.TurnDone](e)
				if took := time.Since(began).Round(10 * time.Second); !strings.HasPrefix(done.Text, tt.want) || took != tt.after {
					t.Errorf("after %v: %q", took, done.Text)
				}
				s.Close()
			})
		})
	}
}

// TestAResultFitsItsSchema: an answer that does not is asked for again, once.
func TestAResultFitsItsSchema(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`
	for name, tt := range map[string]struct {
		schema  string
		answers []hermestest.Step
		want    string
	}{
		"it fits":        {schema, []hermestest.Step{hermestest.Say(`{"n": 3}`)}, `completed, {"n": 3} ({"n": 3} )`},
		"in a block":     {schema, []hermestest.Step{hermestest.Say("```json\n{\"n\": 3}\n```")}, "completed, ```json\n{\"n\": 3}\n``` ({\"n\": 3} )"},
		"the second one": {schema, []hermestest.Step{hermestest.Say("three"), hermestest.Say(`{"n": 3}`)}, `completed, {"n": 3} ({"n": 3} )`},
		"never":          {schema, []hermestest.Step{hermestest.Say("three"), hermestest.Say(`{"n": "three"}`)}, `completed, {"n": "three"} ( the answer does not fit the schema: `},
		"no schema":      {`{"type":"apple"}`, nil, "error: the output schema cannot be used: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := hermestest.CallTool(session.DelegateTool, `{"goals":["count"],"schema":`+tt.schema+`}`)
			m := hermestest.NewScript(slices.Concat([]hermestest.Step{call}, tt.answers, []hermestest.Step{hermestest.Say("done")})...)
			h := newFixture(t, m, newToolTable(tasks()))
			s := h.open(t, session.Open{})
			e := listen(t, s)
			submit(t, s, say("go"))
			until[hermes.TurnDone](e)
			if got := stored(t, h.store, s.ID())[2]; !strings.HasPrefix(got, "tool: "+tt.want) {
				t.Errorf("the child said %q", got)
			}
		})
	}
}

// TestNoChildBeginsWhileTheyArePaused, and those that run end.
func TestNoChildBeginsWhileTheyArePaused(t *testing.T) {
	t.Parallel()
	slow, entered, leave := gate("slow")
	h := newFixture(t, obedient(orders), newToolTable(tasks(), slow))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say(tasksOf(false, "slow {}", "say two")))
	<-entered
	h.PauseChildren(true)
	close(leave)
	got := until[hermes.TurnDone](e).Text
	if !strings.HasPrefix(got, "completed, let go\nerror: the user has paused new child sessions") {
		t.Errorf("the children said %q", got)
	}
	h.PauseChildren(false)
	s = h.open(t, session.Open{})
	e = listen(t, s)
	submit(t, s, say(tasksOf(false, "say three")))
	if got := until[hermes.TurnDone](e).Text; got != "completed, say three" {
		t.Errorf("the child said %q", got)
	}
}

// TestAChildCanBeSteered while it runs, by its own id.
func TestAChildCanBeSteered(t *testing.T) {
	t.Parallel()
	slow, entered, leave := gate("slow")
	h := newFixture(t, obedient(orders), newToolTable(tasks(), slow))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say(tasksOf(false, "slow {}")))
	<-entered
	child, err := h.Get(t.Context(), childrenOf(t, h.store, s.ID())[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	submit(t, child, hermes.Steer{Text: "use tabs"})
	close(leave)
	if got := until[hermes.TurnDone](e).Text; !strings.Contains(got, "use tabs") {
		t.Errorf("the child said %q", got)
	}
}

// TestRightsOfAChildAreItsParentsWithinItsRole: of random parents, roles and toolsets, no child has a tool
// that its parent does not have, that no child may have, or that its role or its task leaves out.
func TestRightsOfAChildAreItsParentsWithinItsRole(t *testing.T) {
	t.Parallel()
	all := []string{"clarify", "cronjob", "memory", "other", "read", "send_message", "sessions_send", "todo", "write"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		depth := 1 + random.IntN(3)
		leaves := random.IntN(4) == 0
		var table []tool
		for _, name := range all {
			if random.IntN(2) == 0 {
				table = append(table, echo(name))
			}
		}
		type step struct {
			role     hermes.ChildRole
			toolsets []string
		}
		var plan []step // by depth of the parent
		for range depth + 1 {
			st := step{role: []hermes.ChildRole{hermes.RoleLeaf, hermes.RoleOrchestrator}[random.IntN(2)]}
			if random.IntN(2) == 0 {
				st.toolsets = []string{all[random.IntN(len(all))], all[random.IntN(len(all))]}
			}
			plan = append(plan, st)
		}
		delegate := tool{hermes.Spec{Name: session.DelegateTool, Schema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, c *hermes.Call) hermes.Result {
			st := plan[c.Host.Session().Depth]
			_, err := c.Host.Spawn(ctx, hermes.Task{Goal: session.DelegateTool, Role: st.role, Toolsets: st.toolsets})
			return hermes.Result{Text: fmt.Sprint(err)}
		}}
		var runs []hermes.RunSpec
		h := newFixture(t, obedient(orders), newToolTable(append(table, delegate)...), func(c *session.Config) {
			c.Children.Depth, c.Children.LeavesOnly = depth, leaves
			next := c.NewRuntime
			c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
				runs = append(runs, run)
				r, err := next(ctx, run)
				if err == nil && run.Origin.Depth > 0 { // as a selection does
					r.Tools = newToolTable(slices.DeleteFunc(append(slices.Clone(table), delegate), func(t tool) bool {
						return !slices.Contains(run.Tools.Only, t.spec.Name) || !slices.Contains(run.Tools.Enabled, t.spec.Name)
					})...)
				}
				return r, err
			}
		})
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say(session.DelegateTool))
		until[hermes.TurnDone](e)
		has := func(run hermes.RunSpec) []string {
			var out []string
			for _, t := range append(slices.Clone(table), delegate) {
				if run.Origin.Depth == 0 || slices.Contains(run.Tools.Only, t.spec.Name) && slices.Contains(run.Tools.Enabled, t.spec.Name) {
					out = append(out, t.spec.Name)
				}
			}
			return out
		}
		for i, run := range runs[1:] {
			parent, st := has(runs[i]), plan[i]
			if run.Origin.Depth > depth || len(runs)-1 > depth {
				t.Fatalf("depth %d of %d", run.Origin.Depth, depth)
			}
			if i > 0 && (runs[i].Origin.Task.Role != hermes.RoleOrchestrator || leaves) {
				t.Errorf("a leaf started a child")
			}
			for _, name := range has(run) {
				switch {
				case !slices.Contains(parent, name):
					t.Errorf("a child has %s, its parent only %q", name, parent)
				case slices.Contains([]string{"clarify", "cronjob", "memory", "send_message", "sessions_send"}, name):
					t.Errorf("a child has %s", name)
				case name == session.DelegateTool && (st.role != hermes.RoleOrchestrator || leaves || run.Origin.Depth >= depth):
					t.Errorf("a child with the role %q at depth %d of %d may start children", st.role, run.Origin.Depth, depth)
				case name != session.DelegateTool && len(st.toolsets) > 0 && !slices.Contains(st.toolsets, name):
					t.Errorf("a child has %s, and its task names %q", name, st.toolsets)
				}
			}
		}
	}
}

// sameID is a model whose calls all have one id, and that obeys the newest message.
type sameID func(said string) hermestest.Step

func (sameID) ID() string { return "script:test" }

func (m sameID) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	last := r.Messages[len(r.Messages)-1]
	step := hermestest.Say(last.Text())
	if last.Role == hermes.RoleUser {
		step = m(last.Visible())
	}
	for i := range step.Calls {
		step.Calls[i].ID = "x"
	}
	return hermestest.NewScript(step).Stream(ctx, r)
}

// TestACallFindsNoChildOfAnotherTurn, although a call of that had the same id.
func TestACallFindsNoChildOfAnotherTurn(t *testing.T) {
	t.Parallel()
	hangs := make(chan struct{}, 1)
	model := func(hang bool) sameID {
		return func(said string) hermestest.Step {
			if hang && said == "say two" {
				hangs <- struct{}{}
				return hermestest.Step{Hang: true}
			}
			return orders(said, hermes.UserText(said))
		}
	}
	h := newFixture(t, model(true), newToolTable(tasks()))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say(tasksOf(false, "say one")))
	until[hermes.TurnDone](e)
	submit(t, s, say(tasksOf(false, "say two")))
	<-hangs
	after := newFixture(t, model(false), newToolTable(tasks()), func(c *session.Config) { c.Store = h.store })
	s = after.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	e = hear(t, s)
	submit(t, s, hermes.Continue{})
	if got := until[hermes.TurnDone](e).Text; got != "completed, say two" {
		t.Errorf("the child said %q", got)
	}
}
