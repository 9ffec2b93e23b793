package command_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/session"
)

// keeper remembers what was saved.
type keeper struct {
	saved [][2]string
	err   error
}

func (k *keeper) settings(keepModel bool) command.Settings {
	return command.Settings{KeepModel: keepModel, Save: func(_ context.Context, key, value string) (string, error) {
		k.saved = append(k.saved, [2]string{key, value})
		return "config.yaml", k.err
	}}
}

func TestModelIsSwitched(t *testing.T) {
	t.Parallel()
	def := [][2]string{{"model.default", "a:b"}}
	for line, tt := range map[string]struct {
		keepModel bool
		op        hermes.Op
		saved     [][2]string
		says      string
	}{
		"/model a:b":                      {false, hermes.SetModel{Ref: "a:b"}, nil, "now uses `a:b`"},
		"/model a:b --session":            {true, hermes.SetModel{Ref: "a:b"}, nil, "now uses"},
		"/model a:b --once":               {true, hermes.SetModel{Ref: "a:b", Once: true}, nil, "next turn"},
		"/model --once a:b":               {false, hermes.SetModel{Ref: "a:b", Once: true}, nil, "next turn"},
		"/model a:b --global":             {false, hermes.SetModel{Ref: "a:b"}, def, "New sessions use it"},
		"/model  a:b ":                    {true, hermes.SetModel{Ref: "a:b"}, def, "config.yaml"},
		"/model b --provider a":           {false, hermes.SetModel{Ref: "a:b"}, nil, "now uses"},
		"/model --provider=a b --refresh": {false, hermes.SetModel{Ref: "a:b"}, nil, "now uses"},
		"/model --provider a":             {false, hermes.SetModel{Ref: "a:"}, nil, "now uses"},
		"/model custom:own:m":             {false, hermes.SetModel{Ref: "custom:own:m"}, nil, "now uses"},
	} {
		f, k := &fake{}, &keeper{}
		r, err := command.Run(t.Context(), line, command.Call{Session: f, Where: command.Everywhere, Settings: k.settings(tt.keepModel)})
		if err != nil || !strings.Contains(r.Text, tt.says) {
			t.Errorf("%s: %q, %v", line, r.Text, err)
		}
		if diff := cmp.Diff([]hermes.Op{tt.op}, f.ops); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
		if diff := cmp.Diff(tt.saved, k.saved); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
}

func TestModelThatCannotBeSwitchedIsNotSaved(t *testing.T) {
	t.Parallel()
	for line, tt := range map[string]struct {
		session *fake
		says    string
	}{
		"/model a:b --global":        {&fake{err: errors.New("no model is configured")}, "no model"},
		"/model a b":                 {&fake{}, `remove "b"`},
		"/model a --often":           {&fake{}, "unknown flag --often"},
		"/model a --once --global":   {&fake{}, "cannot be combined"},
		"/model --once":              {&fake{}, "name a model"},
		"/reasoning hard":            {&fake{}, "none, minimal, low, medium, high, xhigh, max"},
		"/reasoning hard --global":   {&fake{}, "unknown reasoning level"},
		"/reasoning high --global x": {&fake{}, "unknown reasoning level"},
	} {
		k := &keeper{}
		_, err := command.Run(t.Context(), line, command.Call{Session: tt.session, Where: command.Everywhere, Settings: k.settings(false)})
		if err == nil || !strings.Contains(err.Error(), tt.says) || len(k.saved)+len(tt.session.ops) > 0 {
			t.Errorf("%s: %v; saved %v, did %v", line, err, k.saved, tt.session.ops)
		}
	}
	if _, err := command.Run(t.Context(), "/model a --global", command.Call{Session: &fake{}, Where: command.Everywhere}); err == nil {
		t.Error("a frontend without settings saved something")
	}
}

func TestReasoning(t *testing.T) {
	t.Parallel()
	for line, tt := range map[string]struct {
		ops    []hermes.Op
		saved  [][2]string
		action hermes.CommandAction
		arg    string
		says   string
	}{
		"/reasoning":              {says: "Reasoning effort: the model's default."},
		"/reasoning HIGH":         {ops: []hermes.Op{hermes.SetEffort{Effort: hermes.EffortHigh}}, says: "`high`"},
		"/reasoning none":         {ops: []hermes.Op{hermes.SetEffort{Effort: hermes.EffortNone}}, says: "`none`"},
		"/reasoning ultra":        {ops: []hermes.Op{hermes.SetEffort{Effort: hermes.EffortMax}}, says: "`max`"},
		"/reasoning low --global": {ops: []hermes.Op{hermes.SetEffort{Effort: hermes.EffortLow}}, saved: [][2]string{{"agent.reasoning_effort", "low"}}, says: "config.yaml"},
		"/reasoning default":      {ops: []hermes.Op{hermes.SetEffort{}}, says: "Reasoning effort: the model's default."},
		"/reasoning show":         {action: hermes.ActionThinking, arg: "show", says: "shown"},
		"/reasoning hide":         {action: hermes.ActionThinking, arg: "hide", says: "hidden"},
	} {
		f, k := &fake{}, &keeper{}
		r, err := command.Run(t.Context(), line, command.Call{Session: f, Where: command.Everywhere, Settings: k.settings(false)})
		if err != nil || !strings.Contains(r.Text, tt.says) || r.Action != tt.action || r.Arg != tt.arg {
			t.Errorf("%s: %+v, %v", line, r, err)
		}
		if diff := cmp.Diff(tt.ops, f.ops); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
		if diff := cmp.Diff(tt.saved, k.saved); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
}

// bytesOf is a text of so many bytes.
func bytesOf(n int) []hermes.Part { return []hermes.Part{{Text: strings.Repeat("x", n)}} }

func cachedState() session.State {
	return session.State{
		Row:   hermes.Session{Model: "m", System: strings.Repeat("s", 200)},
		Tools: []hermes.Spec{{Name: "t", Description: strings.Repeat("d", 99)}},
		Transcript: []hermes.Message{
			{Role: hermes.RoleUser, Turn: 1, Parts: bytesOf(100)},
			{Role: hermes.RoleAssistant, Turn: 1, Parts: bytesOf(50), Calls: []hermes.ToolCall{{Name: "t", Arguments: strings.Repeat("a", 49)}}, Usage: &hermes.Usage{Input: 300, CacheWrite: 10, Output: 5, Calls: 1}},
			{Role: hermes.RoleTool, Turn: 1, ToolName: "t", Parts: bytesOf(500)},
			{Role: hermes.RoleAssistant, Turn: 1, Parts: bytesOf(10), Usage: &hermes.Usage{Input: 50, CacheRead: 450, Output: 7, Calls: 1}},
			{Role: hermes.RoleUser, Turn: 2, Synthetic: true, Parts: bytesOf(20)},
		},
		Last: hermes.Usage{Input: 500, CacheRead: 500, Output: 7}, Window: 10_000, Threshold: 7_500,
		Broken: &hermes.PrefixBreak{At: time.Unix(0, 0), Request: 3, Section: "message 2 (answer)", From: 4, To: 9, Kept: 404, Lost: 96, Cause: "compression"}, Breaks: 2,
	}
}

func TestUsageShowsWhatTheLastTurnReadFromTheCache(t *testing.T) {
	t.Parallel()
	st := cachedState()
	st.Transcript = st.Transcript[:4]
	st.Row.Usage = hermes.Usage{Input: 2000, CacheRead: 450, CacheWrite: 10, Output: 100, Calls: 9}
	r, err := command.Run(t.Context(), "/usage", command.Call{Session: &fake{state: st}, Where: command.Terminal})
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, r.Text, "| uncached input | 2.0k | 350 |", "| read from cache | 450 | 450 |", "| model calls | 9 | 2 |", "Cache in the last turn: 450 read, 10 written, 350 uncached (55 % cached)")
}

// choosy is a session that knows only full references.
type choosy struct{ fake }

func (c *choosy) Submit(ctx context.Context, op hermes.Op) error {
	if m, ok := op.(hermes.SetModel); ok && !strings.Contains(m.Ref, ":") {
		return fmt.Errorf("%w: no provider is known", hermes.ErrNoModel)
	}
	return c.fake.Submit(ctx, op)
}

func TestPartOfAModelsNameIsEnough(t *testing.T) {
	t.Parallel()
	models := func(context.Context) ([]string, error) {
		return []string{"a:qwen-coder", "a:qwen-chat", "b:llama"}, nil
	}
	for line, says := range map[string]string{
		"/model lama":       "now uses `b:llama`",
		"/model qwencod":    "now uses `a:qwen-coder`",
		"/model qwen":       "2 match it: `a:qwen-coder`, `a:qwen-chat`",
		"/model zzz":        "no provider is known",
		"/model ll --once":  "next turn",
		"/model b:anything": "now uses `b:anything`",
	} {
		r, err := command.Run(t.Context(), line, command.Call{Session: &choosy{}, Where: command.Terminal, Models: models})
		if text := fmt.Sprint(r.Text, err); !strings.Contains(text, says) {
			t.Errorf("%s: %s", line, text)
		}
	}
}
