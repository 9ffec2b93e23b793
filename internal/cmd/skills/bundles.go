package skills

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/skill"
)

// NewBundlesCmd makes `hermes bundles`. Without a verb it lists the bundles.
func NewBundlesCmd(f *factory.Factory, s Source) *cobra.Command {
	n := newNoun(f, s)
	cmd := factory.Noun("bundles", "Group skills that are used together",
		"hermes bundles create release --skill github-release --skill technical-docs",
		n.bundles("list", "List bundles", "hermes bundles list", cobra.NoArgs),
		n.bundles("show NAME", "Show a bundle", "hermes bundles show release", cobra.ExactArgs(1)), n.createBundle(),
		n.simple("delete NAME", "Delete a bundle, but not its skills", "hermes bundles delete release", cobra.ExactArgs(1), func(_ context.Context, c *call) (string, error) {
			return "Deleted the bundle " + c.Args[0] + ". Its skills are kept.", c.lib.DeleteBundle(c.Args[0])
		}))
	cmd.Long = "A bundle is a name for several skills. In the chat, /NAME loads them all."
	return cmd
}

func (n noun) bundles(use, short, example string, args cobra.PositionalArgs) *cobra.Command {
	return n.verb(use, short, example, args, func(_ context.Context, c *call) error {
		all, err := c.lib.Bundles()
		shown := 0
		for _, b := range all {
			if len(c.Args) > 0 && b.Name != c.Args[0] {
				continue
			}
			shown++
			c.say("%s", strings.TrimRight(fmt.Sprintf("%-20s %s  %s", b.Name, strings.Join(b.Skills, ", "), b.Description), " "))
			if len(c.Args) > 0 && b.Instruction != "" {
				c.say("  %s", b.Instruction)
			}
		}
		switch {
		case err != nil:
			return err
		case shown == 0 && len(c.Args) > 0:
			return fmt.Errorf("there is no bundle %q; list them with `hermes bundles list`", c.Args[0])
		case shown == 0:
			c.say("No bundles yet. Create one with: hermes bundles create NAME --skill A --skill B")
		}
		return nil
	})
}

func (n noun) createBundle() *cobra.Command {
	var b skill.Bundle
	var force bool
	cmd := n.verb("create NAME", "Create a bundle", "hermes bundles create release --skill github-release --skill technical-docs", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		b.Name = c.Args[0]
		for _, name := range b.Skills {
			if _, err := c.lib.View(ctx, name, ""); err != nil {
				return err
			}
		}
		if err := c.lib.SaveBundle(b, force); err != nil {
			return err
		}
		c.say("Created /%s, which loads %s.", b.Name, strings.Join(b.Skills, ", "))
		return nil
	})
	cmd.Flags().StringSliceVar(&b.Skills, "skill", nil, "add this skill (repeatable)")
	cmd.Flags().StringVarP(&b.Description, "description", "d", "", "describe what the bundle is for")
	cmd.Flags().StringVar(&b.Instruction, "instruction", "", "add this instruction to the skills")
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing bundle")
	return cmd
}
