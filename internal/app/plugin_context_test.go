package app_test

import (
	"fmt"
	"strings"
	"testing"

	"hermes"
)

// digest is a context engine in Python: the newest request, and one line for all before.
const digest = `
from hermes_plugin import Plugin
plugin = Plugin("digest", "1")

@plugin.serves("context/fit")
def fit(call, params):
    tr = params["transcript"]
    user = max(i for i, m in enumerate(tr) if m["role"] == "user" and not m.get("synthetic"))
    if any("BREAK" in m.get("text", "") for m in tr):
        return {"messages": [{"insert": {"text": "broken"}}]}
    return {"messages": [{"insert": {"text": "A digest of %d messages of %s." % (user, params["session"]["id"])}}]
        + [{"from": i} for i in range(user, len(tr))]}

plugin.run()
`

const digestManifest = "name: digest\nversion: \"1\"\nprogram: [python3, ./main.py]\nkinds: [context]\n"

// compress asks for a compaction and returns what the user is told.
func (s *scene) compress() string {
	s.t.Helper()
	s.do(hermes.Compress{}, false)
	return s.done.Text
}

// TestAPluginShortensTheConversation: the engine that is set gets the transcript, its text is
// untrusted and stored with the anchors of a summary, and the next session of the program reads it.
func TestAPluginShortensTheConversation(t *testing.T) {
	t.Parallel()
	s := withPlugin(t, hermes.AllowOnce, false, "digest", digest, digestManifest)
	s.config += "context: {engine: digest}\n"
	for i := range 4 {
		s.say(fmt.Sprintf("request %d %s", i, strings.Repeat("word ", 400)))
	}
	if told := s.compress(); !strings.HasPrefix(told, "The plugin digest compacted the conversation: about ") {
		t.Error("told:", told)
	}
	s.say("what now?")
	if got := s.model.results(); !strings.Contains(got, "A digest of 6 messages of "+s.session) || !strings.Contains(got, "(the plugin digest wrote this.)") || !strings.Contains(got, "- request 0 word") {
		t.Error("the model reads", got)
	}
	s.quit()
	s.say("and now?") // resumed
	if got := s.model.results(); strings.Count(got, "A digest of 6 messages") != 1 {
		t.Error("resumed, the model reads", got)
	}
	first := s.messages()[0]
	if first.Provenance != "plugin digest" || len(first.Parts) != 2 || first.Parts[0].Anchors == nil || len(first.Parts[0].Anchors.Requests) != 3 {
		t.Errorf("stored: %+v", first)
	}
}

// TestTheBuiltInEngineDoesTheWork of a plugin that breaks a promise, or is not there, and says so.
func TestTheBuiltInEngineDoesTheWork(t *testing.T) {
	t.Parallel()
	for engine, want := range map[string]string{
		"digest": "because the plugin digest did not: its outline leaves out the last message of the user. The conversation was compacted",
		"gone":   `because the plugin gone did not: no plugin "gone" that is a context engine is enabled`,
	} {
		s := withPlugin(t, hermes.AllowOnce, false, "digest", digest, digestManifest)
		s.config += "context: {engine: " + engine + "}\n"
		for i := range 8 {
			s.say(fmt.Sprintf("request %d BREAK %s", i, strings.Repeat("word ", 400)))
		}
		if told := s.compress(); !strings.Contains(told, want) {
			t.Errorf("%s: told %q", engine, told)
		}
		s.say("what now?")
		if got := s.model.results(); strings.Contains(got, "broken") || !strings.Contains(got, "[SUMMARY OF EARLIER TURNS.") {
			t.Errorf("%s: the model reads %s", engine, got)
		}
	}
}
