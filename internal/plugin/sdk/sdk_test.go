package sdk_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"hermes/internal/plugin/sdk"
)

// host is Hermes' side of a plugin that is served.
type host struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
}

func serve(t *testing.T, p *sdk.Plugin) *host {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	h := &host{t: t, in: inW, out: bufio.NewReader(outR), done: make(chan error, 1)}
	go func() {
		h.done <- p.Serve(t.Context(), inR, outW)
		outW.Close()
	}()
	t.Cleanup(func() { inW.Close(); outR.Close() })
	return h
}

func (h *host) send(line string) {
	h.t.Helper()
	if _, err := io.WriteString(h.in, line+"\n"); err != nil {
		h.t.Fatal(err)
	}
}

// read returns the next message in the one form of encoding/json.
func (h *host) read() string {
	h.t.Helper()
	line, err := h.out.ReadBytes('\n')
	if err != nil {
		h.t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(line, &m); err != nil || m["jsonrpc"] != "2.0" {
		h.t.Fatalf("%s: %v", line, err)
	}
	delete(m, "jsonrpc")
	data, _ := json.Marshal(m)
	return string(data)
}

func (h *host) expect(line, want string) {
	h.t.Helper()
	h.send(line)
	if got := h.read(); got != want {
		h.t.Errorf("%s\ngot  %s\nwant %s", line, got, want)
	}
}

func example() *sdk.Plugin {
	return &sdk.Plugin{
		Name: "p", Version: "1",
		Tools: []sdk.Tool{
			{Name: "p_echo", Description: "d", Schema: json.RawMessage(`{"type":"object"}`), Effect: "none", Run: func(_ context.Context, c *sdk.Call, a json.RawMessage) (sdk.Result, error) {
				c.Progress("working")
				return sdk.Result{Text: c.Session.Dir + string(a)}, nil
			}},
			{Name: "p_fail", Run: func(context.Context, *sdk.Call, json.RawMessage) (sdk.Result, error) {
				return sdk.Result{}, sdk.Failure{Text: "say more"}
			}},
			{Name: "p_break", Run: func(context.Context, *sdk.Call, json.RawMessage) (sdk.Result, error) {
				return sdk.Result{}, errors.New("broken")
			}},
			{Name: "p_wait", Run: func(ctx context.Context, _ *sdk.Call, _ json.RawMessage) (sdk.Result, error) {
				<-ctx.Done()
				return sdk.Result{Text: "stopped"}, nil
			}},
			{Name: "p_ask", Run: func(ctx context.Context, c *sdk.Call, _ json.RawMessage) (sdk.Result, error) {
				r, err := c.Invoke(ctx, "read_file", map[string]string{"path": "x"})
				return r, err
			}},
		},
		Hooks: []sdk.Hook{{Event: "pre_tool_call", Run: func(_ context.Context, _ *sdk.Call, e sdk.Event) (sdk.Verdict, error) {
			return sdk.Verdict{Action: "block", Message: e.Tool.Name}, nil
		}}},
		Sections: []sdk.Section{{Name: "s", Text: "t"}},
		Commands: []sdk.Command{{Name: "c", Help: "h", Run: func(_ context.Context, _ *sdk.Call, args string) (string, string, error) {
			return "shown " + args, "said", nil
		}}},
		Memory: &sdk.Memory{
			Recall: func(_ context.Context, c *sdk.Call, q string, limit int) (string, error) {
				return strings.Repeat(q, limit) + c.Session.ID, nil
			},
			Observe: func(_ context.Context, _ *sdk.Call, t sdk.Turn) error {
				if t.At.Year() != 2026 || t.Said != "a" || t.Answer != "b" {
					return errors.New("another turn")
				}
				return nil
			},
			Commands: []sdk.MemoryCommand{{Name: "show", Help: "h", Run: func(_ context.Context, _ *sdk.Call, args []string) (string, int, error) {
				return strings.Join(args, "+"), 3, nil
			}}},
		},
	}
}

func TestServeSpeaksTheProtocol(t *testing.T) {
	t.Parallel()
	h := serve(t, example())
	h.expect(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol":1}}`, `{"id":1,"result":{"name":"p","protocol":1,"version":"1"}}`)
	h.send("this is no message")
	h.send(`{"jsonrpc":"2.0","method":"later/notice","params":{}}`)
	h.expect(`{"id":"x","method":"prompt/sections","params":{}}`, `{"id":"x","result":{"sections":[{"name":"s","text":"t"}]}}`)
	h.expect(`{"id":2,"method":"hooks/list","params":{}}`, `{"id":2,"result":{"hooks":[{"event":"pre_tool_call"}]}}`)
	h.expect(`{"id":2,"method":"commands/list","params":{}}`, `{"id":2,"result":{"commands":[{"help":"h","name":"c"}]}}`)
	h.expect(`{"id":2,"method":"memory/commands","params":{}}`, `{"id":2,"result":{"commands":[{"help":"h","name":"show"}]}}`)
	h.expect(`{"id":3,"method":"tools/call","params":{"call":"7","name":"p_echo","arguments":{"a":1},"session":{"id":"s","dir":"/d"}}}`, `{"method":"$/progress","params":{"call":"7","text":"working"}}`)
	if got := h.read(); got != `{"id":3,"result":{"text":"/d{\"a\":1}"}}` {
		t.Error(got)
	}
	h.expect(`{"id":4,"method":"tools/call","params":{"call":"8","name":"p_fail","arguments":{}}}`, `{"id":4,"result":{"failed":true,"text":"say more"}}`)
	h.expect(`{"id":5,"method":"tools/call","params":{"call":"9","name":"p_break","arguments":{}}}`, `{"error":{"code":-32000,"message":"broken"},"id":5}`)
	h.expect(`{"id":6,"method":"tools/call","params":{"call":"9","name":"other","arguments":{}}}`, `{"error":{"code":-32000,"message":"there is no tool other"},"id":6}`)
	h.expect(`{"id":6,"method":"model/stream","params":{"call":"9"}}`, `{"error":{"code":-32601,"message":"there is no method model/stream"},"id":6}`)
	h.expect(`{"id":7,"method":"hooks/call","params":{"call":"10","event":"pre_tool_call","tool":{"id":"c","name":"terminal","arguments":{}}}}`, `{"id":7,"result":{"action":"block","message":"terminal"}}`)
	h.expect(`{"id":8,"method":"commands/run","params":{"call":"11","name":"c","args":"a b"}}`, `{"id":8,"result":{"say":"said","text":"shown a b"}}`)
	h.expect(`{"id":9,"method":"memory/recall","params":{"call":"12","query":"q","limit":2,"session":{"id":"s"}}}`, `{"id":9,"result":{"text":"qqs"}}`)
	h.expect(`{"id":10,"method":"memory/observe","params":{"call":"13","said":"a","answer":"b","at":"2026-11-28T10:00:00Z","session":{"id":"s"}}}`, `{"id":10,"result":{"text":""}}`)
	h.expect(`{"id":11,"method":"memory/block","params":{"call":"14"}}`, `{"id":11,"result":{"text":""}}`)
	h.expect(`{"id":12,"method":"memory/command","params":{"call":"15","name":"show","args":["a","b"]}}`, `{"id":12,"result":{"exit_code":3,"text":"a+b"}}`)
	h.expect(`{"id":13,"method":"shutdown","params":{}}`, `{"id":13,"result":{}}`)
	if err := <-h.done; err != nil {
		t.Error(err)
	}
}

// TestHooksOfOneEventAreOne: they run in their order, and their verdicts are joined.
func TestHooksOfOneEventAreOne(t *testing.T) {
	t.Parallel()
	says := func(v sdk.Verdict) func(context.Context, *sdk.Call, sdk.Event) (sdk.Verdict, error) {
		return func(context.Context, *sdk.Call, sdk.Event) (sdk.Verdict, error) { return v, nil }
	}
	changed := "changed"
	h := serve(t, &sdk.Plugin{Name: "p", Hooks: []sdk.Hook{
		{Event: "pre_tool_call", Tools: "a|b", Timeout: 5, Run: says(sdk.Verdict{Action: "approve", Message: "one"})},
		{Event: "pre_llm_call", Run: says(sdk.Verdict{Context: "one"})},
		{Event: "pre_tool_call", Tools: "a", Guard: true, Run: says(sdk.Verdict{Action: "modify", Arguments: json.RawMessage(`{"x":1}`)})},
		{Event: "pre_tool_call", Tools: "b", Run: says(sdk.Verdict{Action: "approve", Message: "two"})},
		{Event: "pre_llm_call", Run: says(sdk.Verdict{})},
		{Event: "pre_llm_call", Run: says(sdk.Verdict{Context: "two"})},
		{Event: "transform_tool_result", Run: says(sdk.Verdict{Action: "modify", Text: &changed})},
		{Event: "transform_tool_result", Tools: "a", Run: func(_ context.Context, _ *sdk.Call, e sdk.Event) (sdk.Verdict, error) {
			again := e.Result.Text + " again"
			return sdk.Verdict{Action: "modify", Text: &again}, nil
		}},
	}})
	h.expect(`{"id":1,"method":"hooks/list","params":{}}`,
		`{"id":1,"result":{"hooks":[{"event":"pre_tool_call","guard":true,"tools":"(?:a|b)|(?:a)|(?:b)"},{"event":"pre_llm_call"},{"event":"transform_tool_result"}]}}`)
	for call, want := range map[string]string{
		`"event":"pre_tool_call","tool":{"name":"a"}`:         `{"action":"block","message":"one hook wants the user to be asked, another changes the call; only one of the two is possible"}`,
		`"event":"pre_tool_call","tool":{"name":"b"}`:         `{"action":"approve","message":"one; two"}`,
		`"event":"pre_tool_call","tool":{"name":"ab"}`:        `{}`,
		`"event":"pre_llm_call"`:                              `{"context":"one\n\ntwo"}`,
		`"event":"transform_tool_result","tool":{"name":"a"}`: `{"action":"modify","text":"changed again"}`,
	} {
		h.expect(`{"id":2,"method":"hooks/call","params":{"call":"1",`+call+`}}`, `{"id":2,"result":`+want+`}`)
	}
	wrong := serve(t, &sdk.Plugin{Name: "p", Hooks: []sdk.Hook{{Event: "e", Tools: "("}, {Event: "e"}}})
	wrong.send(`{"id":1,"method":"hooks/list","params":{}}`)
	if got := wrong.read(); !strings.Contains(got, "the tools of a hook at e") {
		t.Error(got)
	}
}

// TestServeGoesOnWhileACallRuns: a call that waits for Hermes or is cancelled holds nothing up.
func TestServeGoesOnWhileACallRuns(t *testing.T) {
	t.Parallel()
	h := serve(t, example())
	h.send(`{"id":1,"method":"tools/call","params":{"call":"1","name":"p_wait","arguments":{}}}`)
	h.expect(`{"id":2,"method":"tools/call","params":{"call":"2","name":"p_ask","arguments":{}}}`,
		`{"id":"p1","method":"host/invoke","params":{"arguments":{"path":"x"},"call":"2","name":"read_file"}}`)
	h.expect(`{"id":3,"method":"prompt/sections","params":{}}`, `{"id":3,"result":{"sections":[{"name":"s","text":"t"}]}}`)
	h.expect(`{"id":"p1","result":{"text":"the file","failed":false}}`, `{"id":2,"result":{"text":"the file"}}`)
	h.expect(`{"id":4,"method":"tools/call","params":{"call":"4","name":"p_ask","arguments":{}}}`,
		`{"id":"p2","method":"host/invoke","params":{"arguments":{"path":"x"},"call":"4","name":"read_file"}}`)
	h.expect(`{"id":"p2","error":{"code":-32003,"message":"not declared"}}`, `{"id":4,"result":{"failed":true,"text":"not declared"}}`)
	h.expect(`{"method":"$/cancel","params":{"call":"1"}}`, `{"id":1,"result":{"text":"stopped"}}`)
}

// TestTheEndOfTheInputEndsWhatRuns: Serve returns, after the functions that it cancelled.
func TestTheEndOfTheInputEndsWhatRuns(t *testing.T) {
	t.Parallel()
	h := serve(t, example())
	h.send(`{"id":1,"method":"tools/call","params":{"call":"1","name":"p_wait","arguments":{}}}`)
	h.in.Close()
	if got := h.read(); got != `{"id":1,"result":{"text":"stopped"}}` {
		t.Error(got)
	}
	select {
	case err := <-h.done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("it does not end")
	}
}
