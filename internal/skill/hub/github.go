package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/skill/guard"
)

// github finds skills in repositories. Every folder with a SKILL.md is one.
type github struct {
	*web
	api, raw string
	token    hermes.Secret
	taps     []string
}

func (*github) name() string { return "github" }

func (g *github) header() http.Header {
	h := http.Header{"Accept": {"application/vnd.github+json"}, "X-Github-Api-Version": {"2022-11-28"}}
	if t := g.token.Reveal(); t != "" {
		h.Set("Authorization", "Bearer "+t)
	}
	return h
}

// describing limits how many SKILL.md a search reads for their descriptions.
const describing = 20

func (g *github) search(ctx context.Context, query string, limit int) ([]Listing, error) {
	var out []Listing
	var faults []error
	for _, repo := range g.taps {
		folders, err := g.folders(ctx, repo)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", repo, err))
			continue
		}
		for _, f := range folders {
			if len(out) >= limit || !fits(query, f, repo) {
				continue
			}
			l := Listing{Name: cmp.Or(path.Base(f), path.Base(repo)), Source: "github", Identifier: strings.TrimSuffix(repo+"/"+f, "/"), Trust: guard.TrustOf(repo + "/")}
			if len(out) < describing {
				l.Description = g.description(ctx, repo, f)
			}
			out = append(out, l)
		}
	}
	return out, errors.Join(faults...)
}

// folders lists the folders of a repository that have a skill; "" is the top
// folder.
func (g *github) folders(ctx context.Context, repo string) ([]string, error) {
	if err := checkRepo(repo); err != nil {
		return nil, err
	}
	var tree struct {
		Tree []struct{ Path, Type string }
	}
	if err := g.getJSON(ctx, g.api+"/repos/"+repo+"/git/trees/HEAD?recursive=1", g.header(), &tree); err != nil {
		return nil, err
	}
	var out []string
	for _, e := range tree.Tree {
		if e.Type == "blob" && path.Base(e.Path) == "SKILL.md" {
			out = append(out, strings.TrimPrefix(path.Dir(e.Path), "."))
		}
	}
	return out, nil
}

func checkRepo(repo string) error {
	owner, name, ok := strings.Cut(repo, "/")
	if !ok || owner == "" || name == "" || strings.ContainsAny(repo, " ?#%\\") || strings.Contains(name, "/") || name == ".." || owner == ".." {
		return fmt.Errorf("%q is not a repository; use owner/name", repo)
	}
	return nil
}

// description reads the description from the frontmatter, "" if there is none.
func (g *github) description(ctx context.Context, repo, folder string) string {
	raw, err := g.get(ctx, g.raw+"/"+repo+"/HEAD/"+path.Join(folder, "SKILL.md"), guard.MaxFile, nil)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "description:"); ok {
			return strings.Trim(strings.TrimSpace(rest), `"'`)
		}
	}
	return ""
}

// fetch takes owner/repo, owner/repo/path/to/skill, owner/repo@skill, or the path
// of a page on GitHub (owner/repo/tree/branch/path).
func (g *github) fetch(ctx context.Context, id string) (Package, error) {
	id, named, _ := strings.Cut(strings.Trim(id, "/"), "@")
	parts := strings.SplitN(strings.TrimSuffix(id, "/SKILL.md"), "/", 3)
	if len(parts) < 2 {
		return Package{}, fmt.Errorf("%q is not a repository; use owner/name", id)
	}
	repo, folder, ref := parts[0]+"/"+parts[1], "", ""
	if len(parts) == 3 {
		folder = parts[2]
	}
	for _, mark := range []string{"tree/", "blob/"} {
		if rest, ok := strings.CutPrefix(folder, mark); ok {
			ref, folder, _ = strings.Cut(rest, "/")
		}
	}
	return g.skill(ctx, repo, ref, folder, named)
}

// skill fetches a folder of a repository, or the one with a skill of a name.
func (g *github) skill(ctx context.Context, repo, ref, folder, named string) (Package, error) {
	if err := checkRepo(repo); err != nil {
		return Package{}, err
	}
	if folder == "" || named != "" {
		found, err := g.locate(ctx, repo, named)
		if err != nil {
			return Package{}, err
		}
		folder = found
	}
	if folder = strings.Trim(folder, "/"); strings.Contains("/"+folder+"/", "/../") {
		return Package{}, fmt.Errorf("%q is not a folder of a repository", folder)
	}
	at := g.api + "/repos/" + repo + "/tarball"
	if ref != "" {
		at += "/" + ref
	}
	raw, err := g.get(ctx, at, maxArchive, g.header())
	if err != nil {
		return Package{}, err
	}
	files, err := untar(raw, true, func(p string) bool { return folder == "" || strings.HasPrefix(p, folder+"/") })
	if err != nil {
		return Package{}, err
	}
	files = below(files, folder)
	if !slices.ContainsFunc(files, func(f guard.File) bool { return f.Path == "SKILL.md" }) {
		return Package{}, fmt.Errorf("%s has no skill in %q: %w", repo, cmp.Or(folder, "its top folder"), hermes.ErrNotFound)
	}
	return Package{Files: files, Trust: guard.TrustOf(repo + "/"), Identifier: strings.TrimSuffix(repo+"/"+folder, "/"), Version: ref}, nil
}

// locate finds the folder of a skill by its name. Without a name the repository
// must have exactly one skill.
func (g *github) locate(ctx context.Context, repo, named string) (string, error) {
	folders, err := g.folders(ctx, repo)
	if err != nil {
		return "", err
	}
	if named == "" && len(folders) == 1 {
		return folders[0], nil
	}
	var names []string
	for _, f := range folders {
		if named != "" && path.Base(f) == named {
			return f, nil
		}
		names = append(names, path.Base(f))
	}
	if len(names) == 0 {
		return "", fmt.Errorf("%s has no SKILL.md: %w", repo, hermes.ErrNotFound)
	}
	return "", fmt.Errorf("%s has %d skills; choose one with %s@NAME: %s", repo, len(names), repo, strings.Join(names[:min(len(names), 30)], ", "))
}
