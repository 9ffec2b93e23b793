// Package trust is the command `hermes trust`: it shows the settings that a project
// brings along, and keeps whether the user trusts them.
//
// What is found and how decisions are kept is decided in internal/trust. Start at NewCmd.
package trust

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/audit"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
	"hermes/internal/trust"
)

// noun makes the verbs.
type noun struct{ *factory.Factory }

// NewCmd makes `hermes trust`; without a verb it shows the settings of a project and asks
// whether to trust them.
func NewCmd(f *factory.Factory) *cobra.Command {
	n := noun{f}
	var yes bool
	var hash string
	cmd := factory.Verb("trust [DIR]", "Trust the settings of a project", "hermes trust\n  hermes trust show ~/src/app\n  hermes trust revoke ~/src/app", cobra.MaximumNArgs(1),
		func(ctx context.Context, c *factory.Call) error { return n.trust(ctx, c, yes, hash) })
	cmd.Long = "The settings of a project (.hermes/permissions.yaml, .hermes/config.yaml, .hermes/hooks, .mcp.json and\n" +
		".cursor/mcp.json) may forbid and ask, but allow and start nothing before you trust them. They are trusted\n" +
		"as they are: when one of them changes, they must be trusted again."
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask; needs --hash")
	cmd.Flags().StringVar(&hash, "hash", "", "the hash of what you have seen, from `hermes trust show`")
	cmd.AddCommand(n.list(), n.show(), n.decline(), n.revoke())
	return cmd
}

func (n noun) store() (*trust.Store, error) { return n.App().Trust() }

// place is the folder of an argument; without one, the working folder.
func (n noun) place(arg string) (string, error) {
	dir, err := n.Dir()
	if err != nil || arg == "" {
		return dir, err
	}
	if filepath.IsAbs(arg) {
		return filepath.Clean(arg), nil
	}
	return filepath.Join(dir, arg), nil
}

func (n noun) look(arg string) (trust.Project, trust.Decision, error) {
	dir, err := n.place(arg)
	if err != nil {
		return trust.Project{}, trust.Decision{}, err
	}
	p, d, err := n.App().Project(dir)
	if err == nil && p.Empty() {
		err = fmt.Errorf("%s: %w", text.VisibleName(dir), trust.ErrNoSettings)
	}
	return p, d, err
}

func (n noun) trust(ctx context.Context, c *factory.Call, yes bool, hash string) error {
	if yes != (hash != "") {
		return errors.New("use --yes and --hash together: the hash of what you have seen is printed by `hermes trust show`")
	}
	p, d, err := n.look(c.Arg(0))
	if err != nil {
		return err
	}
	tell(c, p, d)
	switch {
	case d.State == trust.Trusted && (!yes || hash == p.Hash):
		return nil
	case yes && hash != p.Hash:
		return fmt.Errorf("the project settings are not the ones with the hash %s; look at them with `hermes trust show`, nothing was changed", text.VisibleName(hash))
	case !yes && !n.Terminal():
		return errors.New("no terminal to ask on; look at the settings with `hermes trust show`, then use --yes --hash HASH")
	case !yes:
		if err := n.Confirm(c.In, c.Out, "Trust these settings as they are?"); err != nil {
			return err
		}
	}
	return n.decide(ctx, c, p, trust.Trusted)
}

// decide keeps a decision about what was shown.
func (n noun) decide(ctx context.Context, c *factory.Call, p trust.Project, state trust.State) error {
	if err := n.App().DecideTrust(ctx, p, state); err != nil {
		return err
	}
	c.Say("The project settings of %s are now %s. %s", text.VisibleName(p.Dir), state, meaning(state))
	return nil
}

// tell shows the settings of a project.
func tell(c *factory.Call, p trust.Project, d trust.Decision) {
	q := trust.Question(p, d)
	c.Say("%s\n%s", text.VisibleName(p.Dir), strings.TrimSuffix(q.Detail, "\n"))
	c.Say("State: %s. %s", stateOf(d), meaning(d.State))
}

func stateOf(d trust.Decision) string {
	switch {
	case d.State != trust.Unknown:
		return string(d.State) + " since " + d.At.Local().Format(time.DateOnly)
	case d.Before != nil:
		return "changed since they were trusted"
	}
	return "not trusted"
}

func meaning(s trust.State) string {
	if s == trust.Trusted {
		return "They may allow what they say."
	}
	return "They may forbid and ask, but allow nothing."
}

func (n noun) show() *cobra.Command {
	return factory.Verb("show [DIR]", "Show the settings of a project", "hermes trust show", cobra.MaximumNArgs(1), func(_ context.Context, c *factory.Call) error {
		p, d, err := n.look(c.Arg(0))
		if err != nil {
			return err
		}
		tell(c, p, d)
		return nil
	})
}

func (n noun) decline() *cobra.Command {
	return factory.Verb("decline [DIR]", "Keep that you do not trust the settings of a project as they are", "hermes trust decline", cobra.MaximumNArgs(1), func(ctx context.Context, c *factory.Call) error {
		p, _, err := n.look(c.Arg(0))
		if err != nil {
			return err
		}
		return n.decide(ctx, c, p, trust.Declined)
	})
}

func (n noun) list() *cobra.Command {
	var asJSON bool
	cmd := factory.VerbOn(n.store, "list", "List the projects that you decided about", "hermes trust list", cobra.NoArgs, func(_ context.Context, c *factory.Call, s *trust.Store) error {
		list, err := s.List()
		if err != nil {
			return err
		}
		if asJSON {
			views := []view{}
			for _, e := range list {
				views = append(views, view{e.Dir, e.Root, e.Hash, e.State, e.By, e.At})
			}
			return factory.WriteJSON(c.Out, views)
		}
		for _, e := range list {
			c.Say("%-8s  %s  %s  %s", e.State, e.At.Local().Format(time.DateOnly), e.Hash[:12], text.VisibleName(e.Dir))
		}
		if len(list) == 0 {
			c.Say("You decided about no project yet. Trust the settings of one with `hermes trust DIR`.")
		}
		return nil
	})
	cmd.Aliases = []string{"ls"}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// view is a decision as JSON.
type view struct {
	Dir   string      `json:"dir"`
	Root  string      `json:"root"`
	Hash  string      `json:"hash"`
	State trust.State `json:"state"`
	By    string      `json:"by"`
	At    time.Time   `json:"at"`
}

func (n noun) revoke() *cobra.Command {
	var all bool
	named := func(_ *cobra.Command, args []string) error {
		if all != (len(args) == 0) {
			return errors.New("name the folders, or use --all; list them with `hermes trust list`")
		}
		return nil
	}
	cmd := factory.VerbOn(n.store, "revoke DIR…", "Forget what you decided about a project", "hermes trust revoke ~/src/app\n  hermes trust revoke --all", named, func(ctx context.Context, c *factory.Call, s *trust.Store) error {
		var dirs []string
		for _, arg := range c.Args {
			dir, err := n.place(arg)
			if err != nil {
				return err
			}
			if p, _, err := n.App().Project(dir); err == nil && !p.Empty() {
				dir = p.Dir // the folder that the settings are in, and where links lead
			}
			dirs = append(dirs, dir)
		}
		if all {
			list, err := s.List()
			if err != nil {
				return err
			}
			for _, e := range list {
				dirs = append(dirs, e.Dir)
			}
		}
		gone, err := s.Revoke(ctx, dirs...)
		if errors.Is(err, hermes.ErrNotFound) {
			return fmt.Errorf("%w; list them with `hermes trust list`", err)
		}
		if err != nil {
			return err
		}
		var unrecorded error
		for _, e := range gone {
			c.Say("Forgot that %s is %s.", text.VisibleName(e.Dir), e.State)
			unrecorded = errors.Join(unrecorded, n.App().Record(ctx, audit.Row{Kind: audit.KindTrust, By: "user", Dir: e.Dir, Decision: "revoked"}))
		}
		if unrecorded != nil {
			return unrecorded
		}
		if len(gone) == 0 {
			c.Say("There are no decisions.")
		}
		return nil
	})
	cmd.Flags().BoolVar(&all, "all", false, "forget all decisions")
	return cmd
}
