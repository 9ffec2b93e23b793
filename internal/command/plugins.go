package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes/internal/plugin"
	"hermes/internal/text"
)

// pluginVerbs are commands of the shell that users try in the chat.
var pluginVerbs = [...]string{"enable", "disable", "install", "update", "remove"}

// plugins shows the plugins that the user enabled, or what one brings along.
func plugins(_ context.Context, c *Call) (Result, error) {
	if c.Plugins == nil {
		return Result{}, errors.New("this program has no plugins")
	}
	list := c.Plugins.States()
	name, rest, _ := strings.Cut(c.Args, " ")
	if slices.Contains(pluginVerbs[:], name) {
		return Result{Text: fmt.Sprintf("Use `hermes plugins %s %s` in a shell. New sessions have it.", name, text.VisibleName(cmp.Or(strings.TrimSpace(rest), "NAME")))}, nil
	}
	if name != "" {
		for _, s := range list {
			if strings.EqualFold(s.Name, c.Args) {
				return Result{Text: broughtBy(s)}, nil
			}
		}
		return Result{}, fmt.Errorf("no plugin %q is enabled; /plugins lists those that are, and `hermes plugins list` all that are installed", text.VisibleName(c.Args))
	}
	if len(list) == 0 {
		return Result{Text: "No plugin is enabled. `hermes plugins list` shows those that are installed, and `hermes plugins enable NAME` enables one for new sessions."}, nil
	}
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "- %s\n", stateOf(s))
	}
	b.WriteString("\nEnable or disable one with `hermes plugins enable NAME` or `hermes plugins disable NAME`; new sessions have it.")
	return Result{Text: b.String()}, nil
}

// stateOf is a line about a plugin.
func stateOf(s plugin.State) string {
	line := "**" + text.VisibleName(s.Name) + "**"
	if s.Version != "" {
		line += " " + text.VisibleName(s.Version)
	}
	line += ": " + string(s.Phase)
	for _, part := range []struct {
		n         int
		one, many string
	}{
		{len(s.Offer.Tools), "tool", "tools"}, {len(s.Offer.Hooks), "hook", "hooks"}, {len(s.Offer.Sections), "section of the prompt", "sections of the prompt"}, {len(s.Offer.Commands), "command", "commands"},
		{len(s.Offer.MemoryCommands), "command of its memory", "commands of its memory"}, {len(s.Offer.Models), "model", "models"},
	} {
		if part.n > 0 && s.Phase != plugin.PhaseUnused {
			line += ", " + text.Plural(part.n, part.one, part.many)
		}
	}
	if s.Phase == plugin.PhaseUnused && slices.ContainsFunc(s.Offer.Hooks, func(h plugin.Hook) bool { return h.Guard }) {
		line += ", and what it guards is refused"
	}
	if s.Reason != "" {
		line += ": " + text.Visible(s.Reason)
	}
	return line
}

// broughtBy lists what a plugin brings along.
func broughtBy(s plugin.State) string {
	var b strings.Builder
	b.WriteString(stateOf(s) + "\n\n")
	for _, t := range s.Offer.Tools {
		fmt.Fprintf(&b, "- tool `%s` %s\n", t.Name, text.Visible(text.OneLine(t.Description, 120)))
	}
	for _, h := range s.Offer.Hooks {
		guard := ""
		if h.Guard {
			guard = ", refuses if it fails"
		}
		fmt.Fprintf(&b, "- hook `%s`%s\n", text.Visible(strings.TrimSpace(h.Event+" "+h.Tools)), guard)
	}
	for _, p := range s.Offer.Sections {
		fmt.Fprintf(&b, "- section `%s` of the prompt\n", p.Name)
	}
	for _, one := range s.Offer.Commands {
		fmt.Fprintf(&b, "- command `/%s` %s\n", one.Name, text.Visible(one.Help))
	}
	for _, one := range s.Offer.MemoryCommands {
		fmt.Fprintf(&b, "- command `hermes memory %s %s` %s\n", text.VisibleName(s.Name), one.Name, text.Visible(one.Help))
	}
	for _, m := range s.Offer.Models {
		fmt.Fprintf(&b, "- model `plugin:%s/%s`: %s\n", text.VisibleName(s.Name), text.VisibleName(m.Name), m.Facts())
	}
	return b.String()
}
