package toolbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/policy/shell/inspect"
	"hermes/internal/toolbox"
)

// Codes of the guardrail, as scripts look for them.
const (
	exactWarn  = "repeated_exact_failure_warning"
	exactBlock = "repeated_exact_failure_block"
	toolWarn   = "same_tool_failure_warning"
	toolStop   = "same_tool_failure_halt"
	idleWarn   = "idempotent_no_progress_warning"
	idleBlock  = "idempotent_no_progress_block"
	spinWarn   = "repeated_success_warning"
	spinBlock  = "repeated_success_block"
)

// worldly are tools that answer what their argument says: fail, or a text.
func worldly() []hermes.Tool {
	run := func(_ context.Context, c *hermes.Call) (hermes.Result, error) {
		var in struct {
			Says string
			Fail bool
		}
		if err := json.Unmarshal(c.Arguments, &in); err != nil {
			return hermes.Result{}, err
		}
		if in.Says == "" {
			in.Says = "same"
		}
		return hermes.Result{Text: in.Says, Failed: in.Fail}, nil
	}
	reads := func(raw json.RawMessage) bool {
		var in struct{ Command string }
		return json.Unmarshal(raw, &in) == nil && inspect.ReadsOnly(in.Command)
	}
	return []hermes.Tool{
		tool{spec: hermes.Spec{Name: "terminal", ReadsOnly: reads}, run: run},
		tool{spec: hermes.Spec{Name: "write_file", Effect: hermes.EffectIdempotent}, run: run},
		tool{spec: hermes.Spec{Name: "mcp_stranger"}, run: run},
		tool{spec: hermes.Spec{Name: "todo", Effect: hermes.EffectIdempotent}, run: run},
		tool{spec: hermes.Spec{Name: "read_file", Effect: hermes.EffectNone}, run: run},
		tool{spec: hermes.Spec{Name: "web_search", Effect: hermes.EffectNone}, run: run},
		tool{spec: hermes.Spec{Name: "delegate_task"}, run: run},
	}
}

// noticeHost is a call and what its result must hold; "" means nothing from the guardrail.
type noticeHost struct{ name, arguments, want string }

func repeated(n int, c noticeHost) []noticeHost {
	all := make([]noticeHost, n)
	for i := range all {
		all[i] = c
	}
	return all
}

func steps(parts ...[]noticeHost) (all []noticeHost) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func one(name, arguments, want string) []noticeHost { return []noticeHost{{name, arguments, want}} }

func TestGuardrailLineByLine(t *testing.T) {
	t.Parallel()
	stops, quiet := toolbox.Guardrail{HardStop: true}, toolbox.Guardrail{HardStop: true, Quiet: true}
	const fails = `{"fail":true}`
	for name, tt := range map[string]struct {
		guard toolbox.Guardrail
		steps []noticeHost
	}{
		"calls are known by tool and canonical arguments": {stops, steps(
			one("mcp_stranger", `{"fail":true,"n":1}`, ""), one("mcp_stranger", `{ "n":1, "fail":true }`, exactWarn), one("write_file", `{"fail":true,"n":1}`, ""))},
		"exact failure: warn at 2, block at 5": {stops, steps(
			one("mcp_stranger", fails, ""), repeated(4, noticeHost{"mcp_stranger", fails, exactWarn}), one("mcp_stranger", fails, exactBlock))},
		"same tool: warn at 3": {stops, steps(
			one("mcp_stranger", `{"fail":true,"n":1}`, ""), one("mcp_stranger", `{"fail":true,"n":2}`, ""), one("mcp_stranger", `{"fail":true,"n":3}`, toolWarn))},
		"no progress: warn at 2, block at 5": {stops, steps(
			one("read_file", `{}`, ""), repeated(4, noticeHost{"read_file", `{}`, idleWarn}), one("read_file", `{}`, idleBlock))},
		"another result is progress": {stops, steps(
			one("read_file", `{}`, ""), one("read_file", `{"says":"other"}`, ""), one("read_file", `{"n":1}`, ""))},
		"hard stops are off by default": {toolbox.Guardrail{}, steps(
			one("mcp_stranger", fails, ""), repeated(9, noticeHost{"mcp_stranger", fails, exactWarn}), one("read_file", `{}`, ""), repeated(9, noticeHost{"read_file", `{}`, idleWarn}))},
		"warnings can be off": {quiet, steps(repeated(5, noticeHost{"mcp_stranger", fails, ""}), one("mcp_stranger", fails, exactBlock))},
		"numbers can be set": {toolbox.Guardrail{HardStop: true, WarnExact: 1, BlockExact: 1, WarnSame: 3, BlockProgress: 3}, steps(
			one("mcp_stranger", fails, exactWarn), one("mcp_stranger", fails, exactBlock), repeated(2, noticeHost{"read_file", `{}`, ""}), one("read_file", `{}`, idleWarn), one("read_file", `{}`, idleBlock))},
		"a success clears the exact streak": {quiet, steps(
			repeated(4, noticeHost{"mcp_stranger", fails, ""}), one("mcp_stranger", `{}`, ""), repeated(5, noticeHost{"mcp_stranger", fails, ""}), one("mcp_stranger", fails, exactBlock))},
		"what changes things is not judged by equal success": {stops, repeated(12, noticeHost{"write_file", `{}`, ""})},
		"nor what is unknown":                                {stops, repeated(12, noticeHost{"mcp_stranger", `{}`, ""})},
		"nor a command, though it reads":                     {stops, repeated(12, noticeHost{"terminal", `{"command":"ls"}`, ""})},
		"equal successes end at last": {stops, steps(
			repeated(14, noticeHost{"terminal", `{"command":"ls"}`, ""}), repeated(11, noticeHost{"terminal", `{"command":"ls"}`, spinWarn}), one("terminal", `{"command":"ls"}`, spinBlock))},
		"so do several calls in a circle": {toolbox.Guardrail{HardStop: true, WarnEqual: 3, BlockEqual: 4}, steps(
			one("mcp_stranger", `{}`, ""), one("write_file", `{}`, ""), one("mcp_stranger", `{}`, ""), one("write_file", `{}`, ""), one("mcp_stranger", `{}`, ""), one("write_file", `{}`, spinWarn),
			one("mcp_stranger", `{}`, spinWarn), one("write_file", `{}`, spinWarn), one("mcp_stranger", `{}`, spinWarn), one("write_file", `{}`, spinBlock))},
		"something new in between is progress": {toolbox.Guardrail{HardStop: true, WarnEqual: 3, BlockEqual: 4}, steps(
			repeated(2, noticeHost{"terminal", `{"command":"go test"}`, ""}), one("write_file", `{"n":1}`, ""), repeated(2, noticeHost{"terminal", `{"command":"go test"}`, ""}),
			one("write_file", `{"n":2}`, ""), repeated(2, noticeHost{"terminal", `{"command":"go test"}`, ""}), one("mcp_stranger", `{"says":"other"}`, ""), one("terminal", `{"command":"go test"}`, ""))},
		"equal successes are only warned of without hard stops": {toolbox.Guardrail{}, steps(
			repeated(14, noticeHost{"mcp_stranger", `{}`, ""}), repeated(40, noticeHost{"mcp_stranger", `{}`, spinWarn}))},
		"lint trouble is no failure": {stops, repeated(12, noticeHost{"write_file", `{"says":"{\"lint\":{\"a.go\":{\"status\":\"error\",\"errors\":[\"1: oops\"]}}}"}`, ""})},
		"an edit between equal failures restarts the streak": {quiet, steps(
			repeated(4, noticeHost{"terminal", `{"fail":true,"command":"go test"}`, ""}), one("write_file", `{}`, ""), repeated(5, noticeHost{"terminal", `{"fail":true,"command":"go test"}`, ""}),
			one("terminal", `{"fail":true,"command":"go test"}`, exactBlock))},
		"a command may be an edit": {quiet, steps(
			repeated(4, noticeHost{"mcp_stranger", fails, ""}), one("terminal", `{"command":"sed -i s/a/b/ x"}`, ""), repeated(3, noticeHost{"mcp_stranger", fails, ""}))},
		"a command that only looks is none": {quiet, steps(
			repeated(4, noticeHost{"mcp_stranger", fails, ""}), one("terminal", `{"command":"ls -l"}`, ""), one("mcp_stranger", fails, ""), one("mcp_stranger", fails, exactBlock))},
		"nor is a list of tasks": {quiet, steps(
			repeated(4, noticeHost{"mcp_stranger", fails, ""}), one("todo", `{}`, ""), one("mcp_stranger", fails, ""), one("mcp_stranger", fails, exactBlock))},
		"an edit lets a file be read again": {stops, steps(one("read_file", `{}`, ""), one("write_file", `{}`, ""), one("read_file", `{}`, ""))},
		"at most so many searches": {toolbox.Guardrail{Searches: 2}, steps(
			one("web_search", `{"q":1}`, ""), one("web_search", `{"q":2}`, ""), one("web_search", `{"q":3}`, "web_searches_cap"), one("read_file", `{}`, ""))},
		"at most so many sub-agents, each of a batch counts": {toolbox.Guardrail{Subagents: 3}, steps(
			one("delegate_task", `{"goal":"a"}`, ""), one("delegate_task", `{"tasks":[{},{},{}]}`, "subagents_cap"), one("delegate_task", `{"tasks":[{},{}]}`, ""), one("delegate_task", `{"goal":"b"}`, "subagents_cap"))},
		"no cap": {toolbox.Guardrail{}, repeated(60, noticeHost{"delegate_task", `{}`, ""})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools := mustToolbox(t, toolbox.Options{Guardrail: tt.guard}, worldly()...)
			for turn := range 2 { // a new turn clears all
				for i, s := range tt.steps {
					r := tools.Run(t.Context(), call(s.name, s.arguments))
					silent := !strings.Contains(r.Text, "_warning") && !strings.Contains(r.Text, "blocked") && !strings.Contains(r.Text, "_halt")
					if s.want == "" && !silent || !strings.Contains(r.Text, s.want) || r.StopReason != "" {
						t.Fatalf("turn %d, step %d: got %q (stop %q), want %q", turn, i, r.Text, r.StopReason, s.want)
					}
				}
				tools.TurnStarted()
			}
		})
	}
}

func TestStopIsDecidedAfterACallAndEndsTheTurnsTools(t *testing.T) {
	t.Parallel()
	failing := func(i int) *hermes.Call {
		return call("mcp_stranger", `{"fail":true,"n":`+strings.Repeat("1", i+1)+`}`)
	}
	tools := mustToolbox(t, toolbox.Options{Guardrail: toolbox.Guardrail{HardStop: true}}, worldly()...)
	for i := range 7 {
		if r := tools.Run(t.Context(), failing(i)); r.StopReason != "" {
			t.Fatalf("stopped after %d failures", i+1)
		}
	}
	if r := tools.Run(t.Context(), failing(7)); !strings.Contains(r.StopReason, toolStop) || !strings.HasPrefix(r.Text, "same") {
		t.Errorf("the eighth failure ran and stops: got %q, stop %q", r.Text, r.StopReason)
	}
	if r := tools.Run(t.Context(), call("read_file", `{}`)); r.StopReason == "" || !r.Failed || strings.HasPrefix(r.Text, "same") {
		t.Errorf("no tool runs after a stop: got %q, stop %q", r.Text, r.StopReason)
	}
	tools.TurnStarted()
	if r := tools.Run(t.Context(), call("read_file", `{}`)); r.StopReason != "" || r.Failed {
		t.Errorf("a new turn clears all: got %q, stop %q", r.Text, r.StopReason)
	}
}

func TestRepeatingABlockedCallIsStopped(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{`{"fail":true}`, `{}`} {
		tools := mustToolbox(t, toolbox.Options{Guardrail: toolbox.Guardrail{HardStop: true}}, worldly()...)
		calls := 0
		for ; calls < 50; calls++ {
			if r := tools.Run(t.Context(), call("read_file", arguments)); r.StopReason != "" {
				break
			}
		}
		if calls > 13 {
			t.Errorf("%s: not stopped after %d calls", arguments, calls)
		}
	}
}

// TestPollingIsNoLoop polls with results that change, as those of a running process do,
// and with calls that take their time.
func TestPollingIsNoLoop(t *testing.T) {
	t.Parallel()
	now, step, n := time.Unix(0, 0), time.Duration(0), 0
	run := func(_ context.Context, c *hermes.Call) (hermes.Result, error) {
		now = now.Add(step)
		if c.Name == "process" {
			n++
			return hermes.Result{Text: fmt.Sprintf(`{"status":"running","uptime_seconds":%d}`, n)}, nil
		}
		return hermes.Result{Text: "starting"}, nil
	}
	polls := []hermes.Tool{tool{spec: hermes.Spec{Name: "process"}, run: run}, tool{spec: hermes.Spec{Name: "terminal"}, run: run}}
	options := toolbox.Options{Guardrail: toolbox.Guardrail{HardStop: true}, Now: func() time.Time { return now }}
	tools := mustToolbox(t, options, polls...)
	for i := range 200 {
		if r := tools.Run(t.Context(), call("process", `{"action":"poll"}`)); r.StopReason != "" || strings.Contains(r.Text, "success") {
			t.Fatalf("poll %d: %q", i, r.Text)
		}
	}
	step = 5 * time.Second
	tools = mustToolbox(t, options, polls...)
	for i := range 100 {
		if r := tools.Run(t.Context(), call("terminal", `{"command":"sleep 5; curl localhost"}`)); r.StopReason != "" || strings.Contains(r.Text, "success") {
			t.Fatalf("wait %d: %q", i, r.Text)
		}
	}
	step = 0
	tools = mustToolbox(t, options, polls...)
	calls := 0
	for ; calls < 92; calls++ {
		if r := tools.Run(t.Context(), call("terminal", `{"command":"curl localhost"}`)); r.StopReason != "" {
			break
		}
	}
	if calls > 40 {
		t.Errorf("a loop was stopped after %d calls", calls)
	}
}

func TestFailingCommandsThatDifferNeverStop(t *testing.T) {
	t.Parallel()
	tools := mustToolbox(t, toolbox.Options{Guardrail: toolbox.Guardrail{HardStop: true}}, worldly()...)
	for i := range 30 {
		r := tools.Run(t.Context(), call("terminal", `{"fail":true,"command":"try `+strings.Repeat("x", i)+`"}`))
		if r.StopReason != "" || strings.Contains(r.Text, "blocked") || i >= 2 && !strings.Contains(r.Text, toolWarn) {
			t.Fatalf("command %d: got %q, stop %q", i, r.Text, r.StopReason)
		}
	}
	equal := toolbox.Guardrail{HardStop: true, BlockExact: 20}
	tools = mustToolbox(t, toolbox.Options{Guardrail: equal}, worldly()...)
	var r hermes.Result
	for range 8 {
		r = tools.Run(t.Context(), call("terminal", `{"fail":true,"command":"same"}`))
	}
	if r.StopReason == "" {
		t.Error("equal ones do")
	}
}

func TestUnknownToolTwiceIsWarnedOf(t *testing.T) {
	t.Parallel()
	tools := mustToolbox(t, toolbox.Options{}, worldly()...)
	tools.Run(t.Context(), call("nope", `{}`))
	if r := tools.Run(t.Context(), call("nope", `{}`)); !strings.Contains(r.Text, exactWarn) {
		t.Errorf("got %q", r.Text)
	}
}
