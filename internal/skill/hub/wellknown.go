package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"hermes"
	"hermes/internal/skill/guard"
)

// wellKnown is any site that publishes an index of skills under /.well-known.
type wellKnown struct {
	*web
	sites []string
}

func (*wellKnown) name() string { return "well-known" }

// wellEntry is a skill of an index. It has either a list of files (paths, perhaps
// with digests) or the URL of a SKILL.md or an archive.
type wellEntry struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Files       []wellFile `json:"files"`
	URL         string     `json:"url"`
	Digest      string     `json:"digest"`
}

type wellFile struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

// UnmarshalJSON also accepts a plain path, as in older indexes.
func (f *wellFile) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &f.Path) == nil {
		return nil
	}
	type plain wellFile
	return json.Unmarshal(raw, (*plain)(f))
}

// index reads the index of a site; base is the URL of its folder.
func (w *wellKnown) index(ctx context.Context, site string) (list []wellEntry, base string, err error) {
	u, err := url.Parse(site)
	if err != nil || u.Host == "" {
		return nil, "", fmt.Errorf("%q is not the URL of a site", site)
	}
	root := u.Scheme + "://" + u.Host
	folders := []string{"/.well-known/agent-skills/", "/.well-known/skills/"}
	for _, f := range folders {
		if at := strings.Index(u.Path, f); at >= 0 {
			folders = []string{u.Path[:at] + f}
			break
		}
	}
	var faults []error
	for _, f := range folders {
		var file struct {
			Skills []wellEntry `json:"skills"`
		}
		if err := w.getJSON(ctx, root+f+"index.json", nil, &file); err != nil {
			faults = append(faults, err)
			continue
		}
		return file.Skills, root + f, nil
	}
	return nil, "", errors.Join(faults...)
}

func (w *wellKnown) search(ctx context.Context, query string, limit int) ([]Listing, error) {
	sites := w.sites
	if strings.HasPrefix(query, "https://") || strings.HasPrefix(query, "http://") {
		sites, query = []string{query}, ""
	}
	var out []Listing
	var faults []error
	for _, site := range sites {
		list, base, err := w.index(ctx, site)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		for _, e := range list {
			if len(out) < limit && fits(query, e.Name, e.Description) {
				out = append(out, Listing{Name: e.Name, Description: e.Description, Source: w.name(), Identifier: "well-known:" + base + e.Name, Trust: guard.Community})
			}
		}
	}
	return out, errors.Join(faults...)
}

// fetch takes the URL of the site or index followed by the name of the skill:
// https://host/.well-known/skills/NAME.
func (w *wellKnown) fetch(ctx context.Context, id string) (Package, error) {
	id = strings.TrimSuffix(strings.TrimSuffix(id, "/SKILL.md"), "/")
	name := path.Base(id)
	list, base, err := w.index(ctx, id)
	if err != nil {
		return Package{}, err
	}
	var names []string
	for _, e := range list {
		if e.Name == name {
			files, err := w.files(ctx, base, e)
			return Package{Files: files, Version: e.Digest, Trust: guard.Community, Identifier: "well-known:" + base + name}, err
		}
		names = append(names, e.Name)
	}
	return Package{}, fmt.Errorf("%s has no skill %q; it has: %s: %w", base, name, strings.Join(names[:min(len(names), 30)], ", "), hermes.ErrNotFound)
}

func (w *wellKnown) files(ctx context.Context, base string, e wellEntry) ([]guard.File, error) {
	if e.URL != "" {
		return w.artifact(ctx, base, e)
	}
	if len(e.Files) > guard.MaxFiles {
		return nil, fmt.Errorf("it lists %d files; a skill has at most %d", len(e.Files), guard.MaxFiles)
	}
	var out []guard.File
	for _, f := range e.Files {
		if f.Path == "" || path.IsAbs(f.Path) || strings.Contains("/"+f.Path+"/", "/../") || strings.ContainsAny(f.Path, `\?#`) {
			return nil, fmt.Errorf("its index lists %q, which is not a valid path", f.Path)
		}
		raw, err := w.get(ctx, base+e.Name+"/"+f.Path, guard.MaxFile, nil)
		if err != nil {
			return nil, err
		}
		if err := verify(raw, f.Digest, f.Path); err != nil {
			return nil, err
		}
		out = append(out, guard.File{Path: f.Path, Data: raw})
	}
	return out, nil
}

// artifact fetches a skill that is one file: a SKILL.md or an archive.
func (w *wellKnown) artifact(ctx context.Context, base string, e wellEntry) ([]guard.File, error) {
	from, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	at, err := from.Parse(e.URL)
	if err != nil {
		return nil, fmt.Errorf("its URL %q is invalid", e.URL)
	}
	raw, err := w.get(ctx, at.String(), maxArchive, nil)
	if err != nil {
		return nil, err
	}
	if err := verify(raw, e.Digest, e.URL); err != nil {
		return nil, err
	}
	switch {
	case strings.HasSuffix(at.Path, ".zip"):
		return unzip(raw)
	case strings.HasSuffix(at.Path, ".tar.gz"), strings.HasSuffix(at.Path, ".tgz"):
		files, err := untar(raw, false, func(string) bool { return true })
		return rooted(files), err
	}
	return []guard.File{{Path: "SKILL.md", Data: raw}}, nil
}

// verify compares content with the digest in the index. Without one it accepts
// any content.
func verify(raw []byte, digest, what string) error {
	want, ok := strings.CutPrefix(digest, "sha256:")
	if !ok {
		return nil
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != want {
		return fmt.Errorf("%s does not match its digest in the index; do not use it", what)
	}
	return nil
}
