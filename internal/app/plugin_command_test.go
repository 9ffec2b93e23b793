package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes"
)

// speaker is a plugin with slash commands in Python.
const speaker = `
from hermes_plugin import Plugin
plugin = Plugin("speaker", "1")

@plugin.serves("commands/list")
def commands(call, params): return {"commands": [
    {"name": "shout", "args": "TEXT", "help": "Shout a text"},
    {"name": "tell", "args": "TEXT", "help": "Tell the model"},
    {"name": "stat", "help": "Begin as /status does"}]}

@plugin.serves("commands/run")
def run(call, params):
    if params["name"] == "tell": return {"say": "Told: " + params["args"], "text": "Told it."}
    return {"text": params["name"] + " " + params["args"].upper() + " in " + params["session"]["platform"]}

plugin.run()
`

// TestSlashCommandsOfAPluginRunInASession: they are run and listed with the name of the plugin; what one
// sends to the model is untrusted; a skill of the name wins, and the exact name of a plugin's command wins over the
// beginning of a built-in one.
func TestSlashCommandsOfAPluginRunInASession(t *testing.T) {
	t.Parallel()
	s := withPlugin(t, hermes.AllowOnce, false, "speaker", speaker, "name: speaker\nversion: \"1\"\nprogram: [python3, ./main.py]\nkinds: [commands]\n")
	s.enter()
	if done := s.command("/shout hello"); done.Failure != nil || done.Text != "shout HELLO in cli" {
		t.Errorf("%+v", done)
	}
	if done := s.command("/stat"); !strings.HasPrefix(done.Text, "stat ") {
		t.Errorf("the exact name: %+v", done)
	}
	if done := s.command("/help shout"); !strings.Contains(done.Text, "`/shout TEXT` Shout a text (plugin speaker)") {
		t.Errorf("help: %+v", done)
	}
	list, err := s.app.Callable().List(t.Context())
	if err != nil || !slices.ContainsFunc(list, func(k hermes.Skill) bool {
		return k.Name == "shout" && strings.Contains(k.Description, "plugin speaker")
	}) {
		t.Errorf("completion offers %+v, %v", list, err)
	}

	if done := s.command("/tell a secret"); done.Failure != nil || done.Text != "Told it." {
		t.Errorf("%+v", done)
	}
	s.say("And now?") // after the turn that the command began
	found := false
	for _, m := range s.messages() {
		if m.Role == hermes.RoleUser && strings.Contains(m.Text(), "Told: a secret") {
			found = true
			if m.Provenance != "plugin speaker" || !strings.HasPrefix(m.Text(), "/tell a secret") {
				t.Errorf("the message is %q of %q", m.Text(), m.Provenance)
			}
		}
	}
	if !found {
		t.Error("the model does not read what the plugin said")
	}
	s.quit()

	dir := filepath.Join(s.home, "skills", "shout")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "SKILL.md"), "---\nname: shout\ndescription: A skill of the user.\n---\nSay it softly.\n")
	s.enter()
	if done := s.command("/shout hello"); strings.Contains(done.Text, "HELLO") {
		t.Errorf("the plugin takes the place of a skill: %+v", done)
	}
}
