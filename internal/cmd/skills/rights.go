package skills

import (
	"context"
	"fmt"
	"strings"

	"hermes/internal/markup"
	"hermes/internal/skill"
)

// printRights prints what a skill asks for, so that the user can decide. Nothing
// enforces it later.
func (c *call) printRights(r skill.Rights) {
	if lines := r.Lines(); len(lines) > 0 {
		c.say("It asks for: %s", strings.Join(lines, ", "))
	}
}

// printUpdate prints what a new version changes: what it asks for in addition,
// and its files. With diff it prints the changed lines too.
func (c *call) printUpdate(ctx context.Context, name string, p skill.Package, rec skill.Installed, diff bool) error {
	p, err := p.Named(name)
	if err != nil {
		return err
	}
	if p.Hash() == rec.Hash {
		if diff {
			c.say("%s is up to date.", name)
		}
		return nil
	}
	changes, err := c.lib.Compare(ctx, name, p)
	if err != nil {
		return err
	}
	c.say("%s has a new version.", name)
	if wider := skill.RightsOf(p.Files).Wider(rec.Rights); len(wider) > 0 {
		c.say("  it asks for more: %s", strings.Join(wider, ", "))
	}
	for _, f := range changes {
		if diff && f.Diff != "" {
			fmt.Fprint(c.Out, markup.Visible(f.Diff))
		} else {
			c.say("  %s: %s", f.Path, f.What)
		}
	}
	return nil
}
