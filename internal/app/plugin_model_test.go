package app_test

import (
	"strings"
	"testing"

	"hermes"
)

// parrot is a model in Python, which makes the call that the user names and then repeats its result.
const parrot = `
from hermes_plugin import Plugin
plugin = Plugin("parrot", "1")

@plugin.serves("models/list")
def models(call, params): return {"models": [{"name": "dear", "window": 50000, "max_output": 1000, "prices": {"input": "1000", "output": "2000"}}]}

@plugin.serves("model/stream")
def stream(call, params):
    last = params["messages"][-1]
    def delta(**what): call.request("model/delta", **what)
    if last["role"] == "user" and last["text"].startswith("CALL ") and any(t["name"] == "read_file" for t in params["tools"]):
        delta(tool_call={"index": 0, "id": "c1", "name": "read_file", "arguments": last["text"][5:]})
        return {"stop": "calls", "usage": {"input": 100, "output": 10}}
    delta(text="Parrot %s says: " % params["model"])
    delta(text=last.get("text", ""))
    return {"stop": "end", "usage": {"input": 100, "output": 10}}

plugin.run()
`

// TestAPluginIsTheModelOfASession: its calls run through the tool chain, its usage is stored, and a
// reference to a plugin without that kind is refused.
func TestAPluginIsTheModelOfASession(t *testing.T) {
	t.Parallel()
	s := withPlugin(t, hermes.AllowOnce, false, "parrot", parrot, "name: parrot\nversion: \"1\"\nprogram: [python3, ./main.py]\nkinds: [model]\n")
	s.write("a.txt", "the text of the file")
	s.enter()
	if err := s.live.Do(t.Context(), hermes.From{}, hermes.SetModel{Ref: "plugin:parrot/small/one"}); err != nil {
		t.Fatal(err)
	}
	s.say(`CALL {"path":"a.txt"}`)
	if got := s.transcript(); !strings.Contains(got, "Parrot small/one says: ") || !strings.Contains(got, "the text of the file") {
		t.Error("the transcript:", got)
	}
	var last hermes.Message
	for _, m := range s.messages() {
		if m.Role == hermes.RoleAssistant {
			last = m
		}
	}
	if last.Model != "plugin:parrot/small/one" || last.Usage == nil || last.Usage.Input != 100 || last.Usage.Output != 10 {
		t.Errorf("the answer is of %q with %+v", last.Model, last.Usage)
	}
	for ref, want := range map[string]string{"plugin:other/m": `no plugin "other" that is a model is enabled`, "plugin:parrot": "write plugin:NAME/MODEL"} {
		if _, err := s.app.Models().Model(t.Context(), hermes.ModelChoice{Ref: ref}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// TestPricesAndWindowsOfAPluginsModelCount: its calls cost what the user agreed to and a cap stops them, its window
// is that of the session, and a model of which it says nothing has no price.
func TestPricesAndWindowsOfAPluginsModelCount(t *testing.T) {
	t.Parallel()
	s := withPlugin(t, hermes.AllowOnce, false, "parrot", parrot, "name: parrot\nversion: \"1\"\nprogram: [python3, ./main.py]\nkinds: [model]\n")
	s.enter()
	if info, _ := s.app.Models().Info("plugin:parrot/dear"); info.ContextLength != 50000 || info.OutputLimit != 1000 || info.Price == nil || info.Price.Input != 1000_000_000 {
		t.Errorf("what is known of it: %+v", info)
	}
	if info, _ := s.app.Models().Info("plugin:parrot/other"); info.ContextLength != 0 || info.Price != nil {
		t.Errorf("what is known of another: %+v", info)
	}
	if err := s.live.Do(t.Context(), hermes.From{}, hermes.SetModel{Ref: "plugin:parrot/dear"}); err != nil {
		t.Fatal(err)
	}
	s.say("hello")
	if done := s.command("/usage"); !strings.Contains(done.Text, "$0.12") { // 100 in and 10 out
		t.Errorf("/usage: %s", done.Text)
	}
	if done := s.command("/context"); !strings.Contains(done.Text, "of 50.0k tokens (0 %); compresses at 42.5k") {
		t.Errorf("/context: %s", done.Text)
	}
	s.quit()
	s.session = ""
	s.config += "spend: {turn: {usd: 0.01}}\n"
	s.enter()
	if err := s.live.Do(t.Context(), hermes.From{}, hermes.SetModel{Ref: "plugin:parrot/dear"}); err != nil {
		t.Fatal(err)
	}
	if err := s.live.Do(t.Context(), hermes.From{}, hermes.Say{Parts: []hermes.Part{{Text: "hello"}}}); err != nil {
		t.Fatal(err)
	}
	for e := range s.events {
		if done, over := e.(hermes.TurnDone); over {
			mustStop(t, done, "this turn")
			return
		}
	}
	t.Error("the turn does not end")
}
