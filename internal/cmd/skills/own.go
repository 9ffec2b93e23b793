package skills

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/compose"
)

// draft is what a new skill begins with in the editor.
const draft = `---
name: %s
description: Say in one sentence what it does and when
metadata:
  hermes:
    tags: []
---
# %s

## When to use

## Steps
1. 

## Pitfalls

## Verification
`

func (n noun) create() *cobra.Command {
	var category, from string
	cmd := n.verb("create NAME", "Create a skill in the editor or from a file", "hermes skills create release-notes --from-file SKILL.md", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		name := c.Args[0]
		text, err := n.written(ctx, c, from, fmt.Sprintf(draft, name, name))
		if err != nil {
			return err
		}
		out, err := c.lib.Save(ctx, hermes.SkillEdit{Name: name, New: true, Category: category, Content: text})
		return c.printSaved(out, err)
	})
	cmd.Flags().StringVar(&category, "category", "", "category of the new skill")
	cmd.Flags().StringVar(&from, "from-file", "", "read SKILL.md from this `file`; - is standard input")
	return cmd
}

func (n noun) edit() *cobra.Command {
	var from, file string
	cmd := n.verb("edit NAME", "Edit a skill in the editor or from a file", "hermes skills edit release-notes", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		now, err := c.lib.View(ctx, c.Args[0], file)
		if err != nil && (file == "" || !errors.Is(err, hermes.ErrNotFound)) {
			return err
		}
		text, err := n.written(ctx, c, from, now.Content)
		if err != nil {
			return err
		}
		if text == now.Content {
			c.say("No changes.")
			return nil
		}
		out, err := c.lib.Save(ctx, hermes.SkillEdit{Name: c.Args[0], File: file, Content: text, Base: now.Hash})
		return c.printSaved(out, err)
	})
	cmd.Flags().StringVar(&from, "from-file", "", "read the content from this `file`; - is standard input")
	cmd.Flags().StringVar(&file, "file", "", "edit this file of the skill instead, such as references/api.md")
	return cmd
}

// written reads the new text from a file or the editor.
func (n noun) written(ctx context.Context, c *call, from, before string) (string, error) {
	return compose.Composer{From: from, In: c.In, Name: "SKILL.md", Terminal: n.Terminal, Edit: n.Edit}.Text(ctx, before)
}

func (c *call) printSaved(out hermes.SkillOutcome, err error) error {
	if err != nil {
		return err
	}
	c.say("Saved: %s", out.Path)
	for _, n := range out.Notes {
		c.say("  hint: %s", n)
	}
	return nil
}

func (n noun) remove() *cobra.Command {
	var yes bool
	cmd := n.verb("delete NAME", "Delete a skill (it can be restored)", "hermes skills delete release-notes", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		if _, err := c.lib.View(ctx, c.Args[0], ""); err != nil {
			return err
		}
		if err := n.confirm(c, yes, "Delete the skill "+c.Args[0]+"?"); err != nil {
			return err
		}
		out, err := c.lib.Remove(ctx, hermes.SkillRemoval{Name: c.Args[0]})
		if err != nil {
			return err
		}
		c.say("Deleted %s. Restore it with: hermes curator restore %s (archived in %s)", c.Args[0], c.Args[0], out.Path)
		return nil
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

func (n noun) reset() *cobra.Command {
	var restore, yes bool
	cmd := n.verb("reset NAME", "Reset a skill to its bundled version", "hermes skills reset debugging", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		name := c.Args[0]
		if restore {
			if err := c.lib.Restore(ctx, name); err != nil {
				return err
			}
			c.say("Restored your version of %s.", name)
			return nil
		}
		if !c.lib.Bundled(name) {
			return fmt.Errorf("there is no bundled skill %q", name)
		}
		t, err := c.lib.View(ctx, name, "")
		if err != nil {
			return err
		}
		if t.Skill.Source == hermes.SkillBundled {
			c.say("%s is already the bundled version.", name)
			return nil
		}
		if err := n.confirm(c, yes, "Archive your version of "+name+"?"); err != nil {
			return err
		}
		if err := c.lib.Archive(ctx, name, "reset to the bundled version"); err != nil {
			return err
		}
		c.say("Reset %s to the bundled version. Restore yours with: hermes skills reset %s --restore", name, name)
		return nil
	})
	cmd.Flags().BoolVar(&restore, "restore", false, "restore your archived version")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

func (n noun) optOut() *cobra.Command {
	return n.simple("opt-out", "Stop offering the bundled skills", "hermes skills opt-out", cobra.NoArgs, func(_ context.Context, c *call) (string, error) {
		return "The bundled skills are no longer offered. Offer them again with: hermes skills opt-in", c.lib.OptOut(true)
	})
}

func (n noun) optIn() *cobra.Command {
	return n.simple("opt-in", "Offer the bundled skills again", "hermes skills opt-in", cobra.NoArgs, func(_ context.Context, c *call) (string, error) {
		return "The bundled skills are offered again.", c.lib.OptOut(false)
	})
}

func (n noun) trust() *cobra.Command {
	var yes bool
	cmd := n.verb("trust [FOLDER]", "Trust the skills of a project as they are now", "hermes skills trust", cobra.MaximumNArgs(1), func(ctx context.Context, c *call) error {
		dir, err := n.folder(c)
		if err != nil {
			return err
		}
		root, folders, trusted := c.lib.Project(dir)
		if trusted {
			c.say("The skills of %s are already trusted.", root)
			return nil
		}
		for _, f := range folders {
			c.say("%s", f)
			names, _ := os.ReadDir(f) // an empty list says enough
			for _, n := range names {
				if _, err := os.Stat(filepath.Join(f, n.Name(), "SKILL.md")); err == nil {
					c.say("  %s", n.Name())
				}
			}
		}
		if len(folders) > 0 {
			if err := n.confirm(c, yes, "Trust these skills as they are now? If they change, you are asked again."); err != nil {
				return err
			}
		}
		if root, err = c.lib.Trust(ctx, dir, true); err != nil {
			return err
		}
		c.say("Trusted the skills of %s. They are used from the next session on.", root)
		return nil
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

func (n noun) untrust() *cobra.Command {
	return n.simple("untrust [FOLDER]", "Stop using the skills of a project", "hermes skills untrust", cobra.MaximumNArgs(1), func(ctx context.Context, c *call) (string, error) {
		dir, err := n.folder(c)
		if err != nil {
			return "", err
		}
		root, err := c.lib.Trust(ctx, dir, false)
		return "The skills of " + root + " are no longer used.", err
	})
}

func (n noun) folder(c *call) (string, error) {
	if len(c.Args) > 0 {
		return filepath.Abs(strings.TrimSpace(c.Args[0]))
	}
	return n.Dir()
}
