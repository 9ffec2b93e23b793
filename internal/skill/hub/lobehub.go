package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"hermes/internal/skill/guard"
)

// lobehub is LobeHub's directory of agents. The prompt of an agent becomes a
// skill.
type lobehub struct {
	*web
	base string
}

func (*lobehub) name() string { return "lobehub" }

type lobeAgent struct {
	Identifier string `json:"identifier"`
	Author     string `json:"author"`
	Meta       struct {
		Title       string   `json:"title"`
		Description string   `json:"description"`
		Tags        []string `json:"tags"`
	} `json:"meta"`
	Config struct {
		SystemRole string `json:"systemRole"`
	} `json:"config"`
}

func (l *lobehub) search(ctx context.Context, query string, limit int) ([]Listing, error) {
	var index struct {
		Agents []lobeAgent `json:"agents"`
	}
	if err := l.getJSON(ctx, l.base+"/index.json", nil, &index); err != nil {
		return nil, err
	}
	var out []Listing
	for _, a := range index.Agents {
		if len(out) < limit && fits(query, a.Identifier, a.Meta.Title, a.Meta.Description, strings.Join(a.Meta.Tags, " ")) {
			out = append(out, Listing{Name: a.Identifier, Description: a.Meta.Description, Source: l.name(), Identifier: "lobehub/" + a.Identifier, Trust: guard.Community})
		}
	}
	return out, nil
}

func (l *lobehub) fetch(ctx context.Context, id string) (Package, error) {
	var a lobeAgent
	if err := l.getJSON(ctx, l.base+"/"+url.PathEscape(id)+".json", nil, &a); err != nil {
		return Package{}, err
	}
	if strings.TrimSpace(a.Config.SystemRole) == "" {
		return Package{}, errors.New("the agent has no instructions")
	}
	return Package{Files: []guard.File{{Path: "SKILL.md", Data: []byte(a.skill(id))}}, Trust: guard.Community, Identifier: "lobehub/" + id}, nil
}

// skill returns an agent as a SKILL.md.
func (a lobeAgent) skill(id string) string {
	description := []rune(strings.Join(strings.Fields(a.Meta.Description), " "))
	if len(description) == 0 {
		description = []rune(a.Meta.Title + " (a LobeHub agent)")
	}
	return fmt.Sprintf("---\nname: %s\ndescription: %s\nauthor: %s\nmetadata:\n  hermes:\n    tags: %s\n---\n# %s\n\n%s\n",
		plainName(id), quoted(string(description[:min(len(description), 1000)])), quoted(a.Author), quoted(a.Meta.Tags), a.Meta.Title, strings.TrimSpace(a.Config.SystemRole))
}

// quoted returns a value as JSON, which is valid YAML.
func quoted(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return `""`
	}
	return string(raw)
}

// plainName makes a skill name of any text.
func plainName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, strings.ToLower(s))
	s = strings.TrimLeft(s, "-_")
	return s[:min(len(s), 64)]
}
