package skills

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/skill"
	"hermes/internal/text"
)

func (n noun) list() *cobra.Command {
	var source, category string
	var all bool
	cmd := n.verb("list", "List skills and where they come from", "hermes skills list --source hub", cobra.NoArgs, func(ctx context.Context, c *call) error {
		states, err := c.lib.States(ctx)
		if err != nil {
			return err
		}
		last, shown := "-", 0
		for _, s := range states {
			if s.Hidden != "" && !all || source != "" && string(s.Source) != source || category != "" && s.Category != category {
				continue
			}
			if s.Category != last {
				last = s.Category
				c.say("%s", cmp.Or(last, "other"))
			}
			mark := "[" + string(s.Source) + "]"
			if s.Hidden != "" {
				c.say("  – %-22s %-10s %s", s.Name, mark, s.Hidden)
				continue
			}
			shown++
			c.say("  %-24s %-10s %s", s.Name, mark, skill.Short(s.Description))
		}
		c.say("%s.", text.Plural(shown, "skill", "skills"))
		if waiting, err := c.lib.Waiting(); err == nil && len(waiting) > 0 {
			c.say("%s for your approval. Review with: hermes skills pending", text.Plural(len(waiting), "change waits", "changes wait"))
		}
		return n.hintProject(c)
	})
	cmd.Aliases = []string{"ls"}
	cmd.Flags().StringVar(&source, "source", "", "show only this source: user, hub, bundled, project or external")
	cmd.Flags().StringVar(&category, "category", "", "show only this category")
	cmd.Flags().BoolVarP(&all, "all", "a", false, "include skills that are not offered, with the reason")
	return cmd
}

// hintProject mentions skills in the working folder that are not trusted.
func (n noun) hintProject(c *call) error {
	dir, err := n.Dir()
	if err != nil {
		return err
	}
	if root, folders, trusted := c.lib.Project(dir); len(folders) > 0 && !trusted {
		c.say("The skills of the project %s are not trusted. Review and trust them with: hermes skills trust", root)
	}
	return nil
}

func (n noun) inspect() *cobra.Command {
	cmd := n.verb("inspect NAME|IDENTIFIER", "Show a skill, installed or in a registry", "hermes skills inspect debugging\n  hermes skills inspect anthropics/skills/pdf", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		if strings.ContainsAny(c.Args[0], "/:") {
			return n.inspectRemote(ctx, c)
		}
		t, err := c.lib.View(ctx, c.Args[0], "")
		if err != nil {
			return err
		}
		c.say("%s [%s] %s\n", t.Skill.Name, t.Skill.Source, t.Folder)
		c.say("%s", strings.TrimSpace(t.Content))
		if notes := t.Notes(); notes != "" {
			c.say("\n%s", notes)
		}
		return c.printInstalled(t.Skill)
	})
	cmd.Aliases = []string{"view", "show"}
	return cmd
}

// printInstalled prints where an installed skill came from.
func (c *call) printInstalled(s hermes.Skill) error {
	if s.Source != hermes.SkillHub {
		return nil
	}
	lock, err := c.lib.Installed()
	if err != nil {
		return err
	}
	rec := lock.Skills[s.Name]
	state, err := c.lib.StateOf(s.Name, rec)
	if err != nil {
		return err
	}
	c.say("\nFrom %s (trust: %s). Scan: %s. Installed %s, now %s.", rec.Identifier, rec.Trust, rec.Verdict, rec.At.Local().Format("2006-01-02"), state)
	c.printRights(rec.Rights)
	return nil
}

func (n noun) config() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Enable and disable skills", Example: "  hermes skills config disable profiling"}
	cmd.AddCommand(
		n.switched("disable NAME…", "Disable skills", "hermes skills config disable profiling", true),
		n.switched("enable NAME…", "Enable skills again", "hermes skills config enable profiling", false),
	)
	return cmd
}

func (n noun) switched(use, short, example string, off bool) *cobra.Command {
	return n.verb(use, short, example, cobra.MinimumNArgs(1), func(ctx context.Context, c *call) error {
		cfg, err := n.Config()
		if err != nil {
			return err
		}
		list := slices.Clone(cfg.Skills().Disabled)
		for _, name := range c.Args {
			if off && !slices.Contains(list, name) {
				states, err := c.lib.States(ctx)
				if err != nil {
					return err
				}
				if !slices.ContainsFunc(states, func(s skill.Status) bool { return s.Name == name }) {
					return fmt.Errorf("there is no skill %q; list them with `hermes skills list`", name)
				}
				list = append(list, name)
			}
			if !off {
				list = slices.DeleteFunc(list, func(have string) bool { return have == name })
			}
		}
		if _, err := cfg.Put(ctx, "skills.disabled", list); err != nil {
			return err
		}
		c.say("Disabled from the next session on: %s", cmp.Or(strings.Join(list, ", "), "none"))
		return nil
	})
}
