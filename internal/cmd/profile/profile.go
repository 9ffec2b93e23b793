// Package profile is the command `hermes profile`. It lists, creates, selects and
// deletes profiles: separate homes with their own settings, sessions, memory and
// skills.
//
// It does not decide which profile a run uses; internal/home does. Start at
// NewCmd.
package profile

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/home"
)

// noun makes the verbs.
type noun struct {
	*factory.Factory
	used func(home.Dir) (bool, error)
}

// call is one use of a verb, with the home to work from.
type call struct {
	*factory.Call
	home home.Dir
}

// NewCmd makes `hermes profile`; without a verb it lists. used reports whether a process
// has a profile open, so that it must not be deleted; nil means unknown.
func NewCmd(f *factory.Factory, used func(home.Dir) (bool, error)) *cobra.Command {
	n := noun{f, used}
	cmd := factory.Noun("profile", "Manage profiles with separate settings, sessions, memory and skills",
		"hermes profile create work --clone\n  hermes profile use work",
		n.list(), n.show(), n.use(), n.create(), n.remove())
	cmd.Long = "Manage profiles. A profile is a separate home in profiles/ of the main home. Use one for a single run\n" +
		"with `-p NAME`, or from now on with `hermes profile use NAME`. A profile is not a sandbox."
	return cmd
}

// verb makes a command that works with the home.
func (n noun) verb(use, short, example string, args cobra.PositionalArgs, do func(*call) error) *cobra.Command {
	return factory.Verb(use, short, example, args, func(_ context.Context, c *factory.Call) error {
		h, err := n.home()
		if err != nil {
			return err
		}
		return do(&call{c, h})
	})
}

// home is the home to work from. With a *home.ProfileError there is also the main home.
// That is enough here, since these commands repair the choice of a missing profile.
func (n noun) home() (home.Dir, error) {
	h, err := n.App().Home()
	if _, missing := errors.AsType[*home.ProfileError](err); missing && h != (home.Dir{}) {
		return h, nil
	}
	return h, err
}

// completeNames offers the names of the profiles.
func (n noun) completeNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if h, err := n.home(); err == nil {
		names, _ = h.Profiles()
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// existing returns a profile that exists.
func (c *call) existing(name string) (home.Dir, error) {
	p, err := c.home.Sub(name)
	if err == nil && p.Profile() != home.Default && !p.Exists() {
		err = &home.ProfileError{Name: p.Profile(), Missing: true}
	}
	return p, err
}

func (n noun) use() *cobra.Command {
	cmd := n.verb("use NAME", "Use a profile from now on", "hermes profile use work\n  hermes profile use default", cobra.ExactArgs(1), func(c *call) error {
		p, err := c.existing(c.Args[0])
		if err != nil {
			return err
		}
		if err := p.Stick(); err != nil {
			return err
		}
		c.Say("Using profile %s from now on (%s).", p.Profile(), p.Path())
		return nil
	})
	cmd.ValidArgsFunction = n.completeNames
	return cmd
}
