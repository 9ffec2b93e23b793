package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
	"hermes/internal/session"
	"hermes/internal/toolbox"
	"hermes/internal/toolset"
)

// toolTable is a toolbox whose tools are funcs.
type toolTable struct {
	*toolbox.Toolbox
	mu    sync.Mutex
	turns int
}

func (b *toolTable) TurnStarted() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turns++
	b.Toolbox.TurnStarted()
}

// tool is a tool of this program: what it returns is trusted unless it says otherwise.
type tool struct {
	spec hermes.Spec
	run  func(ctx context.Context, c *hermes.Call) hermes.Result
}

func (t tool) Spec() hermes.Spec { t.spec.Trusted = true; return t.spec }
func (t tool) Run(ctx context.Context, c *hermes.Call) (hermes.Result, error) {
	return t.run(ctx, c), nil
}

// group is a toolset of given tools.
type group []hermes.Tool

func (group) Name() string                                   { return "test" }
func (group) Available(context.Context) string               { return "" }
func (g group) Tools(context.Context) ([]hermes.Tool, error) { return g, nil }

func newToolTable(tools ...tool) *toolTable {
	var g group
	for _, t := range tools {
		g = append(g, t)
	}
	return newTools(toolbox.Options{}, g)
}

// newTools returns a toolbox of tools.
func newTools(o toolbox.Options, g group) *toolTable {
	set, err := toolset.NewCatalogue([]hermes.Toolset{g}, nil, nil).Select(context.Background(), toolset.Selection{Enabled: []string{"test"}})
	if err != nil { // only if the context ends
		panic(err)
	}
	o.Set, o.Guardrail = set, toolbox.Guardrail{Quiet: true}
	return &toolTable{Toolbox: toolbox.New(o)}
}

func echo(name string) tool {
	return tool{hermes.Spec{Name: name, Description: "says it again", Schema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, c *hermes.Call) hermes.Result { return hermes.Result{Text: "did " + name} }}
}

// models returns one model for any name.
type models struct{ m hermes.Model }

func (m models) Model(context.Context, hermes.ModelChoice) (hermes.Model, error) {
	if m.m == nil {
		return nil, hermes.ErrNoModel
	}
	return m.m, nil
}

// prompter is a func that builds system prompts.
type prompter func() (hermes.SystemPrompt, error)

func (p prompter) Prompt(context.Context, hermes.Session, []hermes.Spec) (hermes.SystemPrompt, error) {
	return p()
}

// recaller is a func that knows what a memory knows.
type recaller func(context.Context, hermes.RecallQuery) (hermes.Recalled, error)

func (r recaller) Recall(ctx context.Context, q hermes.RecallQuery) (hermes.Recalled, error) {
	return r(ctx, q)
}

// restorer follows a session only by rebuilding state.
type restorer func([]hermes.Message)

func (r restorer) Restore(transcript []hermes.Message) { r(transcript) }
func (restorer) Surroundings(context.Context) string   { return "" }
func (restorer) Rewritten(string)                      {}
func (restorer) Prefix() (*hermes.PrefixBreak, int)    { return nil, 0 }
func (restorer) Stop()                                 {}

// fixture is a manager with its store and prompt.
type fixture struct {
	*session.Manager
	store      hermes.Store
	system     string // the next system prompt
	provenance string // of the next system prompt
}

func newFixture(t *testing.T, m hermes.Model, b hermes.Tools, change ...func(*session.Config)) *fixture {
	t.Helper()
	h := &fixture{store: hermestest.NewStore(), system: "You are a test."}
	cfg := session.Config{
		Store: h.store, Models: models{m}, Owner: hermes.Owner{Name: "here"},
		NewRuntime: func(context.Context, hermes.RunSpec) (*session.Runtime, error) {
			return &session.Runtime{Tools: b, Prompt: prompter(func() (hermes.SystemPrompt, error) {
				return hermes.SystemPrompt{Text: h.system, Provenance: h.provenance, Layers: []hermes.PromptLayer{{Name: "identity", Bytes: len(h.system)}}}, nil
			})}, nil
		},
	}
	for _, c := range change {
		c(&cfg)
	}
	h.store = cfg.Store
	h.Manager = session.NewManager(cfg)
	t.Cleanup(func() {
		if err := h.Close(); err != nil && !errors.Is(err, errDead) {
			t.Errorf("close: %v", err)
		}
	})
	return h
}

func (h *fixture) open(t *testing.T, o session.Open) *session.Session {
	t.Helper()
	if o.Run.Origin.Platform == "" {
		o.Run.Origin.Platform = "test"
	}
	s, err := h.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}

// ear subscribes to a session and records its events.
type ear struct {
	t      *testing.T
	events <-chan hermes.Event
	heard  []hermes.Event
}

func listen(t *testing.T, s *session.Session) *ear {
	events, cancel := subscribe(s, 0)
	t.Cleanup(cancel)
	return &ear{t: t, events: events}
}

// hear is listen for a session that has just been opened, and may have begun a turn by itself: nothing of it
// is missed.
func hear(t *testing.T, s *session.Session) *ear {
	t.Helper()
	for {
		ctx, leave := context.WithCancel(t.Context())
		now, _, err := s.Attach(ctx, hermes.From{Client: "test"}, protocol.After{})
		leave()
		if err != nil {
			t.Fatal(err)
		}
		events, continued, cancel := follow(s, 0, hermes.From{Client: "test"}, protocol.After{Epoch: now.Epoch})
		if continued {
			t.Cleanup(cancel)
			return &ear{t: t, events: events}
		}
		cancel() // another epoch has begun
	}
}

// attend is listen for a frontend whose user is there to answer.
func attend(t *testing.T, s *session.Session) *ear {
	events, cancel := attach(s, 0, hermes.From{Client: "user", Attends: true})
	t.Cleanup(cancel)
	return &ear{t: t, events: events}
}

// until returns the next event of type E.
func until[E hermes.Event](e *ear) E {
	e.t.Helper()
	for {
		select {
		case got, ok := <-e.events:
			if !ok {
				var zero E
				e.t.Fatalf("the session ended before a %T; got %T", zero, e.heard)
			}
			e.heard = append(e.heard, got)
			if want, ok := got.(E); ok {
				return want
			}
		case <-time.After(2 * time.Minute):
			var zero E
			e.t.Fatalf("no %T came; got %v", zero, e.heard)
		}
	}
}

func submit(t *testing.T, s *session.Session, op hermes.Op) {
	t.Helper()
	if err := s.Do(t.Context(), hermes.From{}, op); err != nil {
		t.Fatalf("submit %T: %v", op, err)
	}
}

func say(text string) hermes.Say { return hermes.Say{Parts: []hermes.Part{{Text: text}}} }

func stored(t *testing.T, st hermes.Store, id string) []string {
	t.Helper()
	list, err := st.Messages(t.Context(), id, hermes.Range{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range list {
		out = append(out, string(m.Role)+": "+m.Text())
	}
	return out
}

func TestTurnIsStoredWhole(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(hermestest.CallTool("echo", `{}`), hermestest.Say("done"))
	h := newFixture(t, m, newToolTable(echo("echo")))
	s := h.open(t, session.Open{Run: hermes.RunSpec{Workspace: hermes.Workspace{Dir: "/work"}}})
	e := listen(t, s)
	submit(t, s, say("go"))
	done := until[hermes.TurnDone](e)
	if done.Outcome != hermes.OutcomeDone || done.Text != "done" {
		t.Fatalf("done = %+v", done)
	}
	want := []string{"user: go", "assistant: ", "tool: did echo", "assistant: done"}
	if diff := cmp.Diff(want, stored(t, h.store, s.ID())); diff != "" {
		t.Error(diff)
	}
	row, err := h.store.FindSession(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	if row.System != "You are a test." || len(row.Layers) != 1 || row.Layers[0].Bytes != len(row.System) || row.Dir != "/work" || row.Usage.Calls == 0 || !strings.Contains(string(row.Tools), "echo") {
		t.Errorf("row = %+v", row)
	}
}

func TestSessionWithoutMessagesIsNotStored(t *testing.T) {
	t.Parallel()
	h := newFixture(t, hermestest.NewScript(), newToolTable())
	s := h.open(t, session.Open{})
	if _, err := s.State(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Do(t.Context(), hermes.From{}, say("")); err == nil {
		t.Error("an empty message was accepted")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	list, err := h.store.ListSessions(t.Context(), hermes.SessionFilter{Limit: -1})
	if err != nil || len(list) != 0 {
		t.Errorf("stored %v, %v", list, err)
	}
}

func TestMissingModelIsReportedBeforeAnythingIsStored(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil, newToolTable())
	s := h.open(t, session.Open{})
	if err := s.Do(t.Context(), hermes.From{}, say("hi")); !errors.Is(err, hermes.ErrNoModel) {
		t.Errorf("err = %v", err)
	}
	if list, _ := h.store.ListSessions(t.Context(), hermes.SessionFilter{Limit: -1}); len(list) != 0 {
		t.Errorf("stored %v", list)
	}
}

// gate is a tool that says when it runs and waits to be let go.
func gate(name string) (tool, chan struct{}, chan struct{}) {
	entered, leave := make(chan struct{}, 8), make(chan struct{})
	return tool{hermes.Spec{Name: name, Schema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, c *hermes.Call) hermes.Result {
		entered <- struct{}{}
		select {
		case <-leave:
			return hermes.Result{Text: "let go"}
		case <-ctx.Done():
			return hermes.Result{Text: "interrupted", Failed: true}
		}
	}}, entered, leave
}

func TestBusyModes(t *testing.T) {
	t.Parallel()
	t.Run("queue", func(t *testing.T) {
		t.Parallel()
		wait, entered, leave := gate("wait")
		m := hermestest.NewScript(hermestest.CallTool("wait", `{}`), hermestest.Say("first"), hermestest.Say("second"))
		h := newFixture(t, m, newToolTable(wait))
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say("one"))
		<-entered
		submit(t, s, hermes.Say{Parts: []hermes.Part{{Text: "two"}}, Busy: hermes.BusyQueue})
		if q := until[hermes.Queued](e); len(q.Messages) != 1 {
			t.Errorf("waiting %d", len(q.Messages))
		}
		close(leave)
		if d := until[hermes.TurnDone](e); d.Text != "first" {
			t.Errorf("first turn %+v", d)
		}
		if d := until[hermes.TurnDone](e); d.Text != "second" || d.Turn != 2 {
			t.Errorf("second turn %+v", d)
		}
	})
	t.Run("steer", func(t *testing.T) {
		t.Parallel()
		wait, entered, leave := gate("wait")
		m := hermestest.NewScript(hermestest.CallTool("wait", `{}`), hermestest.Say("ok"))
		h := newFixture(t, m, newToolTable(wait))
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say("one"))
		<-entered
		submit(t, s, hermes.Steer{Text: "use tabs"})
		close(leave)
		until[hermes.TurnDone](e)
		got := stored(t, h.store, s.ID())
		if len(got) != 4 || !strings.Contains(got[2], "let go") || !strings.Contains(got[2], "use tabs") {
			t.Errorf("stored %q", got)
		}
	})
	t.Run("interrupt", func(t *testing.T) {
		t.Parallel()
		wait, entered, _ := gate("wait")
		m := hermestest.NewScript(hermestest.CallTool("wait", `{}`), hermestest.Say("answer to two"))
		h := newFixture(t, m, newToolTable(wait))
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say("one"))
		<-entered
		submit(t, s, say("two"))
		if d := until[hermes.TurnDone](e); d.Outcome != hermes.OutcomeInterrupted {
			t.Errorf("first turn %+v", d)
		}
		if d := until[hermes.TurnDone](e); d.Text != "answer to two" {
			t.Errorf("second turn %+v", d)
		}
	})
}

func TestNoteAfterTheLastBatchIsAnsweredNext(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	m := hermestest.NewScript(hermestest.Step{Wait: hold, Text: "first"}, hermestest.Say("second"))
	h := newFixture(t, m, newToolTable())
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("one"))
	until[hermes.StepStarted](e)
	submit(t, s, hermes.Steer{Text: "and this"})
	close(hold)
	until[hermes.TurnDone](e)
	if d := until[hermes.TurnDone](e); d.Text != "second" {
		t.Errorf("done %+v", d)
	}
	if got := stored(t, h.store, s.ID()); got[2] != "user: and this" {
		t.Errorf("stored %q", got)
	}
}

func TestStopLeavesNoOpenCallAndNoQueue(t *testing.T) {
	t.Parallel()
	wait, entered, _ := gate("wait")
	two := hermestest.Step{Calls: []hermes.ToolCall{{ID: "a", Name: "wait", Arguments: "{}"}, {ID: "b", Name: "wait", Arguments: "{}"}}}
	h := newFixture(t, hermestest.NewScript(two), newToolTable(wait))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("one"))
	<-entered
	submit(t, s, hermes.Say{Parts: []hermes.Part{{Text: "later"}}, Busy: hermes.BusyQueue})
	submit(t, s, hermes.Stop{})
	if d := until[hermes.TurnDone](e); d.Outcome != hermes.OutcomeInterrupted {
		t.Errorf("done %+v", d)
	}
	st, err := s.State(t.Context())
	if err != nil || st.Running || st.Queued != 0 {
		t.Errorf("state %+v, %v", st, err)
	}
	if open := hermes.OpenCalls(st.Transcript); len(open) > 0 {
		t.Errorf("open calls %v", open)
	}
}

func TestApproval(t *testing.T) {
	t.Parallel()
	ask := tool{hermes.Spec{Name: "rm", Schema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, c *hermes.Call) hermes.Result {
		answer, err := c.Host.Approve(ctx, hermes.ApprovalRequest{CallID: c.ID, Subject: "rm -rf x"})
		return hermes.Result{Text: fmt.Sprintf("%v %v", answer.Decision, err)}
	}}
	t.Run("the user answers", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, hermestest.NewScript(hermestest.CallTool("rm", `{}`), hermestest.Say("ok")), newToolTable(ask))
		s := h.open(t, session.Open{From: hermes.From{Attends: true}})
		e := listen(t, s)
		submit(t, s, say("go"))
		q := until[hermes.Asked](e)
		if q.Approval == nil || q.Approval.Subject != "rm -rf x" {
			t.Fatalf("asked %+v", q)
		}
		submit(t, s, hermes.Reply{ID: q.ID, Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}})
		until[hermes.TurnDone](e)
		if got := stored(t, h.store, s.ID())[2]; got != "tool: once <nil>" {
			t.Error(got)
		}
		if err := s.Do(t.Context(), hermes.From{}, hermes.Reply{ID: q.ID, Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}}); err == nil {
			t.Error("a closed question took another answer")
		}
	})
	t.Run("unattended", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, hermestest.NewScript(hermestest.CallTool("rm", `{}`), hermestest.Say("ok")), newToolTable(ask))
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say("go"))
		until[hermes.TurnDone](e)
		if got := stored(t, h.store, s.ID())[2]; got != "tool: absent <nil>" {
			t.Error(got)
		}
	})
	t.Run("stopping drops the question", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, hermestest.NewScript(hermestest.CallTool("rm", `{}`)), newToolTable(ask))
		s := h.open(t, session.Open{From: hermes.From{Attends: true}})
		e := listen(t, s)
		submit(t, s, say("go"))
		q := until[hermes.Asked](e)
		submit(t, s, hermes.Stop{})
		if a := until[hermes.AnswerTaken](e); a.ID != q.ID {
			t.Errorf("closed %q, asked %q", a.ID, q.ID)
		}
		if d := until[hermes.TurnDone](e); d.Outcome != hermes.OutcomeInterrupted {
			t.Errorf("done %+v", d)
		}
	})
}

// TestUnattendedApprovalNeedsEveryRisk has a setting that allows one risk where no
// user can be asked.
func TestUnattendedApprovalNeedsEveryRisk(t *testing.T) {
	t.Parallel()
	good, bad := hermes.Risk{Key: "good", Reason: "deletes"}, hermes.Risk{Key: "bad", Reason: "changes itself"}
	for name, tt := range map[string]struct {
		risks []hermes.Risk
		want  hermes.Decision
	}{
		"one that is allowed":    {[]hermes.Risk{good}, hermes.AllowOnce},
		"one that is not":        {[]hermes.Risk{bad}, hermes.Unattended},
		"the second is not":      {[]hermes.Risk{good, bad}, hermes.Unattended},
		"a request without risk": {nil, hermes.Unattended},
	} {
		ask := tool{hermes.Spec{Name: "rm", Schema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, c *hermes.Call) hermes.Result {
			answer, err := c.Host.Approve(ctx, hermes.ApprovalRequest{CallID: c.ID, Tool: "rm", Risks: tt.risks})
			return hermes.Result{Text: fmt.Sprintf("%v %v", answer, err)}
		}}
		h := newFixture(t, hermestest.NewScript(hermestest.CallTool("rm", `{}`), hermestest.Say("ok")), newToolTable(ask),
			func(c *session.Config) {
				newRuntime := c.NewRuntime
				c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
					r, err := newRuntime(ctx, run)
					if err == nil {
						r.Unattended = func(r hermes.Risk) bool { return r == good }
					}
					return r, err
				}
			})
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say("go"))
		until[hermes.TurnDone](e)
		if got := stored(t, h.store, s.ID())[2]; got != fmt.Sprintf("tool: %v <nil>", hermes.ApprovalAnswer{Decision: tt.want}) {
			t.Errorf("%s: %s", name, got)
		}
		warned := slices.ContainsFunc(e.heard, func(e hermes.Event) bool {
			n, ok := e.(hermes.Notice)
			return ok && n.Level == hermes.NoticeWarning && n.Text == "rm was allowed without asking, as configured: deletes"
		})
		if warned != tt.want.Allowed() {
			t.Errorf("%s: warned %v", name, warned)
		}
	}
}

func TestSilenceIsNoApproval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ask := tool{hermes.Spec{Name: "rm", Schema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, c *hermes.Call) hermes.Result {
			answer, err := c.Host.Approve(ctx, hermes.ApprovalRequest{})
			return hermes.Result{Text: fmt.Sprintf("%v %v", answer.Decision, err)}
		}}
		h := newFixture(t, hermestest.NewScript(hermestest.CallTool("rm", `{}`), hermestest.Say("ok")), newToolTable(ask),
			func(c *session.Config) { c.Ask.Approval = time.Second })
		s := h.open(t, session.Open{From: hermes.From{Attends: true}})
		e := listen(t, s)
		submit(t, s, say("go"))
		until[hermes.TurnDone](e)
		if got := stored(t, h.store, s.ID())[2]; got != "tool: timeout <nil>" {
			t.Error(got)
		}
		s.Close()
	})
}

// TestLiveSessionIsNeverTooLongToOpen is opened by a second frontend: its messages are
// in memory anyway.
func TestLiveSessionIsNeverTooLongToOpen(t *testing.T) {
	t.Parallel()
	h := newFixture(t, hermestest.NewScript(hermestest.Say("one")), newToolTable(), func(c *session.Config) { c.MaxResume = 1 })
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("go"))
	until[hermes.TurnDone](e)
	again := h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	if again.ID() != s.ID() {
		t.Errorf("opened %s, want %s", again.ID(), s.ID())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Open(t.Context(), session.Open{Run: hermes.RunSpec{Session: s.ID()}}); err == nil || !strings.Contains(err.Error(), "too long to resume") {
		t.Errorf("got %v", err)
	}
}

func TestResumeKeepsThePrefix(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two"))
	h := newFixture(t, m, newToolTable(echo("old")))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("first"))
	until[hermes.TurnDone](e)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	later := newFixture(t, m, newToolTable(echo("new")), func(c *session.Config) { c.Store = h.store; c.Owner = hermes.Owner{Name: "later"} })
	later.system = "Something else."
	s = later.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	e = listen(t, s)
	submit(t, s, say("second"))
	until[hermes.TurnDone](e)
	asked := m.Requests()
	if asked[1].System != asked[0].System {
		t.Errorf("the prompt changed to %q", asked[1].System)
	}
	if len(asked[1].Tools) != 1 || asked[1].Tools[0].Name != "old" || string(asked[1].Tools[0].Schema) != string(asked[0].Tools[0].Schema) {
		t.Errorf("the tools changed to %v", asked[1].Tools)
	}
	if len(asked[1].Messages) != 3 || asked[1].Messages[0].Text() != "first" {
		t.Errorf("messages %v", asked[1].Messages)
	}
}

func TestCallsThatACrashLeftOpenGetResults(t *testing.T) {
	t.Parallel()
	st := hermestest.NewStore()
	ctx := t.Context()
	now := time.Now()
	if err := st.CreateSession(ctx, hermes.Session{ID: "s1", Platform: "test", Started: now, System: "x", Tools: json.RawMessage(`[]`)}); err != nil {
		t.Fatal(err)
	}
	l, err := st.Acquire(ctx, "s1", hermes.Owner{Name: "dead"}, time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	call := func(id, name string) hermes.ToolCall { return hermes.ToolCall{ID: id, Name: name, Arguments: "{}"} }
	list := []hermes.ToolCall{call("1", "done"), call("2", "half"), call("3", "read"), call("4", "later"), call("5", "again")}
	if _, err := st.Commit(ctx, l, hermes.Change{Append: []hermes.Message{hermes.Message{Role: hermes.RoleUser, Turn: 1, Parts: []hermes.Part{{Text: "go"}}, Time: now}, hermes.Message{Role: hermes.RoleAssistant, Turn: 1, Calls: list, Time: now}}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []hermes.ToolCall{list[0], list[1], list[4]} {
		if err := st.BeginCall(ctx, l, c); err != nil {
			t.Fatal(err)
		}
	}
	kept := hermes.Message{Role: hermes.RoleTool, CallID: "1", ToolName: "done", Parts: []hermes.Part{{Text: "the kept result"}}}
	if err := st.EndCall(ctx, l, "1", kept); err != nil {
		t.Fatal(err)
	}

	read, again := echo("read"), echo("again")
	read.spec.Effect = hermes.EffectNone
	again.spec.Effect = hermes.EffectIdempotent
	m := hermestest.NewScript(hermestest.Say("went on"))
	h := newFixture(t, m, newToolTable(echo("done"), echo("half"), read, echo("later"), again), func(c *session.Config) { c.Store = st })
	s := h.open(t, session.Open{Run: hermes.RunSpec{Session: "s1"}})
	got := stored(t, st, "s1")
	for i, want := range []string{"the kept result", "outcome is unknown", "did read", "before this ran", "did again"} {
		if !strings.Contains(got[2+i], want) {
			t.Errorf("result %d is %q, want %q", i+1, got[2+i], want)
		}
	}
	state, err := s.State(ctx)
	if err != nil || !state.Cut {
		t.Errorf("state %+v, %v", state, err)
	}
	e := listen(t, s)
	submit(t, s, hermes.Continue{})
	if d := until[hermes.TurnDone](e); d.Text != "went on" || d.Turn != 1 {
		t.Errorf("done %+v", d)
	}
	if err := s.Do(ctx, hermes.From{}, hermes.Continue{}); err == nil {
		t.Error("a finished turn was continued")
	}
}

// TestCallOfACutAnswerDoesNotRunAgain has a call that only reads, of what may be
// half a name.
func TestCallOfACutAnswerDoesNotRunAgain(t *testing.T) {
	t.Parallel()
	st := hermestest.NewStore()
	now := time.Now()
	if err := st.CreateSession(t.Context(), hermes.Session{ID: "s1", Platform: "test", Started: now, System: "x", Tools: json.RawMessage(`[]`)}); err != nil {
		t.Fatal(err)
	}
	l, err := st.Acquire(t.Context(), "s1", hermes.Owner{Name: "dead"}, time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	list := []hermes.ToolCall{{ID: "1", Name: "read", Arguments: "{}"}}
	if _, err := st.Commit(t.Context(), l, hermes.Change{Append: []hermes.Message{hermes.Message{Role: hermes.RoleUser, Turn: 1, Parts: []hermes.Part{{Text: "go"}}, Time: now}, hermes.Message{Role: hermes.RoleAssistant, Turn: 1, Calls: list, Finish: hermes.FinishLength, Time: now}}}); err != nil {
		t.Fatal(err)
	}
	read := echo("read")
	read.spec.Effect = hermes.EffectNone
	h := newFixture(t, hermestest.NewScript(), newToolTable(read), func(c *session.Config) { c.Store = st })
	h.open(t, session.Open{Run: hermes.RunSpec{Session: "s1"}})
	if got := stored(t, st, "s1")[2]; !strings.Contains(got, "before this ran") {
		t.Errorf("the result is %q", got)
	}
}

func TestOneProcessRunsASession(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(hermestest.Say("one"))
	h := newFixture(t, m, newToolTable())
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("first"))
	until[hermes.TurnDone](e)
	other := newFixture(t, m, newToolTable(), func(c *session.Config) { c.Store = h.store; c.Owner = hermes.Owner{Name: "other"} })
	_, err := other.Open(t.Context(), session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	if !errors.Is(err, hermes.ErrLeased) || !strings.Contains(err.Error(), "open in another Hermes") || strings.Contains(err.Error(), "until") {
		t.Errorf("err = %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Open(t.Context(), session.Open{Run: hermes.RunSpec{Session: s.ID()}}); err != nil {
		t.Errorf("after closing: %v", err)
	}
}

// broken is a store whose commits fail from some point on.
type broken struct {
	hermes.Store
	mu   sync.Mutex
	left int
	err  error
}

func (b *broken) Commit(ctx context.Context, l hermes.Lease, c hermes.Change) (hermes.Committed, error) {
	b.mu.Lock()
	b.left--
	fail := b.left < 0
	b.mu.Unlock()
	if fail {
		return hermes.Committed{}, b.err
	}
	return b.Store.Commit(ctx, l, c)
}

func TestWhatCannotBeStoredIsNotActedOn(t *testing.T) {
	t.Parallel()
	ran := make(chan struct{}, 1)
	act := tool{hermes.Spec{Name: "act", Schema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *hermes.Call) hermes.Result {
		ran <- struct{}{}
		return hermes.Result{}
	}}
	st := &broken{Store: hermestest.NewStore(), left: 1, err: errors.New("the disk is full")}
	h := newFixture(t, hermestest.NewScript(hermestest.CallTool("act", `{}`), hermestest.Say("never")), newToolTable(act), func(c *session.Config) { c.Store = st })
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("go"))
	d := until[hermes.TurnDone](e)
	if d.Outcome != hermes.OutcomeFailed || d.Err() == nil || !strings.Contains(d.Err().Error(), "disk is full") {
		t.Errorf("done %+v", d)
	}
	if len(ran) > 0 {
		t.Error("the call ran although it was not stored")
	}
	if err := s.Do(t.Context(), hermes.From{}, say("again")); err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("the next message: %v", err)
	}
}

func TestOvertakenSessionStops(t *testing.T) {
	t.Parallel()
	st := &broken{Store: hermestest.NewStore(), left: 1, err: hermes.ErrStaleLease}
	h := newFixture(t, hermestest.NewScript(hermestest.Say("never stored")), newToolTable(), func(c *session.Config) { c.Store = st })
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("go"))
	if n := until[hermes.Notice](e); !strings.Contains(n.Text, "took this session over") {
		t.Errorf("notice %+v", n)
	}
	until[hermes.Closed](e)
	if err := s.Do(t.Context(), hermes.From{}, say("more")); !errors.Is(err, hermes.ErrClosed) {
		t.Errorf("err = %v", err)
	}
}

func TestUndoAndRetry(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(hermestest.Say("one"), hermestest.Say("bad"), hermestest.Say("good"))
	h := newFixture(t, m, newToolTable())
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("first"))
	until[hermes.TurnDone](e)
	submit(t, s, say("second"))
	until[hermes.TurnDone](e)
	submit(t, s, hermes.Retry{})
	until[hermes.TurnDone](e)
	want := []string{"user: first", "assistant: one", "user: second", "assistant: good"}
	if diff := cmp.Diff(want, stored(t, h.store, s.ID())); diff != "" {
		t.Error(diff)
	}
	submit(t, s, hermes.Undo{})
	if diff := cmp.Diff(want[:2], stored(t, h.store, s.ID())); diff != "" {
		t.Error(diff)
	}
	submit(t, s, hermes.Undo{})
	if err := s.Do(t.Context(), hermes.From{}, hermes.Undo{}); err == nil {
		t.Error("undo of nothing succeeded")
	}
}

func TestRolesAlternateAfterAFailedTurn(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(hermestest.Fail(&hermes.ModelError{Class: hermes.ClassServerError, Provider: "p", Message: "down"}), hermestest.Say("here again"))
	h := newFixture(t, m, newToolTable())
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("first"))
	if d := until[hermes.TurnDone](e); d.Outcome != hermes.OutcomeFailed {
		t.Errorf("done %+v", d)
	}
	submit(t, s, say("second"))
	until[hermes.TurnDone](e)
	var roles []hermes.Role
	for _, msg := range m.Requests()[1].Messages {
		roles = append(roles, msg.Role)
	}
	want := []hermes.Role{hermes.RoleUser, hermes.RoleAssistant, hermes.RoleUser}
	if diff := cmp.Diff(want, roles); diff != "" {
		t.Error(diff)
	}
}

// TestASlowFrontendAttachesAgain: it reads nothing while another reads everything. It is told that
// it lagged, and after it attached again it has missed nothing that is stored.
func TestASlowFrontendAttachesAgain(t *testing.T) {
	t.Parallel()
	long := hermestest.Step{Text: strings.Repeat("word ", 40_000)}
	m := hermestest.NewScript(hermestest.CallTool("echo", `{}`), long)
	h := newFixture(t, m, newToolTable(echo("echo")))
	s := h.open(t, session.Open{})
	_, slow, err := s.Attach(t.Context(), hermes.From{}, protocol.After{})
	if err != nil {
		t.Fatal(err)
	}
	quick := listen(t, s)
	submit(t, s, say("go"))
	until[hermes.TurnDone](quick)
	var last hermes.Event
	text := ""
	for e := range slow {
		if d, ok := e.Event.(hermes.TextDelta); ok {
			text += d.Text
		}
		last = e.Event
		if _, ok := e.Event.(hermes.TurnDone); ok && text == long.Text {
			return // this machine was so slow that the two kept pace
		}
	}
	if _, ok := last.(hermes.Lagged); !ok {
		t.Fatalf("the last event is %T", last)
	}
	again, _, err := s.Attach(t.Context(), hermes.From{}, protocol.After{Epoch: 1, Seq: 3})
	if err != nil || again.Continued || again.Last != 4 || again.Turn != nil || again.State != protocol.StateIdle {
		t.Errorf("the snapshot is %+v, %v", again, err)
	}
}

func TestCloseInterruptsAndWaits(t *testing.T) {
	t.Parallel()
	wait, entered, _ := gate("wait")
	h := newFixture(t, hermestest.NewScript(hermestest.CallTool("wait", `{}`)), newToolTable(wait))
	s := h.open(t, session.Open{})
	submit(t, s, say("go"))
	<-entered
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got := stored(t, h.store, s.ID())
	if len(got) != 3 || !strings.Contains(got[2], "interrupted") {
		t.Errorf("stored %q", got)
	}
	if err := s.Do(t.Context(), hermes.From{}, say("more")); !errors.Is(err, hermes.ErrClosed) {
		t.Errorf("err = %v", err)
	}
}

func TestIdleSessionsCloseAndComeBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two"))
		h := newFixture(t, m, newToolTable(), func(c *session.Config) { c.IdleAfter = time.Minute })
		s := h.open(t, session.Open{})
		events, cancel := subscribe(s, 64)
		submit(t, s, say("first"))
		for e := range events {
			if _, ok := e.(hermes.TurnDone); ok {
				break
			}
		}
		cancel()
		time.Sleep(2 * time.Minute) // of the bubble's clock
		select {
		case <-s.Done():
		default:
			t.Fatal("the idle session is still open")
		}
		again := h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
		if again == s {
			t.Error("the closed session was returned")
		}
		st, err := again.State(t.Context())
		if err != nil || len(st.Transcript) != 2 {
			t.Errorf("state %+v, %v", st, err)
		}
		again.Close()
	})
}

// TestASessionInUseIsNotIdle: the time counts from the last use, however long a turn or a
// reader took before.
func TestASessionInUseIsNotIdle(t *testing.T) {
	t.Parallel()
	slow := tool{hermes.Spec{Name: "slow", Schema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *hermes.Call) hermes.Result {
		time.Sleep(5 * time.Minute) // of the bubble's clock
		return hermes.Result{Text: "late"}
	}}
	for name, use := range map[string]func(t *testing.T, s *session.Session){
		"a turn": func(t *testing.T, s *session.Session) {
			submit(t, s, say("go"))
			time.Sleep(5 * time.Minute)
		},
		"a reader": func(t *testing.T, s *session.Session) {
			_, cancel := subscribe(s, 0)
			time.Sleep(5*time.Minute + 30*time.Second)
			cancel()
			if _, err := s.State(t.Context()); err != nil {
				t.Error(err)
			}
		},
		"questions": func(t *testing.T, s *session.Session) {
			for range 8 {
				if _, err := s.State(t.Context()); err != nil {
					t.Error(err)
				}
				time.Sleep(40 * time.Second)
			}
			if _, err := s.State(t.Context()); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := hermestest.NewScript(hermestest.CallTool("slow", `{}`), hermestest.Say("done"))
				h := newFixture(t, m, newToolTable(slow), func(c *session.Config) { c.IdleAfter = time.Minute })
				s := h.open(t, session.Open{})
				use(t, s)
				synctest.Wait()
				over := func() bool {
					select {
					case <-s.Done():
						return true
					default:
						return false
					}
				}
				time.Sleep(59 * time.Second)
				if over() {
					t.Error("it was closed before its time")
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if !over() {
					t.Error("it stays open")
					s.Close()
				}
			})
		})
	}
}

func TestSpawnRunsAChildUntilItEnds(t *testing.T) {
	t.Parallel()
	spawn := tool{hermes.Spec{Name: "delegate", Schema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, c *hermes.Call) hermes.Result {
		r, err := c.Host.Spawn(ctx, hermes.Task{Goal: "count", Context: "one two"})
		return hermes.Result{Text: fmt.Sprintf("%v %v %v", r.Status, r.Summary, err)}
	}}
	m := hermestest.NewScript(hermestest.CallTool("delegate", `{}`), hermestest.Say("two words"), hermestest.Say("done"))
	h := newFixture(t, m, newToolTable(spawn))
	s := h.open(t, session.Open{From: hermes.From{Attends: true}})
	e := listen(t, s)
	submit(t, s, say("go"))
	until[hermes.TurnDone](e)
	for i, r := range m.Requests() {
		if !r.Attended { // nor may the child wait for hours while the user does
			t.Errorf("request %d says that no user waits", i)
		}
	}
	if got := stored(t, h.store, s.ID())[2]; got != "tool: completed two words <nil>" {
		t.Error(got)
	}
	list, err := h.store.ListSessions(t.Context(), hermes.SessionFilter{Parent: s.ID(), Limit: -1})
	if err != nil || len(list) != 1 || list[0].Platform != "subagent" {
		t.Errorf("children %+v, %v", list, err)
	}
}

// napping is a store whose first renewal finds the lease expired.
type napping struct {
	hermes.Store
	mu       sync.Mutex
	renewed  int
	overtake bool
}

func (n *napping) Renew(ctx context.Context, l hermes.Lease, ttl time.Duration) (hermes.Lease, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.renewed++
	if n.renewed > 1 {
		return n.Store.Renew(ctx, l, ttl)
	}
	if n.overtake { // another process had it and released it
		if err := n.Store.Release(ctx, l); err != nil {
			return l, err
		}
		other, err := n.Store.Acquire(ctx, l.Session, hermes.Owner{Name: "other"}, time.Minute)
		if err != nil {
			return l, err
		}
		if err := n.Store.Release(ctx, other); err != nil {
			return l, err
		}
	}
	return l, hermes.ErrStaleLease
}

func TestLeaseThatRanOutIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	for name, overtake := range map[string]bool{"no other owner": false, "another owner in between": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				st := &napping{Store: hermestest.NewStore(), overtake: overtake}
				m := hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two"))
				h := newFixture(t, m, newToolTable(), func(c *session.Config) { c.Store = st })
				s := h.open(t, session.Open{})
				e := listen(t, s)
				submit(t, s, say("first"))
				until[hermes.TurnDone](e)
				time.Sleep(30 * time.Second) // of the bubble's clock: a renewal is due
				err := s.Do(t.Context(), hermes.From{}, say("second"))
				if overtake {
					if !errors.Is(err, hermes.ErrClosed) {
						t.Errorf("the session went on although another had it: %v", err)
					}
				} else if err != nil {
					t.Errorf("the session did not go on: %v", err)
				} else {
					until[hermes.TurnDone](e)
				}
				s.Close()
			})
		})
	}
}
