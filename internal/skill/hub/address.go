package hub

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"hermes"
	"hermes/internal/lazy"
	"hermes/internal/skill/guard"
)

// address is a single SKILL.md at a URL. Of its other files only those that it
// mentions are fetched.
type address struct{ *web }

func (*address) name() string { return "url" }

func (*address) search(context.Context, string, int) ([]Listing, error) { return nil, nil }

// named finds the files that the text of a skill mentions.
var named = lazy.Regexp(`\b(?:references|templates|scripts|assets)/[\w./-]*[\w-]`)

func (a *address) fetch(ctx context.Context, id string) (Package, error) {
	base, err := url.Parse(id)
	if err != nil {
		return Package{}, err
	}
	raw, err := a.get(ctx, id, guard.MaxFile, nil)
	if err != nil {
		return Package{}, err
	}
	p := Package{Files: []guard.File{{Path: "SKILL.md", Data: raw}}, Trust: guard.Community, Identifier: id}
	seen := map[string]bool{}
	for _, file := range named().FindAllString(string(raw), -1) {
		if seen[file] || len(seen) >= guard.MaxFiles || path.Clean(file) != file || path.Ext(file) == "" {
			continue
		}
		seen[file] = true
		data, err := a.get(ctx, base.JoinPath("..", file).String(), guard.MaxFile, nil)
		if errors.Is(err, hermes.ErrNotFound) {
			continue // mentioned, but not published
		}
		if err != nil {
			return Package{}, err
		}
		p.Files = append(p.Files, guard.File{Path: file, Data: data})
	}
	return p, nil
}

// folder is a skill on this machine that is not in the library yet.
type folder struct{}

func (folder) name() string { return "folder" }

func (folder) search(context.Context, string, int) ([]Listing, error) { return nil, nil }

func (folder) fetch(_ context.Context, id string) (Package, error) {
	if rest, ok := strings.CutPrefix(id, "~"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return Package{}, err
		}
		id = home + rest
	}
	at, err := filepath.Abs(strings.TrimSuffix(id, "SKILL.md"))
	if err != nil {
		return Package{}, err
	}
	files, err := guard.Read(at)
	return Package{Files: files, Trust: guard.Community, Identifier: at}, err
}
