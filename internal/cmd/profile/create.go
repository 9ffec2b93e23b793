package profile

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hermes/internal/home"
)

// plan says what a new profile begins with.
type plan struct {
	clone, all bool
	from       string // the profile to copy; "" is the current one
	use        bool
}

func (n noun) create() *cobra.Command {
	var o plan
	cmd := n.verb("create NAME", "Create a profile", "hermes profile create work --clone", cobra.ExactArgs(1), func(c *call) error { return c.create(o) })
	f := cmd.Flags()
	f.BoolVar(&o.clone, "clone", false, "copy settings, secrets, SOUL.md, skills and memory")
	f.BoolVar(&o.all, "clone-all", false, "copy everything except sessions, checkpoints, jobs, logs and caches")
	f.StringVar(&o.from, "clone-from", "", "profile to copy from (default: the current one)")
	f.BoolVar(&o.use, "use", false, "use the new profile from now on")
	return cmd
}

func (c *call) create(o plan) error {
	p, err := c.home.Sub(c.Args[0])
	if err != nil {
		return err
	}
	if p.Profile() == home.Default {
		return errors.New("the default profile always exists; choose another name")
	}
	if p.Exists() {
		return fmt.Errorf("profile %s already exists (%s)", p.Profile(), p.Path())
	}
	from, what := c.home, home.Nothing
	if o.from != "" {
		if from, err = c.existing(o.from); err != nil {
			return err
		}
	}
	switch {
	case o.all:
		what = home.AllButPast
	case o.clone || o.from != "":
		what = home.Personal
	}
	if err := p.Create(from, what); err != nil {
		return err
	}
	c.Say("Created profile %s in %s. Use it with `hermes -p %s`.", p.Profile(), p.Path(), p.Profile())
	if !o.use {
		return nil
	}
	return p.Stick()
}
