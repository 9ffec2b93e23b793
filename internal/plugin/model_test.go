package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/plugin"
)

// models is the kind of a program that answers models/list with what follows.
const models = "models:"

// modelsError is the kind of a program that answers models/list with the error of the code that follows.
const modelsError = "models-error:"

// streams answers models/list, if its kind says with what, and model/stream. It reports false if the message is none.
func (p *program) streams(m message) bool {
	if code, ok := strings.CutPrefix(p.kind, modelsError); ok && m.Method == "models/list" {
		n, _ := strconv.Atoi(code)
		p.send(map[string]any{"id": m.ID, "error": map[string]any{"code": n, "message": "no list now"}})
		return true
	}
	if list, ok := strings.CutPrefix(p.kind, models); ok && m.Method == "models/list" {
		p.send(map[string]any{"id": m.ID, "result": map[string]any{"models": json.RawMessage(list)}})
		return true
	}
	if m.Method != "model/stream" {
		return false
	}
	var in struct {
		Call, Model string
		Messages    []struct{ Text string }
	}
	_ = json.Unmarshal(m.Params, &in) // Hermes sends what it says
	delta := func(what string, v any) message {
		return p.request("model/delta", map[string]any{"call": in.Call, what: v})
	}
	fail := func(code int, text string) {
		p.send(map[string]any{"id": m.ID, "error": map[string]any{"code": code, "message": text}})
	}
	stop := "end"
	switch in.Model {
	case "echo":
		_ = os.WriteFile(os.Getenv("PLUGIN_TEST_FILE"), m.Params, 0o600)
	case "busy":
		fail(429, "too many requests")
		return true
	case "dies":
		delta("text", "begun")
		os.Exit(9)
	case "deaf":
		delta("text", "begun")
		return true
	case "endless":
		for {
			if a := delta("text", "more "); a.Error != nil {
				_ = os.WriteFile(os.Getenv("PLUGIN_TEST_FILE"), []byte(a.Error.Message), 0o600)
				return true
			}
		}
	case "rude": // does not wait for answers
		var all sync.WaitGroup
		refused := make(chan string, 100)
		for range 100 {
			all.Go(func() {
				if a := delta("text", "x"); a.Error != nil {
					refused <- a.Error.Message
				}
			})
		}
		all.Wait()
		close(refused)
		for why := range refused {
			_ = os.WriteFile(os.Getenv("PLUGIN_TEST_FILE"), []byte(why), 0o600)
		}
	case "odd":
		stop = "perhaps"
	default:
		delta("thinking", "hm")
		delta("text", "Grüße, ")
		delta("text", in.Messages[len(in.Messages)-1].Text)
		delta("tool_call", map[string]any{"index": 0, "id": "c1", "name": "terminal", "arguments": `{"comm`})
		delta("tool_call", map[string]any{"index": 0, "arguments": `and":"ls"}`})
		delta("tool_call", map[string]any{"index": 1, "id": "c2", "name": "read_file", "arguments": `{}`})
		stop = "calls"
	}
	p.send(map[string]any{"id": m.ID, "result": map[string]any{"stop": stop, "usage": map[string]any{"input": 10, "output": 5, "cache_read": 2}}})
	return true
}

const modelManifest = `name: test
version: "1"
program: [plugin.test]
kinds: [model]
timeouts: {start: 20, call: 20}
`

func answering(t *testing.T, manifest string) *fixture {
	t.Helper()
	f := install(t, "model", manifest)
	f.enable()
	if f.load(); f.err != nil {
		t.Fatal(f.err)
	}
	return f
}

// answer asks a model and returns its message.
func (f *fixture) answer(ctx context.Context, model, said string) (hermes.Message, error) {
	var a hermes.Assembly
	err := f.all.Answer(ctx, "test", model, &hermes.Request{Messages: []hermes.Message{hermes.UserText(said)}}, func(d hermes.Delta) error {
		a.Add(d)
		return nil
	})
	return a.Message(), err
}

// TestAPluginAnswersAsAModel: thinking, text, calls, usage and the end of the answer, of calls side
// by side.
func TestAPluginAnswersAsAModel(t *testing.T) {
	t.Parallel()
	f := answering(t, modelManifest)
	var all sync.WaitGroup
	for _, said := range []string{"one", "two", "three", "four"} {
		all.Go(func() {
			got, err := f.answer(t.Context(), "m", said)
			want := hermes.Message{
				Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "Grüße, " + said}}, Reasoning: []hermes.Reasoning{{Text: "hm"}}, Finish: hermes.FinishCalls,
				Calls: []hermes.ToolCall{{ID: "c1", Name: "terminal", Arguments: `{"command":"ls"}`}, {ID: "c2", Name: "read_file", Arguments: "{}"}},
				Usage: &hermes.Usage{Input: 10, Output: 5, CacheRead: 2, Calls: 1},
			}
			if d := cmp.Diff(want, got); d != "" || err != nil {
				t.Error(d, err)
			}
		})
	}
	all.Wait()
}

// TestWhatAModelGets is the request.
func TestWhatAModelGets(t *testing.T) {
	t.Parallel()
	f := answering(t, modelManifest)
	half := 0.5
	err := f.all.Answer(t.Context(), "test", "echo", &hermes.Request{
		System: "Be brief.", WordsOnly: true, MaxTokens: 100, Temperature: &half, Effort: hermes.EffortLow, Session: "s",
		Tools: []hermes.Spec{{Name: "terminal", Description: "Runs.", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []hermes.Message{
			{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "look"}, {Image: &hermes.Image{MediaType: "image/png", Data: []byte("x")}}}},
			{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "c1", Name: "terminal", Arguments: `{}`}}},
			{Role: hermes.RoleTool, CallID: "c1", ToolName: "terminal", Failed: true, Parts: []hermes.Part{{Text: "no"}}},
		},
	}, func(hermes.Delta) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.file)
	want := `{"call":"1","model":"echo","system":"Be brief.","messages":[{"role":"user","text":"look","images":[{"media_type":"image/png","data":"eA=="}]},` +
		`{"role":"assistant","calls":[{"id":"c1","name":"terminal","arguments":"{}"}]},{"role":"tool","text":"no","call_id":"c1","name":"terminal","failed":true}],` +
		`"tools":[{"name":"terminal","description":"Runs.","schema":{"type":"object"}}],"words_only":true,"max_tokens":100,"temperature":0.5,"effort":"low","session":"s"}`
	if d := cmp.Diff(want, string(data)); d != "" || err != nil {
		t.Error(d, err)
	}
}

// TestAnAnswerThatDoesNotEndIsAnError: of a plugin that fails, ends, says nothing more or ends it oddly.
func TestAnAnswerThatDoesNotEndIsAnError(t *testing.T) {
	t.Parallel()
	f := answering(t, strings.ReplaceAll(modelManifest, "call: 20", "call: 1"))
	for model, want := range map[string]string{"busy": "the plugin test says: too many requests", "odd": `stop "perhaps"`, "deaf": "said nothing for 1s"} {
		if m, err := f.answer(t.Context(), model, "hi"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", model, m.Text(), err)
		}
	}
	_, err := f.answer(t.Context(), "busy", "hi")
	if said, ok := errors.AsType[*plugin.ModelFailure](err); !ok || said.StatusCode() != 429 {
		t.Error(err)
	}
	if m, err := f.answer(t.Context(), "dies", "hi"); err == nil || !strings.Contains(err.Error(), "ended before it answered") || m.Text() != "begun" {
		t.Error(m.Text(), err)
	}
	if err := f.all.HasModels("other"); err == nil || !strings.Contains(err.Error(), `no plugin "other" that is a model is enabled`) {
		t.Error(err)
	}
}

// TestAnAnswerIsPaced: the plugin waits for who reads, learns that no one does any more, and what it
// sends without waiting is refused.
func TestAnAnswerIsPaced(t *testing.T) {
	t.Parallel()
	f := answering(t, modelManifest)
	pieces, enough := 0, errors.New("enough")
	err := f.all.Answer(t.Context(), "test", "endless", &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}, func(hermes.Delta) error {
		if pieces++; pieces == 20 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || pieces != 20 {
		t.Error(pieces, err)
	}
	until(t, "the plugin is told", func() bool { data, _ := os.ReadFile(f.file); return len(data) > 0 })
	f = answering(t, modelManifest)
	ctx, cancel := context.WithCancel(t.Context())
	err = f.all.Answer(ctx, "test", "endless", &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}, func(hermes.Delta) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	f = answering(t, modelManifest)
	n := 0
	err = f.all.Answer(t.Context(), "test", "rude", &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}, func(d hermes.Delta) error {
		if n += len(d.Text); n > 1 || d.Text == "" {
			return nil
		}
		_, err := f.answer(t.Context(), "m", "hi") // the program is read on; all that it sent before is taken or refused
		return err
	})
	if err != nil || n >= 100 || n < 4 {
		t.Error("not refused:", n, err)
	}
	if data, _ := os.ReadFile(f.file); !strings.Contains(string(data), "wait for the answer before the next delta") {
		t.Errorf("%q", data)
	}
}

// TestModelsOfAPluginSayTheirWindowAndPrices, as the user saw them: another price is another offer.
func TestModelsOfAPluginSayTheirWindowAndPrices(t *testing.T) {
	t.Parallel()
	f := install(t, models+`[{"name": "b"}, {"name": "a/small", "window": 50000, "max_output": 4096, "images": true,
		"prices": {"input": "0.25", "output": "10", "cached": "0.000001"}}]`, modelManifest)
	offer := f.enable()
	if f.load(); f.err != nil {
		t.Fatal(f.err)
	}
	want := hermes.ModelInfo{ContextLength: 50000, OutputLimit: 4096, Vision: true, Price: &hermes.Price{Input: 250_000, Output: 10_000_000, CacheRead: 1, CacheWrite: -1, CacheWriteLong: -1}}
	if got, known := f.all.ModelInfo("test", "a/small"); !known || !cmp.Equal(got, want) {
		t.Errorf("%v: %s", known, cmp.Diff(want, got))
	}
	if got, known := f.all.ModelInfo("test", "b"); !known || got.Price != nil || got.ContextLength != 0 {
		t.Errorf("a model of which nothing is said but its name: %v %+v", known, got)
	}
	for _, other := range []string{"c", "a"} {
		if got, known := f.all.ModelInfo("test", other); known {
			t.Errorf("%s: %+v", other, got)
		}
	}
	if _, known := f.all.ModelInfo("other", "b"); known {
		t.Error("a plugin that is not there")
	}
	next := offer
	next.Models = slices.Clone(offer.Models)
	next.Models[0].Prices = &plugin.ModelPrices{Input: "0.26", Output: "10", Cached: "0.000001"}
	if offer.Same(next) || !slices.Equal(offer.Wider(next), []string{"~ model a/small"}) {
		t.Errorf("another price is the same offer: %q", offer.Wider(next))
	}
	f.kind = models + `[{"name": "b"}]`
	if _, err := f.answer(t.Context(), "b", "hello"); err == nil || !strings.Contains(err.Error(), "not what you enabled") {
		t.Error("a program that says something else than what was enabled:", err)
	}
}

// TestAnErrorIsNoListOfModels: a program that does not know the method has none; any other error may be of the
// moment, so the offer is not known, and the plugin is started again later.
func TestAnErrorIsNoListOfModels(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{"-32601": "", "-32000": "no list now", "-32603": "no list now"} {
		f := install(t, modelsError+code, modelManifest)
		m, _, err := plugin.ReadManifest(f.folder + "/test")
		if err != nil {
			t.Fatal(err)
		}
		o, err := plugin.Look(t.Context(), f.config, f.folder+"/test", m)
		if want == "" && (err != nil || len(o.Models) != 0) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %+v %v", code, o.Models, err)
		}
	}
}

func TestModelsOfAPluginAreChecked(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		`[{"name": ""}]`:                                                             "not the name of a model",
		`[{"name": "a\u202eb"}]`:                                                     "not the name of a model",
		`[{"name": "a"}, {"name": "a"}]`:                                             "two models a",
		`[{"name": "a", "window": 1}]`:                                               "has 1000 to",
		`[{"name": "a", "window": -1}]`:                                              "has 1000 to",
		`[{"name": "a", "max_output": 30000000}]`:                                    "has 1000 to",
		`[{"name": "a", "prices": {"input": "1"}}]`:                                  "output is",
		`[{"name": "a", "prices": {"input": "-1", "output": "1"}}]`:                  "input is",
		`[{"name": "a", "prices": {"input": "1e3", "output": "1"}}]`:                 "input is",
		`[{"name": "a", "prices": {"input": "1", "output": ".5"}}]`:                  "output is",
		`[{"name": "a", "prices": {"input": "1", "output": "1", "cached": "free"}}]`: "cached is",
		`[` + strings.Repeat(`{"name": "a"},`, 64) + `{"name": "a"}]`:                "65 models",
		`[{"name": "a", "prices": {"input": 1, "output": 1}}]`:                       "models/list",
	} {
		f := install(t, models+list, modelManifest)
		m, _, err := plugin.ReadManifest(f.folder + "/test")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plugin.Look(t.Context(), f.config, f.folder+"/test", m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", list, err)
		}
	}
}
