package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/hook"
	"hermes/internal/session"
	"hermes/internal/session/jobs"
	"hermes/internal/toolbox"
)

// points records which points of a hook were called, in order.
type points struct {
	mu   sync.Mutex
	seen []string
}

func (p *points) add(s hermes.SessionRef, point string) {
	if s.Depth > 0 {
		point = "child: " + point
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, point)
}

// hook has a function for every point.
func (p *points) hook() hermes.Hook {
	return hermes.Hook{
		Name: "points",
		SessionStart: func(_ context.Context, s hermes.SessionRef) error {
			p.add(s, "SessionStart")
			return nil
		},
		TurnStart: func(_ context.Context, s hermes.SessionRef, m hermes.Message) ([]hermes.Part, error) {
			p.add(s, "TurnStart "+m.Visible())
			return []hermes.Part{{Text: "by the hook", Provenance: "a hook"}}, nil
		},
		BeforeCompaction: func(_ context.Context, s hermes.SessionRef, leaving []hermes.Message) {
			p.add(s, "BeforeCompaction "+leaving[0].Visible())
		},
		Compacted: func(_ context.Context, s hermes.SessionRef) { p.add(s, "Compacted") },
		BeforeModel: func(_ context.Context, s hermes.SessionRef, r hermes.Request) error {
			p.add(s, "BeforeModel")
			return nil
		},
		AfterModel: func(_ context.Context, s hermes.SessionRef, m hermes.Message, err error) {
			p.add(s, "AfterModel "+m.Text())
		},
		BeforeTool: func(_ context.Context, c *hermes.Call) (*hermes.Result, error) {
			p.add(c.Host.Session(), "BeforeTool "+c.Name)
			return nil, nil
		},
		BeforeRun: func(_ context.Context, c *hermes.Call) error {
			p.add(c.Host.Session(), "BeforeRun "+c.Name)
			return nil
		},
		AfterTool: func(_ context.Context, c *hermes.Call, r *hermes.Result) {
			p.add(c.Host.Session(), "AfterTool "+r.Text)
		},
		TurnEnd: func(_ context.Context, s hermes.SessionRef, o hermes.Outcome, turn []hermes.Message) string {
			p.add(s, "TurnEnd "+string(o)+" "+turn[len(turn)-1].Text())
			if s.Depth == 0 {
				return "check it"
			}
			return ""
		},
		ChildStart: func(_ context.Context, s hermes.SessionRef, t hermes.Task) error {
			p.add(s, "ChildStart "+t.Goal)
			return nil
		},
		ChildEnd: func(_ context.Context, s hermes.SessionRef, r hermes.Report) { p.add(s, "ChildEnd "+r.Summary) },
		SessionEnd: func(_ context.Context, s hermes.SessionRef) {
			p.add(s, "SessionEnd")
		},
	}
}

// once is a context engine that drops the first message on demand, when the session is
// idle, and when the transcript has this many messages.
type once struct{ at int }

func (once) Name() string { return "once" }
func (o once) Fit(_ context.Context, list []hermes.Message, p hermes.ContextUsage) (hermes.CompactResult, error) {
	if !p.Demand && !p.Idle && len(list) != o.at {
		return hermes.CompactResult{Messages: list}, nil
	}
	f := hermes.CompactResult{Messages: list[1:]}
	for i := range f.Messages {
		f.From = append(f.From, hermes.MessageOrigin{Index: i + 1, Same: true})
	}
	return f, nil
}

// hooked gives a fixture's sessions hooks, tools behind them, and a context engine.
func hooked(hooks *hook.Hooks, tools ...tool) (hermes.Tools, func(*session.Config)) {
	var g group
	for _, t := range tools {
		g = append(g, t)
	}
	b := newTools(toolbox.Options{Hooks: hooks}, g)
	return b, func(c *session.Config) {
		newRuntime := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			runtime, err := newRuntime(ctx, run)
			if err == nil {
				runtime.Hooks, runtime.Context = hooks, once{}
			}
			return runtime, err
		}
	}
}

// helper is a tool that runs a task in a child session, which may be refused.
func helper() tool {
	return tool{hermes.Spec{Name: "delegate", Schema: echo("x").spec.Schema}, func(ctx context.Context, c *hermes.Call) hermes.Result {
		r, err := c.Host.Spawn(ctx, hermes.Task{Goal: "help"})
		if err != nil {
			return hermes.ErrorResult(err.Error())
		}
		return hermes.Result{Text: "delegated: " + r.Summary}
	}}
}

// TestEveryHookPointIsCalled runs a session with a child and a compaction, and asks to go on.
func TestEveryHookPointIsCalled(t *testing.T) {
	t.Parallel()
	var p points
	b, hooks := hooked(hook.New(nil, p.hook()), helper())
	m := hermestest.NewScript(hermestest.CallTool("delegate", `{}`), hermestest.Say("helped"), hermestest.Say("done"), hermestest.Say("checked"))
	h := newFixture(t, m, b, hooks)
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("go"))
	if done := until[hermes.TurnDone](e); done.Text != "checked" || done.Outcome != hermes.OutcomeDone {
		t.Errorf("done %+v", done)
	}
	submit(t, s, hermes.Compress{})
	until[hermes.TurnDone](e)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"SessionStart", "TurnStart go", "BeforeModel", "AfterModel ", "BeforeTool delegate", "BeforeRun delegate", "ChildStart help",
		"child: SessionStart", "child: TurnStart help", "child: BeforeModel", "child: AfterModel helped", "child: TurnEnd done helped", "child: SessionEnd",
		"ChildEnd helped", "AfterTool delegated: helped",
		"BeforeModel", "AfterModel done", "TurnEnd done done", "BeforeModel", "AfterModel checked", "TurnEnd done checked",
		"BeforeCompaction go", "Compacted", "SessionEnd",
	}
	if diff := cmp.Diff(want, p.seen); diff != "" {
		t.Error(diff)
	}
	first := m.Requests()[0].Messages[0]
	if !strings.Contains(first.Text(), "by the hook") || strings.Contains(first.Visible(), "hook") {
		t.Errorf("the model read %+v", first)
	}
	list, err := h.store.Messages(t.Context(), s.ID(), hermes.Range{Hidden: true})
	if err != nil || list[0].Provenance != "a hook" {
		t.Errorf("stored %+v, %v", list[0], err)
	}
}

func TestUndoIsToldToHooks(t *testing.T) {
	t.Parallel()
	var p points
	b, hooks := hooked(hook.New(nil, p.hook()))
	h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two")), b, hooks)
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("go"))
	until[hermes.TurnDone](e)
	submit(t, s, hermes.Undo{})
	if !slices.Contains(p.seen, "Compacted") {
		t.Errorf("called %q", p.seen)
	}
}

// TestHooksRefuse has a hook for each point that can refuse.
func TestHooksRefuse(t *testing.T) {
	t.Parallel()
	no := errors.New("not today")
	for name, tt := range map[string]struct {
		hook  hermes.Hook
		text  string // in the transcript, "" if the message is refused
		fails bool   // the turn fails
	}{
		"SessionStart": {hook: hermes.Hook{SessionStart: func(context.Context, hermes.SessionRef) error { return no }}},
		"TurnStart":    {hook: hermes.Hook{TurnStart: func(context.Context, hermes.SessionRef, hermes.Message) ([]hermes.Part, error) { return nil, no }}},
		"a broken guard": {hook: hermes.Hook{Name: "g", Guard: true, TurnStart: func(context.Context, hermes.SessionRef, hermes.Message) ([]hermes.Part, error) {
			panic("not today")
		}}},
		"BeforeModel": {hook: hermes.Hook{BeforeModel: func(context.Context, hermes.SessionRef, hermes.Request) error { return no }}, fails: true},
		"BeforeTool": {hook: hermes.Hook{BeforeTool: func(context.Context, *hermes.Call) (*hermes.Result, error) { return nil, no }},
			text: `tool: {"error":"not today"}`},
		"BeforeRun":  {hook: hermes.Hook{BeforeRun: func(context.Context, *hermes.Call) error { return no }}, text: `tool: {"error":"not today"}`},
		"ChildStart": {hook: hermes.Hook{ChildStart: func(context.Context, hermes.SessionRef, hermes.Task) error { return no }}, text: `tool: {"error":"not today"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, hooks := hooked(hook.New(nil, tt.hook), helper())
			h := newFixture(t, hermestest.NewScript(hermestest.CallTool("delegate", `{}`), hermestest.Say("done")), b, hooks)
			s := h.open(t, session.Open{})
			e := listen(t, s)
			err := s.Do(t.Context(), hermes.From{}, say("go"))
			if tt.text == "" && !tt.fails {
				if err == nil || !strings.Contains(err.Error(), "not today") {
					t.Errorf("err = %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if done := until[hermes.TurnDone](e); (done.Outcome == hermes.OutcomeFailed) != tt.fails {
				t.Errorf("done %+v", done)
			}
			if got := stored(t, h.store, s.ID()); tt.text != "" && got[2] != tt.text {
				t.Errorf("stored %q", got)
			}
		})
	}
}

// TestCompactionsAreToldToHooks compacts during a turn, and while the session is idle.
func TestCompactionsAreToldToHooks(t *testing.T) {
	t.Parallel()
	var p points
	hooks := hook.New(nil, p.hook())
	b, use := hooked(hooks)
	h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two")), b, use, func(c *session.Config) {
		newRuntime := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			runtime, err := newRuntime(ctx, run)
			runtime.Context = once{at: 3} // the request to go on
			return runtime, err
		}
	})
	turnOf(t, h.open(t, session.Open{}), say("go"))
	list := []hermes.Message{hermes.UserText("idle"), hermes.UserText("end")}
	jobs.Compaction(once{}, hooks, 0, nil).Rest(jobs.Snapshot{}, nil).Run(t.Context(), jobs.Snapshot{Transcript: list})
	var told []string
	for _, point := range p.seen {
		if strings.Contains(point, "Compact") || strings.Contains(point, "Compaction") {
			told = append(told, point)
		}
	}
	if diff := cmp.Diff([]string{"BeforeCompaction go", "Compacted", "BeforeCompaction idle"}, told); diff != "" {
		t.Error(diff)
	}
}

// TestHookMayRefuseACallThatWasBegun refuses a question that an earlier process asked:
// it is not open any more.
func TestHookMayRefuseACallThatWasBegun(t *testing.T) {
	t.Parallel()
	st, l := crashed(t, toolCall("1", "clarify"))
	begun(t, st, l, toolCall("1", "clarify"), hermes.PendingCall{Answers: []hermes.AskedQuestion{{Question: hermes.Question{Text: "which?"}}}})
	no := hermes.Hook{BeforeTool: func(context.Context, *hermes.Call) (*hermes.Result, error) { return nil, errors.New("not today") }}
	b, use := hooked(hook.New(nil, no), asker(1))
	h := newFixture(t, hermestest.NewScript(hermestest.Say("well then")), b, use, func(c *session.Config) { c.Store = st })
	s := h.open(t, session.Open{Run: hermes.RunSpec{Session: "s1"}, From: hermes.From{Attends: true}})
	turnOf(t, s, hermes.Continue{})
	if got := stored(t, st, "s1"); len(got) != 4 || got[2] != `tool: {"error":"not today"}` {
		t.Errorf("stored %q", got)
	}
}

// TestRefusedMessageDoesNotWait refuses a message that waited for a turn: it is gone, and
// the one after it is answered.
func TestRefusedMessageDoesNotWait(t *testing.T) {
	t.Parallel()
	no := hermes.Hook{TurnStart: func(_ context.Context, _ hermes.SessionRef, m hermes.Message) ([]hermes.Part, error) {
		if strings.Contains(m.Visible(), "secret") {
			return nil, errors.New("not today")
		}
		return nil, nil
	}}
	wait, entered, leave := gate("wait")
	b, use := hooked(hook.New(nil, no), wait)
	h := newFixture(t, hermestest.NewScript(hermestest.CallTool("wait", `{}`), hermestest.Say("one"), hermestest.Say("three")), b, use)
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("first"))
	<-entered
	for _, text := range []string{"a secret", "third"} {
		submit(t, s, hermes.Say{Parts: []hermes.Part{{Text: text}}, Busy: hermes.BusyQueue})
	}
	close(leave)
	for _, want := range []string{"one", "", "three"} {
		if done := until[hermes.TurnDone](e); done.Text != want || (done.Err() != nil) != (want == "") {
			t.Errorf("done %+v, want %q", done, want)
		}
	}
	if list, err := h.store.WaitingMessages(t.Context(), s.ID()); err != nil || len(list) > 0 {
		t.Errorf("waiting: %+v, %v", list, err)
	}
	if all := strings.Join(stored(t, h.store, s.ID()), "\n"); strings.Contains(all, "secret") {
		t.Errorf("stored %s", all)
	}
}

// TestHooksAreToldWhatTheUserIsAsked, and when it has its answer: not where there is no user, and the question waits for
// none of them.
func TestHooksAreToldWhatTheUserIsAsked(t *testing.T) {
	t.Parallel()
	for _, attended := range []bool{false, true} {
		told := make(chan string, 2)
		release := make(chan struct{})
		hooks := hook.New(nil, hermes.Hook{
			Asked: func(_ context.Context, s hermes.SessionRef, a hermes.Asked) {
				<-release // the answer comes before
				told <- "asked " + a.ID + " " + a.Question.Text
			},
			Answered: func(_ context.Context, _ hermes.SessionRef, a hermes.Asked, d hermes.Decision) {
				told <- "answered " + a.ID + " " + string(d)
			},
		})
		asks := tool{hermes.Spec{Name: "ask", Schema: echo("x").spec.Schema, Effect: hermes.EffectAsk}, func(ctx context.Context, c *hermes.Call) hermes.Result {
			_, err := c.Host.Ask(ctx, hermes.Question{CallID: c.ID, Text: "sure?"})
			return hermes.Result{Text: fmt.Sprint(err)}
		}}
		b, change := hooked(hooks, asks)
		h := newFixture(t, hermestest.NewScript(hermestest.CallTool("ask", `{}`), hermestest.Say("ok")), b, change)
		s := h.open(t, session.Open{From: hermes.From{Attends: attended}})
		e := listen(t, s)
		submit(t, s, say("go"))
		var want []string
		if attended {
			asked := until[hermes.Asked](e)
			submit(t, s, replies(asked.ID, "yes"))
			want = []string{"asked " + asked.ID + " sure?", "answered " + asked.ID + " "}
		}
		until[hermes.TurnDone](e)
		close(release)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		close(told)
		var got []string
		for text := range told {
			got = append(got, text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("attended %t: %s", attended, diff)
		}
	}
}
