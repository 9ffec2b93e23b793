package skills

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/skill"
)

// NewBundlesCmd makes `hermes bundles`; alone it lists.
func NewBundlesCmd(d Deps) *cobra.Command {
	list := d.bundles("list", "List the bundles", cobra.NoArgs)
	cmd := &cobra.Command{Use: "bundles", Short: "Names for several skills that are used together: /NAME calls them all", Args: cobra.NoArgs, RunE: list.RunE}
	cmd.AddCommand(list, d.bundles("show NAME", "Show a bundle", cobra.ExactArgs(1)), d.createBundle(),
		d.named("delete NAME", "Take a bundle away; its skills stay", func(_ context.Context, c *call, name string) (string, error) {
			return name + " is taken away.", c.lib.DeleteBundle(name)
		}))
	return cmd
}

func (d Deps) bundles(use, short string, args cobra.PositionalArgs) *cobra.Command {
	return d.verb(use, short, args, func(_ context.Context, c *call) error {
		all, err := c.lib.Bundles()
		shown := 0
		for _, b := range all {
			if len(c.args) > 0 && b.Name != c.args[0] {
				continue
			}
			shown++
			c.say("%-20s %s  %s", b.Name, strings.Join(b.Skills, ", "), b.Description)
			if len(c.args) > 0 && b.Instruction != "" {
				c.say("  %s", b.Instruction)
			}
		}
		switch {
		case err != nil:
			return err
		case shown == 0 && len(c.args) > 0:
			return fmt.Errorf("there is no bundle %q; `hermes bundles list` shows them", c.args[0])
		case shown == 0:
			c.say("There are no bundles; `hermes bundles create NAME --skill A --skill B` makes one.")
		}
		return nil
	})
}

func (d Deps) createBundle() *cobra.Command {
	var b skill.Bundle
	var force bool
	cmd := d.verb("create NAME", "Make a bundle", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		b.Name = c.args[0]
		for _, name := range b.Skills {
			if _, err := c.lib.View(ctx, name, ""); err != nil {
				return err
			}
		}
		if err := c.lib.SaveBundle(b, force); err != nil {
			return err
		}
		c.say("/%s calls %s.", b.Name, strings.Join(b.Skills, ", "))
		return nil
	})
	cmd.Flags().StringSliceVar(&b.Skills, "skill", nil, "a skill of the bundle; may be given again")
	cmd.Flags().StringVarP(&b.Description, "description", "d", "", "what it is for")
	cmd.Flags().StringVar(&b.Instruction, "instruction", "", "what to say beside the skills")
	cmd.Flags().BoolVar(&force, "force", false, "replace a bundle of this name")
	return cmd
}

// NewJourneyCmd makes `hermes journey`: what was learned, by time.
func NewJourneyCmd(d Deps) *cobra.Command {
	cmd := d.verb("journey", "Tell what the agent has learned, day by day", cobra.NoArgs, func(ctx context.Context, c *call) error {
		states, err := c.lib.States(ctx)
		if err != nil {
			return err
		}
		usage, err := c.lib.Usages()
		if err != nil {
			return err
		}
		type step struct {
			at   time.Time
			text string
		}
		var steps []step
		for _, s := range states {
			u := usage[s.Name]
			if s.Source != hermes.SkillUser || u.Created.IsZero() {
				continue
			}
			who := "you wrote"
			if u.Agent {
				who = "learned"
			}
			steps = append(steps, step{u.Created, fmt.Sprintf("%s %s: %s (used %d times, helped %d, harmed %d)", who, s.Name, skill.Short(s.Description), u.Uses, u.Wins, u.Harms)})
		}
		lock, err := c.lib.Installed()
		if err != nil {
			return err
		}
		for name, rec := range lock.Skills {
			steps = append(steps, step{rec.At, fmt.Sprintf("installed %s from %s", name, rec.Identifier)})
		}
		slices.SortFunc(steps, func(a, b step) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.text, b.text)) })
		for _, s := range steps {
			c.say("%s  %s", s.at.Local().Format("2006-01-02"), s.text)
		}
		if len(steps) == 0 {
			c.say("Nothing was learned yet. Skills come from hard tasks that ended well: say yes when the agent offers to keep the way.")
		}
		return nil
	})
	return cmd
}
