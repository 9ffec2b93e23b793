package skills

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"hermes"
	"hermes/internal/patch"
	"hermes/internal/skill"
	"hermes/internal/skill/guard"
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
	now, err := c.lib.View(ctx, name, "")
	if err != nil {
		return err
	}
	c.say("%s has a new version.", name)
	if wider := skill.RightsOf(p.Files).Wider(rec.Rights); len(wider) > 0 {
		c.say("  it asks for more: %s", strings.Join(wider, ", "))
	}
	files := append([]string{now.File}, now.Files...)
	for _, f := range p.Files {
		if !slices.Contains(files, f.Path) {
			files = append(files, f.Path)
		}
	}
	for _, file := range files {
		if err := c.printFile(ctx, name, file, p.Files, diff); err != nil {
			return err
		}
	}
	return nil
}

// printFile prints how a file changes, if it does.
func (c *call) printFile(ctx context.Context, name, file string, files []guard.File, diff bool) error {
	at := slices.IndexFunc(files, func(f guard.File) bool { return f.Path == file })
	var after []byte
	if at >= 0 {
		after = files[at].Data
	}
	before, err := c.lib.View(ctx, name, file)
	missing := errors.Is(err, hermes.ErrNotFound)
	verb := "changed"
	switch {
	case missing:
		verb = "new"
	case err != nil: // not a text file: it cannot be compared
		verb = "not a text file, may have changed"
	case at < 0:
		verb = "removed"
	case before.Content == string(after):
		return nil
	}
	if !diff || err != nil && !missing || !utf8.Valid(after) {
		c.say("  %s: %s", file, verb)
		return nil
	}
	fmt.Fprint(c.Out, printable(patch.Unified(name+"/"+file, name+"/"+file, before.Content, string(after))))
	return nil
}
