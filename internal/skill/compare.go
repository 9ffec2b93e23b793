package skill

import (
	"context"
	"errors"
	"slices"
	"unicode/utf8"

	"hermes"
	"hermes/internal/patch"
)

// FileChange says how a new version of a skill changes one of its files.
type FileChange struct {
	Path string // in the skill
	What string // one or a few words, such as new
	Diff string // a unified diff; "" if the content is no text
}

// Compare lists the files of an installed skill that a new version changes. SKILL.md is
// the first, then come the other files that it has, then new ones.
func (l *Library) Compare(ctx context.Context, name string, p Package) ([]FileChange, error) {
	now, err := l.View(ctx, name, "")
	if err != nil {
		return nil, err
	}
	files := append([]string{now.File}, now.Files...)
	after := map[string][]byte{}
	for _, f := range p.Files {
		after[f.Path] = f.Data
		if !slices.Contains(files, f.Path) {
			files = append(files, f.Path)
		}
	}
	var changes []FileChange
	for _, file := range files {
		data, kept := after[file]
		c := FileChange{Path: file, What: "changed"}
		before, err := l.View(ctx, name, file)
		missing := errors.Is(err, hermes.ErrNotFound)
		switch {
		case missing:
			c.What = "new"
		case err != nil: // not a text file: it cannot be compared
			c.What = "not a text file, may have changed"
		case !kept:
			c.What = "removed"
		case before.Content == string(data):
			continue
		}
		if (err == nil || missing) && utf8.Valid(data) {
			c.Diff = patch.Unified(name+"/"+file, name+"/"+file, before.Content, string(data))
		}
		changes = append(changes, c)
	}
	return changes, nil
}
