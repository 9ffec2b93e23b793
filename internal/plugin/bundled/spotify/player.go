package spotify

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"hermes/internal/plugin/bundled/typed"
	"hermes/internal/plugin/sdk"
)

type playbackArgs struct {
	Action     string   `json:"action" doc:"all but get_* and recently_played need Premium" enum:"get_state,get_currently_playing,play,pause,next,previous,seek,set_repeat,set_shuffle,set_volume,recently_played"`
	DeviceID   string   `json:"device_id,omitempty" doc:"by default the active device"`
	ContextURI string   `json:"context_uri,omitempty" doc:"play: an album, artist or playlist"`
	URIs       []string `json:"uris,omitempty" doc:"play: tracks or episodes"`
	Offset     string   `json:"offset,omitempty" doc:"play: where in the context to begin, a number from 0 or a URI"`
	PositionMS *int     `json:"position_ms,omitempty" doc:"play, seek: milliseconds from the beginning" min:"0"`
	State      string   `json:"state,omitempty" doc:"set_repeat: track, context or off; set_shuffle: true or false"`
	Volume     *int     `json:"volume_percent,omitempty" doc:"set_volume" min:"0" max:"100"`
	Limit      int      `json:"limit,omitempty" doc:"recently_played: how many" default:"20" min:"1" max:"50"`
	Before     int64    `json:"before,omitempty" doc:"recently_played: before this time, in Unix milliseconds"`
	After      int64    `json:"after,omitempty" doc:"recently_played: after this time, in Unix milliseconds"`
	Market     string   `json:"market,omitempty" doc:"country, such as DE"`
}

const playbackActions = "get_state,get_currently_playing,play,pause,next,previous,seek,set_repeat,set_shuffle,set_volume,recently_played"

func (s *service) playback() sdk.Tool {
	return typed.Tool(typed.Spec{
		Name: "spotify_playback", Description: "See and control what Spotify plays, and list what was played. To play something: one spotify_search, then play with its URI.",
	}, func(ctx context.Context, _ *sdk.Call, in playbackArgs) (any, error) {
		on := url.Values{"device_id": {in.DeviceID}}
		switch in.Action {
		case "get_state":
			return s.playing(ctx, "/me/player", in.Market)
		case "get_currently_playing":
			return s.playing(ctx, "/me/player/currently-playing", in.Market)
		case "recently_played":
			return s.recent(ctx, in)
		case "play":
			return s.play(ctx, in, on)
		case "pause":
			return s.send(ctx, http.MethodPut, "/me/player/pause", on, nil, "paused")
		case "next", "previous":
			return s.send(ctx, http.MethodPost, "/me/player/"+in.Action, on, nil, "skipped to the %s", in.Action)
		case "seek":
			if in.PositionMS == nil {
				return nil, errors.New("position_ms is missing; say where to go, in milliseconds")
			}
			on.Set("position_ms", strconv.Itoa(max(0, *in.PositionMS)))
			return s.send(ctx, http.MethodPut, "/me/player/seek", on, nil, "went to %d ms", *in.PositionMS)
		case "set_repeat":
			if in.State != "track" && in.State != "context" && in.State != "off" {
				return nil, errors.New("state is track, context or off for set_repeat")
			}
			on.Set("state", in.State)
			return s.send(ctx, http.MethodPut, "/me/player/repeat", on, nil, "repeat is %s", in.State)
		case "set_shuffle":
			if in.State != "true" && in.State != "false" {
				return nil, errors.New("state is true or false for set_shuffle")
			}
			on.Set("state", in.State)
			return s.send(ctx, http.MethodPut, "/me/player/shuffle", on, nil, "shuffle is %s", in.State)
		case "set_volume":
			if in.Volume == nil || *in.Volume < 0 || *in.Volume > 100 {
				return nil, errors.New("volume_percent is missing, or not between 0 and 100")
			}
			on.Set("volume_percent", strconv.Itoa(*in.Volume))
			return s.send(ctx, http.MethodPut, "/me/player/volume", on, nil, "the volume is %d", *in.Volume)
		}
		return nil, unknown(in.Action, playbackActions)
	})
}

// playing asks what plays. Spotify answers nothing if nothing does.
func (s *service) playing(ctx context.Context, path, market string) (any, error) {
	var r struct {
		Playing  bool         `json:"is_playing"`
		Progress int          `json:"progress_ms"`
		Item     *item        `json:"item"`
		Device   *device      `json:"device"`
		Shuffle  *bool        `json:"shuffle_state"`
		Repeat   string       `json:"repeat_state"`
		Type     string       `json:"currently_playing_type"`
		Context  *contextForm `json:"context"`
	}
	found, err := s.Do(ctx, http.MethodGet, path, clean(url.Values{"market": {market}, "additional_types": {"track,episode"}}), nil, &r)
	if err != nil {
		return nil, err
	}
	if !found {
		return map[string]any{"is_playing": false, "note": "nothing plays on any device"}, nil
	}
	out := map[string]any{"is_playing": r.Playing, "progress_ms": r.Progress}
	if r.Item != nil {
		out["item"] = r.Item.short()
	} else if r.Type != "" {
		out["type"] = r.Type // an advertisement, for example
	}
	if r.Device != nil {
		out["device"] = r.Device
	}
	if r.Shuffle != nil {
		out["shuffle"], out["repeat"] = *r.Shuffle, r.Repeat
	}
	if r.Context != nil {
		out["context_uri"] = r.Context.URI
	}
	return out, nil
}

func (s *service) play(ctx context.Context, in playbackArgs, on url.Values) (any, error) {
	body := map[string]any{}
	if in.ContextURI != "" {
		u, err := uri(in.ContextURI, "album", "artist", "playlist", "show")
		if err != nil {
			return nil, err
		}
		body["context_uri"] = u
	}
	if len(in.URIs) > 0 {
		if in.ContextURI != "" {
			return nil, errors.New("give context_uri or uris, not both")
		}
		list, err := uris(in.URIs, 100, "track", "episode")
		if err != nil {
			return nil, err
		}
		body["uris"] = list
	}
	if in.Offset != "" {
		if n, err := strconv.Atoi(in.Offset); err == nil && n >= 0 {
			body["offset"] = map[string]int{"position": n}
		} else if u, err := uri(in.Offset, "track", "episode"); err == nil {
			body["offset"] = map[string]string{"uri": u}
		} else {
			return nil, errors.New("offset is a number from 0, or the URI of a track")
		}
	}
	if in.PositionMS != nil {
		body["position_ms"] = max(0, *in.PositionMS)
	}
	if len(body) == 0 {
		return s.send(ctx, http.MethodPut, "/me/player/play", on, nil, "playing")
	}
	return s.send(ctx, http.MethodPut, "/me/player/play", on, body, "playing")
}

func (s *service) recent(ctx context.Context, in playbackArgs) (any, error) {
	if in.Before > 0 && in.After > 0 {
		return nil, errors.New("give before or after, not both")
	}
	q := paging{limit: in.Limit}.query(20, 50)
	if in.Before > 0 {
		q.Set("before", strconv.FormatInt(in.Before, 10))
	}
	if in.After > 0 {
		q.Set("after", strconv.FormatInt(in.After, 10))
	}
	var r struct {
		Items []struct {
			Track *item  `json:"track"`
			At    string `json:"played_at"`
		} `json:"items"`
		Cursors struct {
			Before string `json:"before"`
		} `json:"cursors"`
	}
	if _, err := s.Do(ctx, http.MethodGet, "/me/player/recently-played", q, nil, &r); err != nil {
		return nil, err
	}
	list := []any{}
	for _, e := range r.Items {
		if e.Track != nil {
			list = append(list, map[string]any{"played_at": e.At, "track": e.Track.short()})
		}
	}
	return map[string]any{"items": list, "next_before": r.Cursors.Before}, nil
}

type devicesArgs struct {
	Action   string `json:"action" enum:"list,transfer"`
	DeviceID string `json:"device_id,omitempty" doc:"transfer: where to play, from list"`
	Play     bool   `json:"play,omitempty" doc:"transfer: also begin to play"`
}

func (s *service) devices() sdk.Tool {
	return typed.Tool(typed.Spec{
		Name: "spotify_devices", Description: "List the devices on which Spotify can play, or move what plays to one of them (Premium).",
	}, func(ctx context.Context, _ *sdk.Call, in devicesArgs) (any, error) {
		switch in.Action {
		case "list":
			var r struct {
				Devices []device `json:"devices"`
			}
			_, err := s.Do(ctx, http.MethodGet, "/me/player/devices", nil, nil, &r)
			return r, err
		case "transfer":
			if in.DeviceID == "" {
				return nil, errors.New("device_id is missing; the action list shows them")
			}
			return s.send(ctx, http.MethodPut, "/me/player", nil, map[string]any{"device_ids": []string{in.DeviceID}, "play": in.Play}, "moved to %s", in.DeviceID)
		}
		return nil, unknown(in.Action, "list,transfer")
	})
}

type queueArgs struct {
	Action   string `json:"action" enum:"get,add"`
	URI      string `json:"uri,omitempty" doc:"add: a track or an episode"`
	DeviceID string `json:"device_id,omitempty" doc:"add: by default the active device"`
}

func (s *service) queue() sdk.Tool {
	return typed.Tool(typed.Spec{
		Name: "spotify_queue", Description: "See what plays next, or add something to it (Premium).",
	}, func(ctx context.Context, _ *sdk.Call, in queueArgs) (any, error) {
		switch in.Action {
		case "get":
			var r struct {
				Now   *item  `json:"currently_playing"`
				Queue []item `json:"queue"`
			}
			if _, err := s.Do(ctx, http.MethodGet, "/me/player/queue", nil, nil, &r); err != nil {
				return nil, err
			}
			out := map[string]any{"queue": shorts(r.Queue)}
			if r.Now != nil {
				out["currently_playing"] = r.Now.short()
			}
			return out, nil
		case "add":
			if in.URI == "" {
				return nil, errors.New("uri is missing; spotify_search finds it")
			}
			u, err := uri(in.URI, "track", "episode")
			if err != nil {
				return nil, err
			}
			return s.send(ctx, http.MethodPost, "/me/player/queue", url.Values{"uri": {u}, "device_id": {in.DeviceID}}, nil, "added %s", u)
		}
		return nil, unknown(in.Action, "get,add")
	})
}
