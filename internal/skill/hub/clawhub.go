package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"hermes/internal/skill/guard"
)

// clawhub is the registry of OpenClaw.
type clawhub struct {
	*web
	base string
}

func (*clawhub) name() string { return "clawhub" }

type clawSkill struct {
	Slug        string `json:"slug"`
	DisplayName string `json:"displayName"`
	Summary     string `json:"summary"`
	Stats       struct {
		Downloads int64 `json:"downloads"`
	} `json:"stats"`
}

func (c *clawhub) search(ctx context.Context, query string, limit int) ([]Listing, error) {
	var got struct {
		Results []clawSkill `json:"results"`
		Items   []clawSkill `json:"items"`
	}
	at := fmt.Sprintf("%s/api/v1/skills?sort=downloads&nonSuspiciousOnly=true&limit=%d", c.base, limit)
	if query != "" {
		at = fmt.Sprintf("%s/api/v1/search?nonSuspiciousOnly=true&limit=%d&q=%s", c.base, limit, url.QueryEscape(query))
	}
	if err := c.getJSON(ctx, at, nil, &got); err != nil {
		return nil, err
	}
	var out []Listing
	for _, s := range append(got.Results, got.Items...) {
		out = append(out, Listing{
			Name: s.Slug, Description: cmp.Or(s.Summary, s.DisplayName), Source: c.name(), Identifier: "clawhub/" + s.Slug,
			Trust: guard.Community, Popularity: s.Stats.Downloads,
		})
	}
	return out, nil
}

func (c *clawhub) fetch(ctx context.Context, id string) (Package, error) {
	slug, version, _ := strings.Cut(id, "@")
	if i := strings.LastIndex(slug, "/"); i >= 0 { // owner/slug, as shown on the site
		slug = slug[i+1:]
	}
	var detail struct {
		LatestVersion struct{ Version string }
		Moderation    struct {
			IsMalwareBlocked bool
			Summary          string
		}
	}
	if err := c.getJSON(ctx, c.base+"/api/v1/skills/"+url.PathEscape(slug), nil, &detail); err != nil {
		return Package{}, err
	}
	if detail.Moderation.IsMalwareBlocked {
		return Package{}, errors.New("ClawHub has blocked this skill as malware")
	}
	version = cmp.Or(version, detail.LatestVersion.Version)
	raw, err := c.get(ctx, fmt.Sprintf("%s/api/v1/download?slug=%s&version=%s", c.base, url.QueryEscape(slug), url.QueryEscape(version)), maxArchive, nil)
	if err != nil {
		return Package{}, err
	}
	files, err := unzip(raw)
	return Package{Files: files, Version: version, Trust: guard.Community, Identifier: "clawhub/" + slug}, err
}
