package skills

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func (n noun) pending() *cobra.Command {
	return n.verb("pending", "List changes by the agent that wait for your approval", "hermes skills pending", cobra.NoArgs, func(_ context.Context, c *call) error {
		list, err := c.lib.Waiting()
		if err != nil {
			return err
		}
		for _, p := range list {
			c.say("%s  %s  %s", p.ID, p.At.Local().Format("2006-01-02 15:04"), p.What())
			if why := p.Why(); why != "" {
				c.say("    %s", why)
			}
			if o := p.Provenance(); o != "" {
				c.say("    proposed after reading %s", o)
			}
		}
		if len(list) == 0 {
			c.say("No pending changes.")
		}
		return nil
	})
}

func (n noun) diff() *cobra.Command {
	return n.verb("diff ID", "Show a pending change as a diff", "hermes skills diff k3f9ab", cobra.ExactArgs(1), func(_ context.Context, c *call) error {
		diff, err := c.lib.Diff(c.args[0])
		if err == nil {
			fmt.Fprint(c.out, diff)
		}
		return err
	})
}

func (n noun) approve() *cobra.Command {
	return n.verb("approve ID…|all", "Apply pending changes", "hermes skills approve k3f9ab", cobra.MinimumNArgs(1), func(ctx context.Context, c *call) error {
		return c.each(func(id string) error {
			out, err := c.lib.Approve(ctx, id)
			if err == nil {
				c.say("Approved %s: %s", id, out.Path)
			}
			return err
		})
	})
}

func (n noun) reject() *cobra.Command {
	return n.verb("reject ID…|all", "Discard pending changes", "hermes skills reject k3f9ab", cobra.MinimumNArgs(1), func(_ context.Context, c *call) error {
		return c.each(func(id string) error {
			err := c.lib.Reject(id)
			if err == nil {
				c.say("Rejected %s.", id)
			}
			return err
		})
	})
}

// each runs do for every change that is named, or for all.
func (c *call) each(do func(id string) error) error {
	ids := c.args
	if len(ids) == 1 && ids[0] == "all" {
		list, err := c.lib.Waiting()
		if err != nil {
			return err
		}
		ids = nil
		for _, p := range list {
			ids = append(ids, p.ID)
		}
	}
	var faults []error
	for _, id := range ids {
		faults = append(faults, do(id))
	}
	return errors.Join(faults...)
}
