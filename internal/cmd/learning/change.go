package learning

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"hermes"
	learnings "hermes/internal/learning"
)

func (d Deps) add() *cobra.Command {
	var l hermes.Learning
	cmd := d.verb("add ERROR FIX", "Keep what helps against an error", cobra.ExactArgs(2), func(ctx context.Context, c *call) error {
		l.Pattern, l.Fix = c.args[0], c.args[1]
		admitted, err := c.Admit(l)
		if err != nil {
			return err
		}
		saved, err := c.Keep(ctx, admitted)
		if err == nil {
			c.say("Kept as %d: %s", saved.ID, clean(learnings.Line(saved)))
		}
		return err
	})
	f := cmd.Flags()
	f.StringVar(&l.Tool, "tool", "terminal", "the tool that fails so")
	f.StringVar(&l.Context, "context", "", "where it holds")
	f.StringSliceVar(&l.Tags, "tag", nil, "a tag; may be given again")
	return cmd
}

func (d Deps) remove() *cobra.Command {
	cmd := d.verb("delete ID…", "Forget learnings", cobra.MinimumNArgs(1), func(ctx context.Context, c *call) error {
		ids, err := c.ids()
		if err != nil {
			return err
		}
		gone, err := c.Delete(ctx, "person", ids...)
		if err != nil {
			return err
		}
		for _, l := range gone {
			c.say("Deleted %d: %s", l.ID, clean(learnings.Line(l)))
		}
		c.say("`hermes undo` brings back what was deleted last.")
		return nil
	})
	cmd.Aliases = []string{"remove", "rm"}
	return cmd
}

func (d Deps) merge() *cobra.Command {
	var dry bool
	cmd := d.verb("merge [ID ID…]", "Make one learning of several; without numbers, join all that say the same and retire what never helped", cobra.ArbitraryArgs, func(ctx context.Context, c *call) error {
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
			c.say("Now one, %d: %s (%s)", one.ID, clean(learnings.Line(one)), tally(one))
		}
		return err
	})
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only tell what would be done")
	return cmd
}

func (c *call) wouldMerge(ctx context.Context, ids []int64) error {
	list, err := c.Get(ctx, ids...)
	if err != nil {
		return err
	}
	if len(list) < 2 {
		return errors.New("name at least two learnings to merge")
	}
	one, err := learnings.Join(list)
	if err == nil {
		c.say("Would be one, %d: %s", one.ID, clean(one.Fix))
	}
	return err
}

func (c *call) tidy(ctx context.Context, dry bool) error {
	r, err := c.Tidy(ctx, dry)
	would := ""
	if dry {
		would = "Would be "
	}
	for _, g := range r.Merged {
		c.say("%smerged: %s, of %d", would, clean(learnings.Line(g[0])), len(g))
	}
	for _, gone := range r.Retired {
		c.say("%sretired, %s: %d %s", would, gone.Why, gone.Learning.ID, clean(learnings.Line(gone.Learning)))
	}
	if err == nil && len(r.Merged)+len(r.Retired) == 0 {
		c.say("Nothing says the same, and nothing is to be retired.")
	}
	if err != nil {
		return fmt.Errorf("not all was done: %w", err)
	}
	return nil
}
