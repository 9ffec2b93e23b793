package plugin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/contextengine"
	"hermes/internal/plugin"
)

// fits answers context/fit: a text, the last message of the user, and the newest step.
func (p *program) fits(m message) (result any, known bool) {
	if m.Method != "context/fit" {
		return nil, false
	}
	var in struct {
		Call       string
		Transcript []struct {
			Role      string
			Synthetic bool
		}
	}
	_ = json.Unmarshal(m.Params, &in) // Hermes sends what it says
	from := func(i int) any { return map[string]any{"from": i} }
	said := "The plugin left the rest out."
	switch p.kind {
	case "fit-echo":
		_ = os.WriteFile(os.Getenv("PLUGIN_TEST_FILE"), m.Params, 0o600)
		return map[string]any{}, true
	case "fit-deaf":
		select {}
	case "fit-odd":
		return map[string]any{"messages": []any{map[string]any{"from": 0, "insert": map[string]any{"text": "x"}}}}, true
	case "fit-negative":
		return map[string]any{"messages": []any{from(-1)}}, true
	case "fit-model":
		said = string(p.request("host/complete", map[string]any{"call": in.Call, "prompt": "Summarize."}).Result)
		for _, method := range []string{"host/invoke", "host/ask"} {
			if a := p.request(method, map[string]any{"call": in.Call, "name": "read_file", "arguments": map[string]any{}, "text": "x"}); a.Error != nil {
				said += " " + a.Error.Message
			}
		}
	}
	said += "\x1b[2J"
	user, tail := 0, len(in.Transcript)-1
	for i, one := range in.Transcript {
		if one.Role == "user" && !one.Synthetic {
			user = i
		}
	}
	for in.Transcript[tail].Role == "tool" {
		tail--
	}
	insert := map[string]any{"insert": map[string]any{"role": "user", "text": said}}
	list := []any{insert, from(user)}
	if user+1 < tail {
		list = []any{from(user), insert}
	}
	for i := max(tail, user+1); i < len(in.Transcript); i++ {
		list = append(list, from(i))
	}
	return map[string]any{"messages": list}, true
}

const fitManifest = `name: test
version: "1"
program: [plugin.test]
kinds: [context]
timeouts: {start: 20, call: 20}
capabilities: {tools: [read_file], approvals: true, complete: {}}
`

// fitter is a plugin of the kind context that behaves as a kind, for a session.
func fitter(t *testing.T, kind, manifest string, change func(*plugin.Config)) (*plugin.Fitter, *fixture) {
	t.Helper()
	f := install(t, kind, manifest)
	if change != nil {
		change(&f.config)
	}
	f.enable()
	if f.load(); f.err != nil {
		t.Fatal(f.err)
	}
	got, err := f.all.Fitter("test", hermes.SessionRef{ID: "s", Platform: "cli"}, func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") })
	if err != nil {
		t.Fatal(err)
	}
	return got, f
}

// TestAPluginIsAContextEngineLikeOthers: it passes the suite that the built-in one passes, and that
// one does none of its work.
func TestAPluginIsAContextEngineLikeOthers(t *testing.T) {
	t.Parallel()
	hermestest.RunContextEngine(t, func(t *testing.T) hermes.ContextEngine {
		p, _ := fitter(t, "fit", fitManifest, nil)
		var log bytes.Buffer
		t.Cleanup(func() {
			if log.Len() > 0 {
				t.Error(log.String())
			}
		})
		return contextengine.NewOther(contextengine.OtherOptions{
			Name: "test", Who: "the plugin test", Builtin: contextengine.New(contextengine.Options{}), Log: slog.New(slog.NewTextHandler(&log, nil)),
			Outline: func(ctx context.Context, tr []hermes.Message, u hermes.ContextUsage) (list []contextengine.Piece, err error) {
				said, err := p.Fit(ctx, tr, u)
				for _, one := range said {
					list = append(list, contextengine.Piece(one))
				}
				return list, err
			},
		})
	})
}

// TestWhatAContextEngineGets: messages by index, without secrets and pictures, and how full the
// window is.
func TestWhatAContextEngineGets(t *testing.T) {
	t.Parallel()
	p, f := fitter(t, "fit-echo", fitManifest, nil)
	pieces, err := p.Fit(t.Context(), []hermes.Message{
		{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "frame", Anchors: &hermes.Anchors{Words: "earlier hunter2"}}, {Text: "go on"}}},
		{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "c1", Name: "terminal", Arguments: `{"command":"echo hunter2"}`}}},
		{Role: hermes.RoleTool, CallID: "c1", ToolName: "terminal", Failed: true, Parts: []hermes.Part{{Text: "hunter2"}, {Image: &hermes.Image{Data: []byte("x")}}}},
		{Role: hermes.RoleUser, Synthetic: true, Parts: []hermes.Part{{Text: "a process ended"}}},
	}, hermes.ContextUsage{Model: "a:b", Used: 90_000, Window: 128_000, Demand: true, Focus: "parser", Keep: 2})
	if err != nil || len(pieces) > 0 {
		t.Fatal(pieces, err)
	}
	data, err := os.ReadFile(f.file)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"call":"1","session":{"id":"s","platform":"cli"},"transcript":[` +
		`{"role":"user","text":"go on","summary":"earlier ***"},` +
		`{"role":"assistant","calls":[{"id":"c1","name":"terminal","arguments":"{\"command\":\"echo ***\"}"}]},` +
		`{"role":"tool","text":"***","call_id":"c1","name":"terminal","failed":true,"images":1},` +
		`{"role":"user","text":"a process ended","synthetic":true}],` +
		`"usage":{"model":"a:b","tokens":90000,"window":128000,"demand":true,"focus":"parser","keep":2}}`
	if d := cmp.Diff(want, string(data)); d != "" {
		t.Error(d)
	}
}

// TestAContextEngineThatIsLateOrOdd is an error, and is told that it is not waited for.
func TestAContextEngineThatIsLateOrOdd(t *testing.T) {
	t.Parallel()
	tr := []hermes.Message{hermes.UserText("hi")}
	for _, kind := range []string{"fit-odd", "fit-negative"} {
		p, _ := fitter(t, kind, fitManifest, nil)
		if got, err := p.Fit(t.Context(), tr, hermes.ContextUsage{}); err == nil || !strings.Contains(err.Error(), "neither from an index nor a text") {
			t.Errorf("%s: %v, %v", kind, got, err)
		}
	}
	p, f := fitter(t, "fit-deaf", strings.ReplaceAll(fitManifest, "call: 20", "call: 1"), nil)
	began := time.Now()
	if _, err := p.Fit(t.Context(), tr, hermes.ContextUsage{}); err == nil || !strings.Contains(err.Error(), "did not answer within 1s") {
		t.Error(err)
	}
	if d := time.Since(began); d > 30*time.Second {
		t.Error("it was waited for", d)
	}
	until(t, "the plugin is told", func() bool { data, _ := os.ReadFile(f.file); return string(data) == "cancelled" })
	if _, err := f.all.Fitter("other", hermes.SessionRef{}, nil); err == nil || !strings.Contains(err.Error(), `no plugin "other" that is a context engine is enabled`) {
		t.Error(err)
	}
}

// TestAContextEngineAsksAModelAndNothingElse: it may have a summary written, of the session that it
// is for, but runs no tool and asks no one.
func TestAContextEngineAsksAModelAndNothingElse(t *testing.T) {
	t.Parallel()
	var asked plugin.Completion
	p, _ := fitter(t, "fit-model", fitManifest, func(c *plugin.Config) {
		c.Complete = func(_ context.Context, q plugin.Completion) (plugin.Completed, error) {
			asked = q
			return plugin.Completed{Model: "a:b", Text: "the summary"}, nil
		}
	})
	got, err := p.Fit(t.Context(), []hermes.Message{hermes.UserText("hi")}, hermes.ContextUsage{Model: "a:b"})
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	if said := got[0].Text; !strings.Contains(said, "the summary") || strings.Contains(said, "\x1b") || strings.Count(said, "not while the conversation is shortened") != 2 {
		t.Error(said)
	}
	if asked.Session.ID != "s" || asked.Session.Model != "a:b" || asked.Prompt != "Summarize." {
		t.Errorf("%+v", asked)
	}
}
