package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"hermes"
	"hermes/internal/skill/guard"
)

// marketplace is a repository with a Claude marketplace: a list of plugins, which
// may have skills.
type marketplace struct {
	github       *github
	repositories []string
}

func (*marketplace) name() string { return "claude-marketplace" }

type plugin struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Source      json.RawMessage `json:"source"`
	Skills      json.RawMessage `json:"skills"` // a path or a list of them
}

// location returns the repository and folder of a plugin.
func (p plugin) location(home, root string) (repo, folder string, err error) {
	var text string
	if json.Unmarshal(p.Source, &text) == nil {
		if !strings.HasPrefix(text, "./") && strings.Count(text, "/") == 1 {
			return text, "", nil // owner/repo
		}
		return home, clean(path.Join(root, text)), nil
	}
	var at struct{ Source, Repo, URL, Path string }
	if err := json.Unmarshal(p.Source, &at); err != nil {
		return "", "", fmt.Errorf("the source of the plugin %q is invalid", p.Name)
	}
	if at.Repo == "" {
		at.Repo = strings.TrimSuffix(strings.TrimPrefix(at.URL, "https://github.com/"), ".git")
	}
	return at.Repo, clean(at.Path), checkRepo(at.Repo)
}

func clean(folder string) string {
	return strings.Trim(strings.TrimPrefix(path.Clean("/"+folder), "/"), "/")
}

// listed returns the skill folders that the plugin lists itself.
func (p plugin) listed() []string {
	var one string
	var list []string
	if json.Unmarshal(p.Skills, &one) == nil && one != "" {
		return []string{one}
	}
	_ = json.Unmarshal(p.Skills, &list) // missing or of another type: none
	return list
}

func (m *marketplace) plugins(ctx context.Context, repo string) (plugins []plugin, root string, err error) {
	if err := checkRepo(repo); err != nil {
		return nil, "", err
	}
	var file struct {
		Metadata struct {
			PluginRoot string `json:"pluginRoot"`
		} `json:"metadata"`
		Plugins []plugin `json:"plugins"`
	}
	err = m.github.getJSON(ctx, m.github.raw+"/"+repo+"/HEAD/.claude-plugin/marketplace.json", nil, &file)
	return file.Plugins, file.Metadata.PluginRoot, err
}

func (m *marketplace) search(ctx context.Context, query string, limit int) ([]Listing, error) {
	var out []Listing
	var faults []error
	for _, repo := range m.repositories {
		plugins, _, err := m.plugins(ctx, repo)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", repo, err))
			continue
		}
		for _, p := range plugins {
			skills := p.listed()
			if len(skills) == 0 {
				skills = []string{""}
			}
			for _, s := range skills {
				name := path.Base(path.Join(p.Name, s))
				if len(out) < limit && fits(query, p.Name, name, p.Description) {
					out = append(out, Listing{
						Name: name, Description: p.Description, Source: m.name(), Trust: guard.TrustOf(repo + "/"),
						Identifier: strings.TrimSuffix("claude-marketplace/"+repo+"/"+p.Name+"/"+path.Base(s), "/."),
					})
				}
			}
		}
	}
	return out, errors.Join(faults...)
}

// fetch takes owner/repo/plugin, or owner/repo/plugin/skill.
func (m *marketplace) fetch(ctx context.Context, id string) (Package, error) {
	parts := strings.Split(strings.Trim(id, "/"), "/")
	if len(parts) < 3 {
		return Package{}, fmt.Errorf("%q is not owner/repo/plugin or owner/repo/plugin/skill", id)
	}
	home := parts[0] + "/" + parts[1]
	plugins, root, err := m.plugins(ctx, home)
	if err != nil {
		return Package{}, err
	}
	for _, p := range plugins {
		if p.Name != parts[2] {
			continue
		}
		repo, folder, err := p.location(home, root)
		if err != nil {
			return Package{}, err
		}
		named := ""
		if len(parts) > 3 {
			named = parts[3]
		}
		at, err := m.within(ctx, repo, folder, p, named)
		if err != nil {
			return Package{}, err
		}
		got, err := m.github.skill(ctx, repo, "", at, "")
		got.Identifier = "claude-marketplace/" + id
		return got, err
	}
	return Package{}, fmt.Errorf("the marketplace %s has no plugin %q: %w", home, parts[2], hermes.ErrNotFound)
}

// within finds the folder of a plugin's skill.
func (m *marketplace) within(ctx context.Context, repo, folder string, p plugin, named string) (string, error) {
	all, err := m.github.folders(ctx, repo)
	if err != nil {
		return "", err
	}
	var own, names []string
	for _, f := range all {
		if !belongs(f, folder, p.listed()) {
			continue
		}
		if named != "" && path.Base(f) == named {
			return f, nil
		}
		own, names = append(own, f), append(names, path.Base(f))
	}
	if named == "" && len(own) == 1 {
		return own[0], nil
	}
	if len(own) == 0 {
		return "", fmt.Errorf("the plugin %q has no skills: %w", p.Name, hermes.ErrNotFound)
	}
	return "", fmt.Errorf("the plugin %q has %d skills; add one to the identifier: %s", p.Name, len(names), strings.Join(names, ", "))
}

// belongs reports whether a skill folder belongs to the plugin.
func belongs(skill, folder string, listed []string) bool {
	if len(listed) == 0 {
		return folder == "" || strings.HasPrefix(skill+"/", folder+"/")
	}
	for _, l := range listed {
		if at := clean(path.Join(folder, l)); strings.HasPrefix(skill+"/", at+"/") {
			return true
		}
	}
	return false
}
