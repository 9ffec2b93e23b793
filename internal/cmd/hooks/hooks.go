// Package hooks is the command `hermes hooks`: it lists the hooks that are configured, tries them, says what is
// wrong with them, and revokes a consent.
//
// What a hook is and how it runs is decided in internal/hook/script, and what the user has agreed to in
// internal/app. Start at NewCmd.
package hooks

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
)

// noun makes the verbs.
type noun struct{ *factory.Factory }

// NewCmd makes `hermes hooks`; without a verb it lists them.
func NewCmd(f *factory.Factory) *cobra.Command {
	n := noun{f}
	cmd := factory.Noun("hooks", "List, try and check hooks", "hermes hooks\n  hermes hooks test PreToolUse\n  hermes hooks doctor", n.list(), n.test(), n.doctor(), n.revoke())
	cmd.Long = "Hooks are commands and requests in config.yaml that run at events of a session. One runs only after you have\n" +
		"agreed to it and to the scripts that it names, as they are. You are asked when a chat begins."
	return cmd
}

// view is a hook as JSON.
type view struct {
	Event   string        `json:"event"`
	Matcher string        `json:"matcher,omitempty"`
	If      string        `json:"if,omitempty"`
	Hook    string        `json:"hook"`
	State   app.HookState `json:"state"`
	Why     string        `json:"why,omitempty"`
	Warning string        `json:"warning,omitempty"`
	Changed []string      `json:"changed,omitempty"`
	Agreed  time.Time     `json:"agreed,omitzero"`
	By      string        `json:"by,omitempty"`
	Source  string        `json:"source"`
	Project string        `json:"project,omitempty"`
	Hash    string        `json:"hash,omitempty"`
}

func viewOf(h app.Hook, tools []string) view {
	return view{h.Event, h.Matcher, h.If, h.Line(), h.State, h.Why, h.Unmatched(tools), h.Changed, h.Agreed, h.By, h.Source, h.Project, h.Identity.Hash}
}

func (n noun) hooks() ([]app.Hook, string, error) {
	if _, err := n.App().Config(); err != nil {
		return nil, "", err
	}
	dir, err := n.Dir()
	if err != nil {
		return nil, "", err
	}
	return n.App().Hooks(dir), dir, nil
}

func (n noun) list() *cobra.Command {
	var asJSON, events bool
	cmd := factory.Verb("list", "List hooks and whether they run", "hermes hooks list", cobra.NoArgs, func(ctx context.Context, c *factory.Call) error {
		if events {
			return printEvents(c, asJSON)
		}
		list, _, err := n.hooks()
		if err != nil {
			return err
		}
		tools, err := n.App().HookTools(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			views := make([]view, len(list))
			for i, h := range list {
				views[i] = viewOf(h, tools)
			}
			return factory.WriteJSON(c.Out, views)
		}
		if len(list) == 0 {
			c.Say("No hooks are configured. They go below hooks in config.yaml.")
			return nil
		}
		t := factory.Table{Fit: n.Width()}
		t.Row("EVENT", "MATCHER", "STATE", "FROM", "HOOK")
		for _, h := range list {
			from := "config.yaml"
			if h.Project != "" {
				from = text.VisibleName(h.Project)
			}
			t.Row(h.Event, text.VisibleName(h.Concern()), h.State, from, text.OneLine(text.Visible(h.Line()), 400))
		}
		if err := t.Print(c.Out); err != nil {
			return err
		}
		for _, h := range list {
			if why := h.Unmatched(tools); why != "" {
				c.Say("%s %s: %s", h.Event, text.OneLine(text.Visible(h.Line()), 200), text.Visible(why))
			}
		}
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&events, "events", false, "list the events instead")
	cmd.Aliases = []string{"ls"}
	return cmd
}

func printEvents(c *factory.Call, asJSON bool) error {
	if asJSON {
		return factory.WriteJSON(c.Out, app.HookEvents())
	}
	var t factory.Table
	t.Row("EVENT", "MATCHER", "WHEN")
	for _, e := range app.HookEvents() {
		when := e.When
		if e.Waits != "" {
			when = "not yet: waits for " + e.Waits
		}
		t.Row(e.Name, e.Matcher, when)
	}
	return t.Print(c.Out)
}

func (n noun) revoke() *cobra.Command {
	var all bool
	cmd := factory.Verb("revoke [COMMAND|HASH...]", "Revoke your consent to hooks", "hermes hooks revoke ./check.sh", cobra.ArbitraryArgs, func(ctx context.Context, c *factory.Call) error {
		if all == (len(c.Args) > 0) {
			return errWhich
		}
		gone, err := n.App().RevokeHooks(ctx, func(o app.HookConsent) bool { return all || named(o, c.Args) })
		if err != nil {
			return err
		}
		if len(gone) == 0 {
			return errNone
		}
		for _, o := range gone {
			c.Say("No longer runs: %s %s", o.Event, text.OneLine(text.Visible(o.Line), 400))
		}
		return nil
	})
	cmd.Flags().BoolVar(&all, "all", false, "all of them")
	cmd.Aliases = []string{"remove", "rm"}
	return cmd
}
