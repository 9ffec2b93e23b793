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

// tellRights tells what a skill names. It is what the person decides by;
// nothing holds the skill to it.
func (c *call) tellRights(r skill.Rights) {
	if lines := r.Lines(); len(lines) > 0 {
		c.say("It names: %s", strings.Join(lines, ", "))
	}
}

// tellNews tells what a new version changes: what it names beyond the old one
// and its files, with diff line by line.
func (c *call) tellNews(ctx context.Context, name string, p skill.Package, rec skill.Installed, diff bool) error {
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
		c.say("  it names more: %s", strings.Join(wider, ", "))
	}
	files := append([]string{now.File}, now.Files...)
	for _, f := range p.Files {
		if !slices.Contains(files, f.Path) {
			files = append(files, f.Path)
		}
	}
	for _, file := range files {
		if err := c.tellFile(ctx, name, file, p.Files, diff); err != nil {
			return err
		}
	}
	return nil
}

// tellFile tells how a file changes, if it does.
func (c *call) tellFile(ctx context.Context, name, file string, files []guard.File, diff bool) error {
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
	case err != nil: // no text: whether it changed is not told
		verb = "perhaps changed, no text"
	case at < 0:
		verb = "gone"
	case before.Content == string(after):
		return nil
	}
	if !diff || err != nil && !missing || !utf8.Valid(after) {
		c.say("  %s: %s", file, verb)
		return nil
	}
	fmt.Fprint(c.out, printable(patch.Unified(name+"/"+file, name+"/"+file, before.Content, string(after))))
	return nil
}
