package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/hook"
)

// refusing calls every point that can refuse and returns what each said, by its name.
func refusing(ctx context.Context, h *hook.Hooks) map[string]string {
	said := map[string]string{}
	note := func(point string, err error) {
		if err != nil {
			said[point] = err.Error()
		}
	}
	note("SessionStart", h.SessionStart(ctx, hermes.SessionRef{}))
	_, err := h.TurnStart(ctx, hermes.SessionRef{}, hermes.Message{})
	note("TurnStart", err)
	_, err = hermes.Collect(h.Model(hermestest.NewScript(hermestest.Say("hi")), hermes.SessionRef{}).Stream(ctx, &hermes.Request{}))
	note("BeforeModel", err)
	if _, r := h.BeforeTool(ctx, &hermes.Call{}, nil); r != nil {
		note("BeforeTool", errors.New(r.Text))
	}
	if r := h.BeforeAsk(ctx, &hermes.Call{}, hermes.ApprovalRequest{}); r != nil {
		note("BeforeAsk", errors.New(r.Text))
	}
	if r := h.BeforeRun(ctx, &hermes.Call{}); r != nil {
		note("BeforeRun", errors.New(r.Text))
	}
	note("ChildStart", h.ChildStart(ctx, hermes.SessionRef{}, hermes.Task{}))
	return said
}

// failing has a function for every point that can refuse.
func failing(fail func(context.Context) error) hermes.Hook {
	return hermes.Hook{
		Name:         "h",
		SessionStart: func(ctx context.Context, _ hermes.SessionRef) error { return fail(ctx) },
		TurnStart: func(ctx context.Context, _ hermes.SessionRef, _ hermes.Message) ([]hermes.Part, error) {
			return nil, fail(ctx)
		},
		BeforeModel: func(ctx context.Context, _ hermes.SessionRef, _ hermes.Request) error { return fail(ctx) },
		BeforeTool:  func(ctx context.Context, _ *hermes.Call) (*hermes.Result, error) { return nil, fail(ctx) },
		BeforeAsk: func(ctx context.Context, _ *hermes.Call, _ hermes.ApprovalRequest) *hermes.Result {
			_ = fail(ctx)
			return nil
		},
		BeforeRun:  func(ctx context.Context, _ *hermes.Call) error { return fail(ctx) },
		ChildStart: func(ctx context.Context, _ hermes.SessionRef, _ hermes.Task) error { return fail(ctx) },
	}
}

// TestGuardsFailClosed has hooks that panic or hang at every point: a guard then
// refuses, another hook is skipped.
func TestGuardsFailClosed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fail func(context.Context) error
		why  string
	}{
		"panic": {func(context.Context) error { panic("oh") }, "panicked"},
		"late":  {func(context.Context) error { time.Sleep(time.Hour); return nil }, "too long"},
	} {
		synctest.Test(t, func(t *testing.T) {
			k := failing(tt.fail)
			if said := refusing(t.Context(), hook.New(nil, k)); len(said) > 0 {
				t.Errorf("%s: %v", name, said)
			}
			k.Guard = true
			said := refusing(t.Context(), hook.New(nil, k))
			for _, point := range []string{"SessionStart", "TurnStart", "BeforeModel", "BeforeTool", "BeforeAsk", "BeforeRun", "ChildStart"} {
				if text := said[point]; !strings.Contains(text, tt.why) || !strings.Contains(text, "the guard h") {
					t.Errorf("%s at %s: %q", name, point, text)
				}
			}
			time.Sleep(2 * time.Hour) // what hangs ends with the bubble
		})
	}
}

func TestWithoutHooksNothingIsRefused(t *testing.T) {
	t.Parallel()
	var none *hook.Hooks
	if said := refusing(t.Context(), none); len(said) > 0 {
		t.Errorf("got %v", said)
	}
}

func TestHooksAreCalledInTheirOrder(t *testing.T) {
	t.Parallel()
	var seen []string
	named := func(name string) hermes.Hook {
		return hermes.Hook{
			Name: name,
			TurnStart: func(context.Context, hermes.SessionRef, hermes.Message) ([]hermes.Part, error) {
				seen = append(seen, "start "+name)
				return []hermes.Part{{Text: name}}, nil
			},
			TurnEnd:   func(context.Context, hermes.SessionRef, hermes.Outcome, []hermes.Message) string { return name },
			AfterTool: func(_ context.Context, _ *hermes.Call, r *hermes.Result) { r.Text += name },
		}
	}
	panics := hermes.Hook{Name: "p", TurnEnd: func(context.Context, hermes.SessionRef, hermes.Outcome, []hermes.Message) string { panic("x") }}
	h := hook.New(nil, named("a"), panics, named("b"))
	parts, err := h.TurnStart(t.Context(), hermes.SessionRef{}, hermes.Message{})
	if diff := cmp.Diff([]hermes.Part{{Text: "a", Hidden: true}, {Text: "b", Hidden: true}}, parts); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if got := h.TurnEnd(t.Context(), hermes.SessionRef{}, hermes.OutcomeDone, nil); got != "a\n\nb" {
		t.Errorf("goes on with %q", got)
	}
	accept := func(_, now hermes.Result) hermes.Result { return now }
	if r := h.AfterTool(t.Context(), &hermes.Call{}, hermes.Result{Text: "r"}, accept); r.Text != "rab" {
		t.Errorf("result %q", r.Text)
	}
	if diff := cmp.Diff([]string{"start a", "start b"}, seen); diff != "" {
		t.Error(diff)
	}
}

// TestAHookCanHaveTheUserAsked: later hooks see it, and what a hook that is late says does not count.
func TestAHookCanHaveTheUserAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asks := func(text string, after time.Duration) hermes.Hook {
			return hermes.Hook{Timeout: time.Second, BeforeTool: func(_ context.Context, c *hermes.Call) (*hermes.Result, error) {
				time.Sleep(after)
				c.Asks += text
				return nil, nil
			}}
		}
		was := &hermes.Call{Arguments: []byte(`{}`)}
		c, r := hook.New(nil, asks("a", 0), asks("late", time.Minute)).With(asks("b", 0)).BeforeTool(t.Context(), was, nil)
		if r != nil || c.Asks != "ab" || was.Asks != "" {
			t.Errorf("asks %q, before %q, %v", c.Asks, was.Asks, r)
		}
		time.Sleep(time.Hour)
	})
}

// TestGuardsSeeWhatLaterHooksChange: what runs is what each of them has agreed to, also if that takes rounds; hooks
// that never agree refuse the call.
func TestGuardsSeeWhatLaterHooksChange(t *testing.T) {
	t.Parallel()
	var seen []string
	rewrite := func(name, from, to string) hermes.Hook {
		return hermes.Hook{Name: strings.TrimSuffix(name, "!"), Guard: strings.HasSuffix(name, "!"), BeforeTool: func(_ context.Context, c *hermes.Call) (*hermes.Result, error) {
			seen = append(seen, name+" "+string(c.Arguments))
			if string(c.Arguments) == from {
				c.Arguments = []byte(to)
			}
			return nil, nil
		}}
	}
	guard := hermes.Hook{Name: "guard", BeforeTool: func(_ context.Context, c *hermes.Call) (*hermes.Result, error) {
		seen = append(seen, "guard "+string(c.Arguments))
		if strings.Contains(string(c.Arguments), "evil") {
			return nil, errors.New("not evil")
		}
		return nil, nil
	}}
	coerced := func(raw json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(strings.ReplaceAll(string(raw), `"3"`, "3")), nil
	}
	for name, tt := range map[string]struct {
		hooks   []hermes.Hook
		calls   []string
		refused string
		want    string
	}{
		"nothing changes":                    {[]hermes.Hook{guard, rewrite("a", "-", "-")}, []string{`guard {"n":1}`, `a {"n":1}`}, "", `{"n":1}`},
		"a change":                           {[]hermes.Hook{guard, rewrite("a", `{"n":1}`, `{"n":2}`)}, []string{`guard {"n":1}`, `a {"n":1}`, `guard {"n":2}`}, "", `{"n":2}`},
		"a change to refuse":                 {[]hermes.Hook{guard, rewrite("a", `{"n":1}`, `{"n":"evil"}`)}, []string{`guard {"n":1}`, `a {"n":1}`, `guard {"n":"evil"}`}, "not evil", ""},
		"what it wrote is it":                {[]hermes.Hook{rewrite("a", `{"n":1}`, `{"n": 2}`)}, []string{`a {"n":1}`}, "", `{"n": 2}`},
		"what will run is written otherwise": {[]hermes.Hook{rewrite("a!", `{"n":1}`, `{"n":"3"}`)}, []string{`a! {"n":1}`}, "", `{"n":3}`},
		"an answer to a change": {
			[]hermes.Hook{rewrite("a", `{"n":2}`, `{"n":4}`), rewrite("b", `{"n":1}`, `{"n":2}`)},
			[]string{`a {"n":1}`, `b {"n":1}`, `a {"n":2}`}, "", `{"n":4}`,
		},
		"a wrapper wraps once": {
			[]hermes.Hook{rewrite("a", `{"n":1}`, `{"n":2}`), rewrite("b", `{"n":2}`, `{"n":1}`), guard},
			[]string{`a {"n":1}`, `b {"n":2}`, `guard {"n":1}`}, "", `{"n":1}`,
		},
		"a guard that changes sees it again": {
			[]hermes.Hook{rewrite("a!", `{"n":1}`, `{"n":2}`), rewrite("b", `{"n":2}`, `{"n":1}`)},
			[]string{`a! {"n":1}`, `b {"n":2}`, `a! {"n":1}`}, "", `{"n":2}`,
		},
		"they never agree": {
			[]hermes.Hook{rewrite("a!", `{"n":1}`, `{"n":2}`), rewrite("b!", `{"n":2}`, `{"n":1}`)},
			[]string{`a! {"n":1}`, `b! {"n":2}`, `a! {"n":1}`, `b! {"n":2}`, `a! {"n":1}`, `b! {"n":2}`}, "do not agree", "",
		},
	} {
		seen = nil
		c, r := hook.New(nil, tt.hooks...).BeforeTool(t.Context(), &hermes.Call{Arguments: []byte(`{"n":1}`)}, coerced)
		if diff := cmp.Diff(tt.calls, seen); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if (r != nil) != (tt.refused != "") || r != nil && !strings.Contains(r.Text, tt.refused) || r == nil && string(c.Arguments) != tt.want {
			t.Errorf("%s: %s, %+v", name, c.Arguments, r)
		}
	}
}

// TestAfterModelSeesWhatArrived reads an answer that fails halfway.
func TestAfterModelSeesWhatArrived(t *testing.T) {
	t.Parallel()
	var text string
	var failed error
	h := hook.New(nil, hermes.Hook{AfterModel: func(_ context.Context, _ hermes.SessionRef, m hermes.Message, err error) {
		text, failed = m.Text(), err
	}})
	m := h.Model(hermestest.NewScript(hermestest.Step{Text: "half", Err: hermes.ErrInterrupted}), hermes.SessionRef{})
	if _, err := hermes.Collect(m.Stream(t.Context(), &hermes.Request{})); !errors.Is(err, hermes.ErrInterrupted) {
		t.Errorf("err = %v", err)
	}
	if text != "half" || !errors.Is(failed, hermes.ErrInterrupted) {
		t.Errorf("seen %q, %v", text, failed)
	}
}

// TestHookThatIsLateChangesNothing has a hook that writes to its copy after its time.
func TestHookThatIsLateChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := hook.New(nil, hermes.Hook{Timeout: time.Second, BeforeTool: func(_ context.Context, c *hermes.Call) (*hermes.Result, error) {
			time.Sleep(time.Minute)
			copy(c.Arguments, `{"a":2}`)
			return &hermes.Result{Text: "late"}, nil
		}})
		c, r := h.BeforeTool(t.Context(), &hermes.Call{Arguments: []byte(`{"a":1}`)}, nil)
		time.Sleep(time.Hour)
		if r != nil || string(c.Arguments) != `{"a":1}` {
			t.Errorf("got %s, %v", c.Arguments, r)
		}
	})
}
