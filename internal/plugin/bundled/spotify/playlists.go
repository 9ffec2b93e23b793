package spotify

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"hermes/internal/plugin/bundled/typed"
	"hermes/internal/plugin/sdk"
)

type playlistsArgs struct {
	Action        string   `json:"action" enum:"list,get,create,add_items,remove_items,update_details"`
	PlaylistID    string   `json:"playlist_id,omitempty" doc:"id, URI or link; for all but list and create"`
	Name          *string  `json:"name,omitempty" doc:"create, update_details"`
	Description   *string  `json:"description,omitempty" doc:"create, update_details"`
	Public        *bool    `json:"public,omitempty" doc:"create, update_details; by default a new one is private"`
	Collaborative *bool    `json:"collaborative,omitempty" doc:"create, update_details; only if it is not public"`
	URIs          []string `json:"uris,omitempty" doc:"add_items, remove_items: tracks or episodes, 100 at most"`
	Position      *int     `json:"position,omitempty" doc:"add_items: where, from 0; by default at the end" min:"0"`
	SnapshotID    string   `json:"snapshot_id,omitempty" doc:"remove_items: the version of the playlist that is meant"`
	Limit         int      `json:"limit,omitempty" doc:"list, get: how many at most" default:"20" min:"1" max:"50"`
	Offset        int      `json:"offset,omitempty" doc:"list, get: how many to skip" min:"0"`
	Market        string   `json:"market,omitempty" doc:"country, such as DE; by default that of the account"`
}

func (s *service) playlists() sdk.Tool {
	return typed.Tool(typed.Spec{
		Name: "spotify_playlists", Description: "List, show, create and change playlists of the user.",
	}, func(ctx context.Context, _ *sdk.Call, in playlistsArgs) (any, error) {
		switch in.Action {
		case "list":
			var p page[item]
			if _, err := s.Do(ctx, http.MethodGet, "/me/playlists", paging{in.Limit, in.Offset, ""}.query(20, 50), nil, &p); err != nil {
				return nil, err
			}
			return listed(p, shorts(p.Items)), nil
		case "create":
			return s.create(ctx, in)
		}
		list, err := id(in.PlaylistID, "playlist")
		if err != nil {
			return nil, err
		}
		path := "/playlists/" + list
		switch in.Action {
		case "get":
			return s.playlist(ctx, path, in)
		case "add_items", "remove_items":
			return s.change(ctx, path+"/items", in)
		case "update_details":
			body := in.details()
			if len(body) == 0 {
				return nil, errors.New("nothing to change; give name, description, public or collaborative")
			}
			return s.send(ctx, http.MethodPut, path, nil, body, "changed")
		}
		return nil, unknown(in.Action, "list,get,create,add_items,remove_items,update_details")
	})
}

func (in playlistsArgs) details() map[string]any {
	body := map[string]any{}
	if in.Name != nil && *in.Name != "" {
		body["name"] = *in.Name
	}
	if in.Description != nil {
		body["description"] = *in.Description
	}
	if in.Public != nil {
		body["public"] = *in.Public
	}
	if in.Collaborative != nil {
		body["collaborative"] = *in.Collaborative
	}
	return body
}

func (s *service) create(ctx context.Context, in playlistsArgs) (any, error) {
	body := in.details()
	if body["name"] == nil {
		return nil, errors.New("name is missing; say what to call it")
	}
	if body["public"] == nil {
		body["public"] = false
	}
	var r item
	if _, err := s.Do(ctx, http.MethodPost, "/me/playlists", nil, body, &r); err != nil {
		return nil, err
	}
	return r.short(), nil
}

// playlist shows one with a page of what is in it.
func (s *service) playlist(ctx context.Context, path string, in playlistsArgs) (any, error) {
	var about struct {
		Name        string `json:"name"`
		URI         string `json:"uri"`
		Description string `json:"description"`
		Snapshot    string `json:"snapshot_id"`
		Public      *bool  `json:"public"`
		Owner       *owner `json:"owner"`
	}
	if _, err := s.Do(ctx, http.MethodGet, path, url.Values{"fields": {"name,uri,description,snapshot_id,public,owner(id,display_name)"}}, nil, &about); err != nil {
		return nil, err
	}
	var p page[struct {
		Item  *item  `json:"item"`
		Track *item  `json:"track"` // what older apps get in place of Item
		At    string `json:"added_at"`
	}]
	if _, err := s.Do(ctx, http.MethodGet, path+"/items", paging{in.Limit, in.Offset, in.Market}.query(20, 50), nil, &p); err != nil {
		return nil, err
	}
	list := []any{}
	for _, e := range p.Items {
		if e.Item == nil {
			e.Item = e.Track
		}
		if e.Item != nil {
			short := e.Item.short()
			short["added_at"] = e.At
			list = append(list, short)
		}
	}
	out := listed(p, list)
	out["name"], out["uri"], out["snapshot_id"] = about.Name, about.URI, about.Snapshot
	if about.Description != "" {
		out["description"] = about.Description
	}
	if about.Owner != nil {
		out["owner"] = about.Owner.Name
	}
	if about.Public != nil {
		out["public"] = *about.Public
	}
	return out, nil
}

func (s *service) change(ctx context.Context, path string, in playlistsArgs) (any, error) {
	list, err := uris(in.URIs, 100, "track", "episode")
	if err != nil {
		return nil, err
	}
	method, body := http.MethodPost, map[string]any{"uris": list}
	if in.Position != nil {
		body["position"] = *in.Position
	}
	if in.Action == "remove_items" {
		items := make([]map[string]string, len(list))
		for i, u := range list {
			items[i] = map[string]string{"uri": u}
		}
		method, body = http.MethodDelete, map[string]any{"items": items}
		if in.SnapshotID != "" {
			body["snapshot_id"] = in.SnapshotID
		}
	}
	var r struct {
		Snapshot string `json:"snapshot_id"`
	}
	_, err = s.Do(ctx, method, path, nil, body, &r)
	return r, err
}
