package skills

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

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
			c.say("%s", strings.TrimRight(fmt.Sprintf("%-20s %s  %s", b.Name, strings.Join(b.Skills, ", "), b.Description), " "))
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
