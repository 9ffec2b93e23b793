package learning

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hermes"
	learnings "hermes/internal/learning"
	"hermes/internal/markup"
)

func (n noun) add() *cobra.Command {
	var l hermes.Learning
	cmd := n.verb("add ERROR FIX", "Add a fix for an error", "hermes learning add \"externally-managed-environment\" \"use uv\"", cobra.ExactArgs(2), func(ctx context.Context, c *call) error {
		l.Pattern, l.Fix = c.args[0], c.args[1]
		admitted, err := c.Admit(l)
		if err != nil {
			return err
		}
		saved, replaced, err := c.Keep(ctx, admitted)
		if err != nil {
			return err
		}
		c.say("Added %d: %s", saved.ID, markup.Visible(learnings.Line(saved)))
		if replaced != "" {
			c.say("This replaces the fix %q. Undo with: hermes undo", markup.Visible(replaced))
		}
		return nil
	})
	f := cmd.Flags()
	f.StringVar(&l.Tool, "tool", "terminal", "tool that reports the error")
	f.StringVar(&l.Context, "context", "", "where the fix applies")
	f.StringSliceVar(&l.Tags, "tag", nil, "add this tag (repeatable)")
	return cmd
}

func (n noun) remove() *cobra.Command {
	cmd := n.verb("delete ID…", "Delete learnings", "hermes learning delete 3", cobra.MinimumNArgs(1), func(ctx context.Context, c *call) error {
		ids, err := c.ids()
		if err != nil {
			return err
		}
		gone, err := c.Delete(ctx, "person", ids...)
		if err != nil {
			return err
		}
		for _, l := range gone {
			c.say("Deleted %d: %s", l.ID, markup.Visible(learnings.Line(l)))
		}
		c.say("Undo the last deletion with: hermes undo")
		return nil
	})
	cmd.Aliases = []string{"remove", "rm"}
	return cmd
}

func (n noun) merge() *cobra.Command {
	var dry bool
	cmd := n.verb("merge [ID ID…]", "Merge learnings that say the same", "hermes learning merge 3 7\n  hermes learning merge --dry-run", cobra.ArbitraryArgs, func(ctx context.Context, c *call) error {
		ids, err := c.ids()
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			return c.tidy(ctx, dry)
		}
		if dry {
			return c.wouldMerge(ctx, ids)
		}
		one, err := c.Merge(ctx, "person", ids...)
		if err == nil {
			c.say("Merged into %d: %s (%s)", one.ID, markup.Visible(learnings.Line(one)), tally(one))
		}
		return err
	})
	cmd.Long = "Merge the given learnings into one. Without ids, merge all that say the same,\nand remove fixes that never helped."
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would be done, and change nothing")
	return cmd
}

func (c *call) wouldMerge(ctx context.Context, ids []int64) error {
	list, err := c.Get(ctx, ids...)
	if err != nil {
		return err
	}
	if len(list) < 2 {
		return errors.New("give at least two learnings to merge")
	}
	one, err := learnings.Join(list)
	if err == nil {
		c.say("Would merge into %d: %s", one.ID, markup.Visible(one.Fix))
	}
	return err
}

func (c *call) tidy(ctx context.Context, dry bool) error {
	r, err := c.Tidy(ctx, dry)
	merged, retired := "Merged", "Retired"
	if dry {
		merged, retired = "Would merge", "Would retire"
	}
	for _, g := range r.Merged {
		c.say("%s %d: %s", merged, len(g), markup.Visible(learnings.Line(g[0])))
	}
	for _, gone := range r.Retired {
		c.say("%s (%s): %d %s", retired, gone.Why, gone.Learning.ID, markup.Visible(learnings.Line(gone.Learning)))
	}
	if err == nil && len(r.Merged)+len(r.Retired) == 0 {
		c.say("Nothing to merge or retire.")
	}
	if err != nil {
		return fmt.Errorf("not completed: %w", err)
	}
	return nil
}
