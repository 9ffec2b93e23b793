package learning

import (
	"context"

	"github.com/spf13/cobra"

	learnings "hermes/internal/learning"
)

func (n noun) pending() *cobra.Command {
	return n.verb("pending", "List learnings that wait for your approval", "hermes learning pending", cobra.NoArgs, func(_ context.Context, c *call) error {
		list, err := c.Proposals()
		if err != nil {
			return err
		}
		if len(list) == 0 {
			c.say("No pending learnings.")
		}
		for _, p := range list {
			c.say("%s   %s, session %s\n%s", p.ID, p.At.Local().Format("2006-01-02 15:04"), orElse(clean(p.Learning.Session), "unknown"), clean(p.Describe()))
		}
		return nil
	})
}

func (n noun) approve() *cobra.Command {
	return n.decide("approve", "Save pending learnings", func(ctx context.Context, c *call, id string) error {
		saved, replaced, err := c.Approve(ctx, id)
		if err != nil {
			return err
		}
		c.say("Approved %s as %d: %s", id, saved.ID, clean(learnings.Line(saved)))
		if replaced != "" {
			c.say("This replaces the fix %q. Undo with: hermes undo", clean(replaced))
		}
		return nil
	})
}

func (n noun) reject() *cobra.Command {
	return n.decide("reject", "Discard pending learnings", func(_ context.Context, c *call, id string) error {
		err := c.Reject(id)
		if err == nil {
			c.say("Rejected %s.", id)
		}
		return err
	})
}

// decide makes a verb for pending learnings: the given ones, or all.
func (n noun) decide(verb, short string, do func(ctx context.Context, c *call, id string) error) *cobra.Command {
	return n.verb(verb+" ID…|all", short, "hermes learning "+verb+" all", cobra.MinimumNArgs(1), func(ctx context.Context, c *call) error {
		ids := c.args
		if len(ids) == 1 && ids[0] == "all" {
			var err error
			if ids, err = c.Waiting(); err != nil {
				return err
			}
			if len(ids) == 0 {
				c.say("No pending learnings.")
			}
		}
		for _, id := range ids {
			if err := do(ctx, c, id); err != nil {
				return err
			}
		}
		return nil
	})
}
