package hub

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"hermes/internal/skill/guard"
)

// skillsSh is skills.sh, a directory of skills on GitHub.
type skillsSh struct {
	*web
	base   string
	github *github
}

func (*skillsSh) name() string { return "skills-sh" }

func (s *skillsSh) search(ctx context.Context, query string, limit int) ([]Listing, error) {
	if len(query) < 2 {
		return nil, nil // the service needs two characters
	}
	var got struct {
		Skills []struct {
			ID       string `json:"id"`
			SkillID  string `json:"skillId"`
			Name     string `json:"name"`
			Source   string `json:"source"`
			Top      string `json:"topSource"`
			Installs int64  `json:"installs"`
		} `json:"skills"`
	}
	if err := s.getJSON(ctx, fmt.Sprintf("%s/api/search?q=%s&limit=%d", s.base, url.QueryEscape(query), limit), nil, &got); err != nil {
		return nil, err
	}
	var out []Listing
	for _, k := range got.Skills {
		repo := cmp.Or(k.Source, k.Top)
		out = append(out, Listing{
			Name: k.Name, Description: "from " + repo, Source: s.name(), Trust: guard.TrustOf(repo + "/"), Popularity: k.Installs,
			Identifier: "skills-sh/" + repo + "/" + cmp.Or(k.SkillID, k.Name),
		})
	}
	return out, nil
}

// fetch takes owner/repo/skill.
func (s *skillsSh) fetch(ctx context.Context, id string) (Package, error) {
	parts := strings.Split(strings.Trim(id, "/"), "/")
	if len(parts) < 3 {
		return Package{}, fmt.Errorf("%q is not owner/repo/skill", id)
	}
	p, err := s.github.skill(ctx, parts[0]+"/"+parts[1], "", "", parts[len(parts)-1])
	p.Identifier = "skills-sh/" + id
	return p, err
}
