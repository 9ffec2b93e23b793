package agent_test

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
	"hermes/internal/agent"
)

// invoking are tools whose runs get the call with its host.
type invoking struct {
	toolTable
	runs map[string]func(ctx context.Context, c *hermes.Call) hermes.Result
}

func (b invoking) Run(ctx context.Context, c *hermes.Call) hermes.Result {
	return b.runs[c.Name](ctx, c)
}

// lent is the host of a call in these tests.
type lent struct {
	hermes.Host
	running *agent.Running
}

func (l lent) Progress(text string) { l.running.Progress(text) }
func (l lent) Invoke(ctx context.Context, name string, arguments json.RawMessage) (hermes.Result, error) {
	return l.running.Invoke(ctx, name, arguments)
}

// Finish marks the results that the host has seen.
func (l lent) Finish(r *hermes.Result) { r.Text += "!" }

// busy watches which calls run at the same time.
type busy struct {
	// strict forbids a call beside one that waits for its own child, too.
	strict bool

	mu      sync.Mutex
	running map[string]step // by the id of the call
	working map[string]step // without those that wait for a child
	ran     []string
	clashes []string
}

// begin notes that a call begins to work.
func (b *busy) begin(id string, s step) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running == nil {
		b.running, b.working = map[string]step{}, map[string]step{}
	}
	b.ran = append(b.ran, id)
	beside := b.working
	if b.strict {
		beside = b.running
	}
	for other, o := range beside {
		if !strings.HasPrefix(id, other+"/") && o.clashes(s) {
			b.clashes = append(b.clashes, id+" beside "+other)
		}
	}
	b.running[id], b.working[id] = s, s
}

// rests notes that a call only waits from now on, done that it has ended.
func (b *busy) rests(id string) { b.mu.Lock(); delete(b.working, id); b.mu.Unlock() }
func (b *busy) done(id string)  { b.mu.Lock(); delete(b.running, id); b.mu.Unlock() }

// step is what a test tool does: it takes a second, invokes a call or both.
type step struct {
	Path   string // the tool writes it
	Look   bool   // or only reads it
	Invoke []step // one after another
	Alone  bool   // it runs alone
}

// program returns tools that do the steps in their arguments.
func program(b *busy) invoking {
	paths := func(raw json.RawMessage) []string {
		var s step
		_ = json.Unmarshal(raw, &s)
		return []string{s.Path}
	}
	table := invoking{toolTable{}, map[string]func(context.Context, *hermes.Call) hermes.Result{}}
	for _, spec := range []hermes.Spec{
		{Name: "write", Mode: hermes.ModePaths, Paths: paths},
		{Name: "look", Mode: hermes.ModeParallel, Effect: hermes.EffectNone, Paths: paths},
		{Name: "shell"},
		{Name: "ask", Mode: hermes.ModeExclusive},
	} {
		table.toolTable[spec.Name] = struct {
			spec hermes.Spec
			run  func(ctx context.Context, c hermes.ToolCall) hermes.Result
		}{spec: spec}
		table.runs[spec.Name] = func(ctx context.Context, c *hermes.Call) hermes.Result {
			var s step
			if err := json.Unmarshal(c.Arguments, &s); err != nil {
				return hermes.ErrorResult(err.Error())
			}
			b.begin(c.ID, s)
			defer b.done(c.ID)
			time.Sleep(time.Second)
			b.rests(c.ID)
			text := c.ID
			for _, next := range s.Invoke {
				r, err := c.Host.Invoke(ctx, next.tool(), next.arguments())
				if err != nil {
					return hermes.ErrorResult(err.Error())
				}
				text += " (" + r.Text + ")"
			}
			return hermes.Result{Text: text}
		}
	}
	return table
}

func (s step) tool() string {
	switch {
	case s.Alone:
		return "ask"
	case s.Look:
		return "look"
	case s.Path == "":
		return "shell"
	}
	return "write"
}

// clashes reports whether two steps must not be done at the same time.
func (s step) clashes(o step) bool {
	if s.Path == "" || o.Path == "" || s.Alone || o.Alone {
		return true
	}
	return s.Path == o.Path || strings.HasPrefix(s.Path, o.Path+"/") || strings.HasPrefix(o.Path, s.Path+"/")
}

func (s step) arguments() json.RawMessage {
	raw, _ := json.Marshal(s)
	return raw
}

// run runs a batch of steps in a bubble and returns the results.
func run(t *testing.T, b *busy, steps ...step) (results []string, events []hermes.Event) {
	t.Helper()
	var list []hermes.ToolCall
	for i, s := range steps {
		list = append(list, hermes.ToolCall{ID: string(rune('a' + i)), Name: s.tool(), Arguments: string(s.arguments())})
	}
	tr := turn(says(calls(list...), words("ok")), nil)
	tr.Tools = program(b)
	tr.Host = func(_ hermes.ToolCall, r *agent.Running) hermes.Host { return lent{running: r} }
	events, transcript, _ := play(t, t.Context(), tr)
	for _, m := range transcript {
		if m.Role == hermes.RoleTool {
			results = append(results, m.Text())
		}
	}
	return results, events
}

// TestInvokedCallsHaveIDsAndEvents nests calls two deep.
func TestInvokedCallsHaveIDsAndEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		results, events := run(t, &busy{}, step{Path: "x", Invoke: []step{{Path: "y", Invoke: []step{{Look: true, Path: "z"}}}, {Path: "x"}}})
		if want := []string{"a (a/1 (a/1/1!)!) (a/2!)!"}; !slices.Equal(results, want) {
			t.Errorf("results %q, want %q", results, want)
		}
		var seen []string
		for _, e := range events {
			switch e := e.(type) {
			case hermes.CallStarted:
				seen = append(seen, "start "+e.Call.ID+" "+e.Call.Name)
			case hermes.CallDone:
				seen = append(seen, "done "+e.Call.ID+" "+e.Duration.String())
				if e.Result.CallID != e.Call.ID {
					t.Errorf("the event of %s has the result of %s", e.Call.ID, e.Result.CallID)
				}
			}
		}
		want := []string{"start a write", "start a/1 write", "start a/1/1 look", "done a/1/1 1s", "done a/1 2s", "start a/2 write", "done a/2 1s", "done a 4s"}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Error(diff)
		}
	})
}

// TestInvokedCallsKeepApart runs calls that invoke what must not run beside another
// call of the batch. A path that a parent holds is not counted against its child.
// Calls that wait for each other do not wait forever.
func TestInvokedCallsKeepApart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mutual bool // they wait for each other
		steps  []step
	}{
		"a path of another":          {false, []step{{Path: "x", Invoke: []step{{Path: "y"}}}, {Path: "y"}, {Path: "z"}}},
		"a folder of another":        {false, []step{{Path: "x", Invoke: []step{{Path: "d/y"}}}, {Path: "d"}}},
		"of another's child":         {false, []step{{Path: "x", Invoke: []step{{Path: "s"}}}, {Path: "y", Invoke: []step{{Path: "s"}}}}},
		"a command beside calls":     {false, []step{{Path: "x", Invoke: []step{{}}}, {Path: "y"}}},
		"a question beside calls":    {false, []step{{Path: "x", Invoke: []step{{Alone: true}}}, {Path: "y"}, {Path: "z"}}},
		"the path of its own parent": {false, []step{{Path: "x", Invoke: []step{{Path: "x", Invoke: []step{{Path: "x"}}}}}}},
		"on each other's path":       {true, []step{{Path: "x", Invoke: []step{{Path: "y"}}}, {Path: "y", Invoke: []step{{Path: "x"}}}}},
		"both want commands":         {true, []step{{Path: "x", Invoke: []step{{}, {}}}, {Path: "y", Invoke: []step{{}, {}}}}},
		"three in a ring":            {true, []step{{Path: "x", Invoke: []step{{Path: "y"}}}, {Path: "y", Invoke: []step{{Path: "z"}}}, {Path: "z", Invoke: []step{{Path: "x"}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // a deadlock ends the bubble
				b := busy{strict: !tt.mutual}
				results, _ := run(t, &b, tt.steps...)
				if len(results) != len(tt.steps) || strings.Contains(strings.Join(results, ""), "error") || len(b.clashes) > 0 {
					t.Errorf("ran %q, results %q, %v", b.ran, results, b.clashes)
				}
			})
		})
	}
}

// TestInvokedCallOfAStoppedTurnDoesNotRun stops the turn while a call waits for another.
func TestInvokedCallOfAStoppedTurnDoesNotRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		var b busy
		tools := program(&b)
		stuck := make(chan struct{})
		tools.runs["look"] = func(ctx context.Context, c *hermes.Call) hermes.Result {
			time.Sleep(3 * time.Second)
			cancel(hermes.ErrInterrupted)
			<-stuck
			return hermes.Result{}
		}
		tr := turn(says(calls(
			hermes.ToolCall{ID: "a", Name: "write", Arguments: string(step{Path: "x", Invoke: []step{{}}}.arguments())},
			hermes.ToolCall{ID: "b", Name: "look", Arguments: `{"Path":"y"}`},
		)), nil)
		tr.Tools = tools
		tr.Host = func(_ hermes.ToolCall, r *agent.Running) hermes.Host { return lent{running: r} }
		go func() {
			<-ctx.Done()
			synctest.Wait()
			close(stuck)
		}()
		_, transcript, _ := play(t, ctx, tr)
		if slices.Contains(b.ran, "a/1") || !strings.Contains(transcript[2].Text(), "interrupted") {
			t.Errorf("ran %q, result %q", b.ran, transcript[2].Text())
		}
	})
}

// TestHostOfAnEndedCallDoesNothing has a tool that keeps its host.
func TestHostOfAnEndedCallDoesNothing(t *testing.T) {
	t.Parallel()
	var b busy
	tools := program(&b)
	var kept hermes.Host
	tools.runs["look"] = func(_ context.Context, c *hermes.Call) hermes.Result {
		if _, err := c.Host.Invoke(t.Context(), "nothing", nil); !errors.Is(err, hermes.ErrNotFound) {
			t.Errorf("an unknown tool: %v", err)
		}
		kept = c.Host
		return hermes.Result{}
	}
	tr := turn(says(calls(hermes.ToolCall{ID: "a", Name: "look", Arguments: `{}`}), words("ok")), nil)
	tr.Tools = tools
	tr.Host = func(_ hermes.ToolCall, r *agent.Running) hermes.Host { return lent{running: r} }
	play(t, t.Context(), tr)
	kept.Progress("late")
	if _, err := kept.Invoke(t.Context(), "shell", json.RawMessage(`{}`)); err == nil || len(b.ran) > 0 {
		t.Errorf("err %v, ran %q", err, b.ran)
	}
}

// TestEightRunTogether has calls of the model, and calls that these invoke: a call that
// waits for its child does not count.
func TestEightRunTogether(t *testing.T) {
	t.Parallel()
	for _, nested := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var together crowd
			tools := invoking{toolTable{}, map[string]func(context.Context, *hermes.Call) hermes.Result{}}
			for _, name := range []string{"look", "outer"} {
				tools.toolTable[name] = struct {
					spec hermes.Spec
					run  func(ctx context.Context, c hermes.ToolCall) hermes.Result
				}{spec: hermes.Spec{Name: name, Mode: hermes.ModeParallel}}
			}
			tools.runs["look"] = func(context.Context, *hermes.Call) hermes.Result {
				together.stay()
				return hermes.Result{}
			}
			tools.runs["outer"] = func(ctx context.Context, c *hermes.Call) hermes.Result {
				var wg sync.WaitGroup
				for range 10 {
					wg.Go(func() {
						if _, err := c.Host.Invoke(ctx, "look", json.RawMessage(`{}`)); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				return hermes.Result{}
			}
			name := "look"
			if nested {
				name = "outer"
			}
			var list []hermes.ToolCall
			for i := range 20 {
				list = append(list, hermes.ToolCall{ID: fmt.Sprint(i), Name: name, Arguments: `{}`})
			}
			tr := turn(says(calls(list...), words("ok")), nil)
			tr.Tools = tools
			tr.Host = func(_ hermes.ToolCall, r *agent.Running) hermes.Host { return lent{running: r} }
			play(t, t.Context(), tr)
			if together.most != 8 {
				t.Errorf("nested %v: %d ran together, want 8", nested, together.most)
			}
		})
	}
}
