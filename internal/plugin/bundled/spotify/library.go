package spotify

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"hermes/internal/plugin/bundled/typed"
	"hermes/internal/plugin/sdk"
)

type libraryArgs struct {
	Action string   `json:"action" enum:"list,save,remove"`
	Kind   string   `json:"kind" enum:"tracks,albums"`
	IDs    []string `json:"ids,omitempty" doc:"save, remove: ids, URIs or links, 40 at most"`
	URIs   []string `json:"uris,omitempty" doc:"the same as ids"`
	Limit  int      `json:"limit,omitempty" doc:"list: how many at most" default:"20" min:"1" max:"50"`
	Offset int      `json:"offset,omitempty" doc:"list: how many to skip" min:"0"`
	Market string   `json:"market,omitempty" doc:"country, such as DE; by default that of the account"`
}

func (s *service) library() sdk.Tool {
	return typed.Tool(typed.Spec{
		Name: "spotify_library", Description: "List the tracks or albums that the user saved, save more, or remove some.",
	}, func(ctx context.Context, _ *sdk.Call, in libraryArgs) (any, error) {
		if in.Kind != "tracks" && in.Kind != "albums" {
			return nil, fmt.Errorf("there is no kind %q; there are tracks and albums", in.Kind)
		}
		if in.Action == "list" {
			return s.saved(ctx, in)
		}
		method := map[string]string{"save": http.MethodPut, "remove": http.MethodDelete}[in.Action]
		if method == "" {
			return nil, unknown(in.Action, "list,save,remove")
		}
		list, err := uris(append(in.URIs, in.IDs...), 40, strings.TrimSuffix(in.Kind, "s"))
		if err != nil {
			return nil, err
		}
		return s.send(ctx, method, "/me/library", url.Values{"uris": {strings.Join(list, ",")}}, nil, "%s: %d %s", in.Action, len(list), in.Kind)
	})
}

func (s *service) saved(ctx context.Context, in libraryArgs) (any, error) {
	var p page[struct {
		At    string `json:"added_at"`
		Track *item  `json:"track"`
		Album *item  `json:"album"`
	}]
	if _, err := s.Do(ctx, http.MethodGet, "/me/"+in.Kind, paging{in.Limit, in.Offset, in.Market}.query(20, 50), nil, &p); err != nil {
		return nil, err
	}
	list := []any{}
	for _, e := range p.Items {
		one := e.Track
		if one == nil {
			one = e.Album
		}
		if one != nil {
			short := one.short()
			short["added_at"] = e.At
			list = append(list, short)
		}
	}
	return listed(p, list), nil
}
