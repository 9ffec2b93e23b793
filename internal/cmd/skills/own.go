package skills

import (
	"context"
	"errors"
	"fmt"
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

func (d Deps) create() *cobra.Command {
	var category, from string
	cmd := d.verb("create NAME", "Write a skill of your own, in the editor or from a file", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		name := c.args[0]
		text, err := d.written(ctx, c, from, fmt.Sprintf(draft, name, name))
		if err != nil {
			return err
		}
		out, err := c.lib.Save(ctx, hermes.SkillEdit{Name: name, New: true, Category: category, Content: text})
		return c.tellSaved(out, err)
	})
	cmd.Flags().StringVar(&category, "category", "", "put it into this category")
	cmd.Flags().StringVar(&from, "from-file", "", "take the SKILL.md from here; - is the standard input")
	return cmd
}

func (d Deps) edit() *cobra.Command {
	var from, file string
	cmd := d.verb("edit NAME", "Change a skill, in the editor or from a file", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		now, err := c.lib.View(ctx, c.args[0], file)
		if err != nil && (file == "" || !errors.Is(err, hermes.ErrNotFound)) {
			return err
		}
		text, err := d.written(ctx, c, from, now.Content)
		if err != nil {
			return err
		}
		if text == now.Content {
			c.say("Nothing has changed.")
			return nil
		}
		out, err := c.lib.Save(ctx, hermes.SkillEdit{Name: c.args[0], File: file, Content: text, Base: now.Hash})
		return c.tellSaved(out, err)
	})
	cmd.Flags().StringVar(&from, "from-file", "", "take the content from here; - is the standard input")
	cmd.Flags().StringVar(&file, "file", "", "another file of the skill, such as references/api.md")
	return cmd
}

// written is a text as the person writes it: in a file, or in the editor.
func (d Deps) written(ctx context.Context, c *call, from, before string) (string, error) {
	return compose.Composer{From: from, In: c.in, Name: "SKILL.md", Terminal: d.Terminal, Edit: d.Edit}.Text(ctx, before)
}

func (c *call) tellSaved(out hermes.SkillOutcome, err error) error {
	if err != nil {
		return err
	}
	c.say("Saved: %s", out.Path)
	for _, n := range out.Notes {
		c.say("  could be better: %s", n)
	}
	return nil
}

func (d Deps) remove() *cobra.Command {
	var yes bool
	cmd := d.verb("delete NAME", "Take a skill of your own away; it can be restored", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		if _, err := c.lib.View(ctx, c.args[0], ""); err != nil {
			return err
		}
		if err := d.agreed(c, yes, "Take the skill "+c.args[0]+" away?"); err != nil {
			return err
		}
		out, err := c.lib.Remove(ctx, hermes.SkillRemoval{Name: c.args[0]})
		if err != nil {
			return err
		}
		c.say("%s is taken away; bring it back with: hermes curator restore %s (it lies in %s)", c.args[0], c.args[0], out.Path)
		return nil
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (d Deps) reset() *cobra.Command {
	var restore, yes bool
	cmd := d.verb("reset NAME", "Go back to the bundled version of a skill that you changed", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		name := c.args[0]
		if restore {
			if err := c.lib.Restore(ctx, name); err != nil {
				return err
			}
			c.say("Your version of %s is back.", name)
			return nil
		}
		if !c.lib.Bundled(name) {
			return fmt.Errorf("no bundled skill is called %q", name)
		}
		t, err := c.lib.View(ctx, name, "")
		if err != nil {
			return err
		}
		if t.Skill.Source == hermes.SkillBundled {
			c.say("%s is the bundled version already.", name)
			return nil
		}
		if err := d.agreed(c, yes, "Put your version of "+name+" into the archive?"); err != nil {
			return err
		}
		if err := c.lib.Archive(ctx, name, "reset to the bundled version"); err != nil {
			return err
		}
		c.say("%s is the bundled version again; yours comes back with: hermes skills reset %s --restore", name, name)
		return nil
	})
	cmd.Flags().BoolVar(&restore, "restore", false, "bring the archived version back")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (d Deps) optOut() *cobra.Command {
	return d.verb("opt-out", "Do not offer the bundled skills", cobra.NoArgs, func(_ context.Context, c *call) error {
		if err := c.lib.OptOut(true); err != nil {
			return err
		}
		c.say("The bundled skills are not offered any more; `hermes skills opt-in` brings them back.")
		return nil
	})
}

func (d Deps) optIn() *cobra.Command {
	return d.verb("opt-in", "Offer the bundled skills again", cobra.NoArgs, func(_ context.Context, c *call) error {
		if err := c.lib.OptOut(false); err != nil {
			return err
		}
		c.say("The bundled skills are offered.")
		return nil
	})
}

func (d Deps) trust() *cobra.Command {
	var yes bool
	cmd := d.verb("trust [FOLDER]", "Use the skills of a project, as they are now", cobra.MaximumNArgs(1), func(ctx context.Context, c *call) error {
		dir, err := d.folder(c)
		if err != nil {
			return err
		}
		root, folders, trusted := c.lib.Project(dir)
		if trusted {
			c.say("%s is trusted as it is.", root)
			return nil
		}
		for _, f := range folders {
			c.say("%s", f)
			names, _ := filepath.Glob(filepath.Join(f, "*", "SKILL.md")) // the pattern is fine
			for _, n := range names {
				c.say("  %s", filepath.Base(filepath.Dir(n)))
			}
		}
		if len(folders) > 0 {
			if err := d.agreed(c, yes, "Trust these skills as they are now? A change asks anew."); err != nil {
				return err
			}
		}
		if root, err = c.lib.Trust(ctx, dir, true); err != nil {
			return err
		}
		c.say("The skills of %s are used from the next session on.", root)
		return nil
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (d Deps) untrust() *cobra.Command {
	return d.verb("untrust [FOLDER]", "Do not use the skills of a project any more", cobra.MaximumNArgs(1), func(ctx context.Context, c *call) error {
		dir, err := d.folder(c)
		if err != nil {
			return err
		}
		root, err := c.lib.Trust(ctx, dir, false)
		if err != nil {
			return err
		}
		c.say("The skills of %s are not used any more.", root)
		return nil
	})
}

func (d Deps) folder(c *call) (string, error) {
	if len(c.args) > 0 {
		return filepath.Abs(strings.TrimSpace(c.args[0]))
	}
	return d.Dir()
}
