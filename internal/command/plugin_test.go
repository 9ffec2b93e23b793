package command_test

import (
	"context"
	"testing"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/plugin"
	"hermes/internal/session"
)

// told is a plugin with one command, which remembers the session of the last call.
type told struct{ in *hermes.SessionRef }

func (told) States() []plugin.State { return nil }

func (told) SlashCommands() []plugin.SlashCommand {
	return []plugin.SlashCommand{{Command: plugin.Command{Name: "shout", Help: "Shout"}, Plugin: "speaker"}}
}

func (p told) RunCommand(_ context.Context, _ plugin.SlashCommand, _ string, in hermes.SessionRef) (string, string, error) {
	*p.in = in
	return "done", "", nil
}

// TestACommandOfAPluginKnowsWhoseSessionItIs: whether a memory may be used depends on that.
func TestACommandOfAPluginKnowsWhoseSessionItIs(t *testing.T) {
	t.Parallel()
	var run hermes.StoredRun
	run.Origin = hermes.Origin{Platform: "telegram", User: "7", Chat: "42", Depth: 1}
	run.Workspace.Dir = "/w"
	run.Prompt.MemoryScope = "user"
	var in hermes.SessionRef
	r, err := command.Run(t.Context(), "/shout", command.Call{
		Where: command.Terminal, Plugins: told{&in}, Session: &fake{state: session.State{Row: hermes.Session{ID: "s", Run: run}}},
	})
	if err != nil || r.Text != "done" {
		t.Fatal(r, err)
	}
	if want := (hermes.SessionRef{ID: "s", Platform: "telegram", User: "7", Chat: "42", Depth: 1, Dir: "/w", MemoryScope: "user"}); in != want {
		t.Errorf("the plugin is told %+v, want %+v", in, want)
	}
}
