package command

import (
	"context"
	"fmt"
	"slices"

	"hermes"
	"hermes/internal/plugin"
)

// Plugins are those that the user enabled, with the commands that they bring along. Built-in commands and
// skills of the same name win.
type Plugins interface {
	// States lists the plugins, sorted by name. It starts none.
	States() []plugin.State
	SlashCommands() []plugin.SlashCommand
	RunCommand(ctx context.Context, c plugin.SlashCommand, args string, in hermes.SessionRef) (shown, message string, err error)
}

// pluginCommands returns the commands of plugins whose names are free, as rows of the table.
func (c *Call) pluginCommands() []Command {
	if c.Plugins == nil {
		return nil
	}
	return OfPlugins(c.Plugins.SlashCommands())
}

// OfPlugins returns commands of plugins as rows of the table, without those that are built in. They
// cannot be run as such.
func OfPlugins(all []plugin.SlashCommand) []Command {
	var list []Command
	for _, p := range all {
		if !BuiltIn(p.Name) {
			list = append(list, Command{Name: p.Name, Args: p.Args, Group: "Plugins", Help: fmt.Sprintf("%s (plugin %s)", p.Help, p.Plugin), Where: Everywhere})
		}
	}
	return list
}

// BuiltIn reports whether a command of the table has a name, or another name.
func BuiltIn(name string) bool {
	return slices.ContainsFunc(Table(), func(c Command) bool { return c.called(name) })
}

// plugged runs the command of a plugin; is reports whether there is one. What it sends to the model is
// below what the user typed, and untrusted.
func plugged(ctx context.Context, line, name, args string, c *Call) (r Result, is bool, err error) {
	if c.Plugins == nil || BuiltIn(name) {
		return Result{}, false, nil
	}
	all := c.Plugins.SlashCommands()
	i := slices.IndexFunc(all, func(p plugin.SlashCommand) bool { return p.Name == name })
	if i < 0 {
		return Result{}, false, nil
	}
	var in hermes.SessionRef
	if c.Session != nil {
		st, err := c.Session.State(ctx)
		if err != nil {
			return Result{}, true, err
		}
		in = hermes.RunSpec{}.Resumed(st.Row.ID, st.Row.StoredRun()).Ref()
	}
	shown, message, err := c.Plugins.RunCommand(ctx, all[i], args, in)
	if err != nil {
		return Result{}, true, err
	}
	r.Text = shown
	if message != "" {
		from := all[i].Plugin
		r.Message = []hermes.Part{{Text: line}, {
			Text: fmt.Sprintf("\n\nText of the plugin %s, which is not the user's:\n\n%s", from, message), Provenance: hermes.ProvenanceSource("plugin", from),
		}}
	}
	return r, true, nil
}
