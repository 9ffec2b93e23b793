package plugin_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/plugin"
)

// commands answers the methods of slash commands.
func (p *program) commands(m message) (result any, known bool) {
	switch m.Method {
	case "commands/list":
		list := []any{
			map[string]any{"name": "say", "args": "[text]", "help": "Say it\x1b[2J to the model"},
			map[string]any{"name": "count", "help": "Count words"},
		}
		if p.kind == "odd-command" {
			list = append(list, map[string]any{"name": "a b", "help": "x"})
		}
		return map[string]any{"commands": list}, true
	case "commands/run":
		var in struct {
			Name, Args string
			Session    struct{ ID string }
		}
		_ = json.Unmarshal(m.Params, &in) // Hermes sends what it says
		if in.Name == "say" {
			return map[string]any{"say": in.Args + "\x1b[2J", "text": strings.Repeat("é", 200_000)}, true
		}
		return map[string]any{"text": in.Session.ID + ": " + in.Args}, true
	}
	return nil, false
}

const commandManifest = `name: test
version: "1"
program: [plugin.test]
kinds: [commands]
timeouts: {start: 20, call: 20}
`

// TestSlashCommandsOfAPlugin are those that were enabled; what they say is bounded and plain.
func TestSlashCommandsOfAPlugin(t *testing.T) {
	t.Parallel()
	f := install(t, "commands", commandManifest)
	f.enable()
	if f.load(); f.err != nil {
		t.Fatal(f.err)
	}
	all := f.all.SlashCommands()
	want := []plugin.SlashCommand{
		{Command: plugin.Command{Name: "count", Help: "Count words"}, Plugin: "test"},
		{Command: plugin.Command{Name: "say", Args: "[text]", Help: "Say it[2J to the model"}, Plugin: "test"},
	}
	if !slices.Equal(all, want) {
		t.Fatalf("commands: %+v", all)
	}
	shown, message, err := f.all.RunCommand(t.Context(), all[0], "a b", hermes.SessionRef{ID: "s7"})
	if shown != "s7: a b" || message != "" || err != nil {
		t.Errorf("%q, %q, %v", shown, message, err)
	}
	shown, message, err = f.all.RunCommand(t.Context(), all[1], "hi", hermes.SessionRef{})
	if n := len([]rune(shown)); n < 100_000 || n > 100_020 || message != "hi[2J" || err != nil {
		t.Errorf("%d characters, %q, %v", n, message, err)
	}
}

// TestANameOfABuiltInCommandIsRefused, when it is looked at and when it is loaded.
func TestANameOfABuiltInCommandIsRefused(t *testing.T) {
	t.Parallel()
	f := install(t, "commands", commandManifest)
	f.enable()
	f.config.Taken = func(kind, name string) bool { return kind == "commands" && name == "say" }
	if f.load(); f.err == nil || !strings.Contains(f.err.Error(), "there is a command /say already") || len(f.all.SlashCommands()) != 0 {
		t.Error(f.err)
	}
	m, _, err := plugin.ReadManifest(f.folder + "/test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plugin.Look(t.Context(), f.config, f.folder+"/test", m); err == nil || !strings.Contains(err.Error(), "/say already") {
		t.Error(err)
	}
	f.kind, f.config.Taken = "odd-command", nil
	if _, err := plugin.Look(t.Context(), f.config, f.folder+"/test", m); err == nil || !strings.Contains(err.Error(), "not the name of a command") {
		t.Error(err)
	}
}

// TestCommandsOfAMemoryAreTheOwners, as its tools are.
func TestCommandsOfAMemoryAreTheOwners(t *testing.T) {
	t.Parallel()
	f := install(t, "plain", strings.Replace(commandManifest, "[commands]", "[commands, memory]", 1))
	f.config.Memory.Allowed = func(s hermes.SessionRef) bool { return s.User == "" }
	f.enable()
	if f.load(); f.err != nil {
		t.Fatal(f.err)
	}
	count := f.all.SlashCommands()[0]
	for _, row := range []struct {
		in   hermes.SessionRef
		want string
	}{{hermes.SessionRef{ID: "s"}, ""}, {hermes.SessionRef{ID: "s", User: "7"}, "belongs to the owner"}, {hermes.SessionRef{ID: "s", Depth: 1}, "no memory"}} {
		shown, _, err := f.all.RunCommand(t.Context(), count, "a", row.in)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) || row.want != "" && shown != "" {
			t.Errorf("%+v: %q, %v", row.in, shown, err)
		}
	}
}
