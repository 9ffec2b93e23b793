package spotify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"hermes/internal/plugin/bundled/typed"
	"hermes/internal/plugin/sdk"
)

// most is how many results Spotify gives to apps of users for one search.
const most = 10

var kinds = [...]string{"track", "album", "artist", "playlist", "show", "episode"}

type searchArgs struct {
	Query  string   `json:"query" doc:"words, also with filters such as artist:Radiohead or year:1990-1999"`
	Types  []string `json:"types,omitempty" doc:"by default track" enum:"track,album,artist,playlist,show,episode"`
	Limit  int      `json:"limit,omitempty" doc:"how many of each type" default:"10" min:"1" max:"10"`
	Offset int      `json:"offset,omitempty" doc:"how many to skip" min:"0"`
	Market string   `json:"market,omitempty" doc:"country, such as DE; by default that of the account"`
}

func (s *service) search() sdk.Tool {
	return typed.Tool(typed.Spec{
		Name: "spotify_search", Description: "Search Spotify for tracks, albums, artists, playlists, shows and episodes.", Reads: true,
	}, func(ctx context.Context, _ *sdk.Call, in searchArgs) (any, error) {
		if strings.TrimSpace(in.Query) == "" {
			return nil, errors.New("query is empty; say what to search for")
		}
		if len(in.Types) == 0 {
			in.Types = []string{"track"}
		}
		for _, t := range in.Types {
			if !slices.Contains(kinds[:], t) {
				return nil, fmt.Errorf("there is no type %q; there are %s", t, strings.Join(kinds[:], ", "))
			}
		}
		q := paging{in.Limit, in.Offset, in.Market}.query(most, most)
		q.Set("q", in.Query)
		q.Set("type", strings.Join(in.Types, ","))
		found := map[string]json.RawMessage{}
		if _, err := s.Do(ctx, http.MethodGet, "/search", q, nil, &found); err != nil {
			return nil, err
		}
		out := map[string]any{}
		for _, t := range in.Types {
			var p page[item]
			if raw := found[t+"s"]; raw != nil {
				if err := json.Unmarshal(raw, &p); err != nil {
					return nil, fmt.Errorf("the answer of Spotify cannot be read: %w", err)
				}
			}
			out[t+"s"] = listed(p, shorts(p.Items))
		}
		return out, nil
	})
}

type albumsArgs struct {
	Action  string `json:"action" enum:"get,tracks"`
	AlbumID string `json:"album_id" doc:"id, URI or link"`
	Limit   int    `json:"limit,omitempty" doc:"tracks: how many at most" default:"20" min:"1" max:"50"`
	Offset  int    `json:"offset,omitempty" doc:"tracks: how many to skip" min:"0"`
	Market  string `json:"market,omitempty" doc:"country, such as DE; by default that of the account"`
}

func (s *service) albums() sdk.Tool {
	return typed.Tool(typed.Spec{
		Name: "spotify_albums", Description: "Show an album, or its tracks.", Reads: true,
	}, func(ctx context.Context, _ *sdk.Call, in albumsArgs) (any, error) {
		album, err := id(in.AlbumID, "album")
		if err != nil {
			return nil, err
		}
		switch in.Action {
		case "get":
			var r struct {
				item
				Label string `json:"label"`
			}
			if _, err := s.Do(ctx, http.MethodGet, "/albums/"+album, clean(url.Values{"market": {in.Market}}), nil, &r); err != nil {
				return nil, err
			}
			out := r.short()
			if r.Label != "" {
				out["label"] = r.Label
			}
			return out, nil
		case "tracks":
			var p page[item]
			if _, err := s.Do(ctx, http.MethodGet, "/albums/"+album+"/tracks", paging{in.Limit, in.Offset, in.Market}.query(20, 50), nil, &p); err != nil {
				return nil, err
			}
			return listed(p, shorts(p.Items)), nil
		}
		return nil, unknown(in.Action, "get,tracks")
	})
}
