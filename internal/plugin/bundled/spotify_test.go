package bundled_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/plugin/bundled/login"
)

const (
	track = `{"name":"So What","type":"track","uri":"spotify:track:4vLYewWIvqHfKtJDk8c8tq","duration_ms":545000,"artists":[{"name":"Miles Davis"}],"album":{"name":"Kind of Blue","uri":"spotify:album:1weenld61qoidwYuZ1GESA"}}`
	album = `{"name":"Kind of Blue","type":"album","uri":"spotify:album:1weenld61qoidwYuZ1GESA","total_tracks":5,"artists":[{"name":"Miles Davis"}],"release_date":"1959-08-17"}`
)

// newSpotify is a server with the part of Spotify's API that the plugin uses, and a login.
func newSpotify(t *testing.T) (*fake, *place) {
	t.Helper()
	f := newFake(t)
	f.answers("GET /v1/me/player", `{"is_playing":true,"progress_ms":1000,"shuffle_state":false,"repeat_state":"off","device":{"id":"d1","name":"Kitchen","type":"Speaker","is_active":true,"volume_percent":40},"item":`+track+`,"context":{"uri":"spotify:album:1weenld61qoidwYuZ1GESA"}}`)
	f.answers("GET /v1/me/player/currently-playing", "")
	f.answers("GET /v1/me/player/devices", `{"devices":[{"id":"d1","name":"Kitchen","type":"Speaker","is_active":false}]}`)
	f.answers("GET /v1/me/player/queue", `{"currently_playing":`+track+`,"queue":[`+track+`]}`)
	f.answers("GET /v1/me/player/recently-played", `{"items":[{"track":`+track+`,"played_at":"2026-11-28T10:00:00Z"}],"cursors":{"before":"17"}}`)
	for _, change := range []string{"PUT /v1/me/player", "PUT /v1/me/player/{what}", "POST /v1/me/player/{what}", "PUT /v1/me/library", "DELETE /v1/me/library", "PUT /v1/playlists/{id}"} {
		f.answers(change, "")
	}
	f.answers("GET /v1/search", `{"tracks":{"items":[`+track+`,null],"total":30,"offset":0,"next":"more"},"albums":{"items":[`+album+`],"total":1}}`)
	f.answers("GET /v1/albums/{id}", album)
	f.answers("GET /v1/albums/{id}/tracks", `{"items":[`+track+`],"total":5,"offset":0,"next":"more"}`)
	f.answers("GET /v1/me/playlists", `{"items":[{"name":"Late Night Jazz","uri":"spotify:playlist:37i9dQZF1DX4wta20PHgwo","owner":{"id":"ada","display_name":"Ada"},"items":{"total":12}}],"total":1}`)
	f.answers("POST /v1/me/playlists", `{"name":"Focus","uri":"spotify:playlist:37i9dQZF1DX4wta20PHgwo"}`)
	f.answers("GET /v1/playlists/{id}", `{"name":"Late Night Jazz","uri":"spotify:playlist:37i9dQZF1DX4wta20PHgwo","snapshot_id":"snap","owner":{"display_name":"Ada"}}`)
	f.answers("GET /v1/playlists/{id}/items", `{"items":[{"added_at":"2026-01-01T00:00:00Z","item":`+track+`},{"item":null},{"track":`+track+`}],"total":3}`)
	f.answers("POST /v1/playlists/{id}/items", `{"snapshot_id":"snap2"}`)
	f.answers("DELETE /v1/playlists/{id}/items", `{"snapshot_id":"snap3"}`)
	f.answers("GET /v1/me/tracks", `{"items":[{"added_at":"2026-01-01T00:00:00Z","track":`+track+`}],"total":1}`)
	f.answers("GET /v1/me/albums", `{"items":[{"added_at":"2026-01-01T00:00:00Z","album":`+album+`}],"total":1}`)
	p := install(t, "spotify", "", nil, "address="+f.URL+"/v1", "token="+f.URL+"/token")
	if err := login.Write(t.Context(), p.home, login.File{ClientID: "app", Access: "first", Refresh: "r1", Expires: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	return f, p
}

func TestSpotifyIsAToolsetLikeOthers(t *testing.T) {
	t.Parallel()
	_, p := newSpotify(t)
	hermestest.RunToolset(t, func(*testing.T) hermes.Toolset { return p.toolset() },
		hermestest.ToolSample{Tool: "spotify_playback", Arguments: `{"action":"get_state"}`, Want: `"So What"`},
		hermestest.ToolSample{Tool: "spotify_playback", Arguments: `{"action":"get_currently_playing"}`, Want: `"is_playing":false`},
		hermestest.ToolSample{Tool: "spotify_devices", Arguments: `{"action":"list"}`, Want: `"Kitchen"`},
		hermestest.ToolSample{Tool: "spotify_queue", Arguments: `{"action":"get"}`, Want: `"queue":[{`},
		hermestest.ToolSample{Tool: "spotify_search", Arguments: `{"query":"so what","types":["track","album"]}`, Want: `"next_offset":2`},
		hermestest.ToolSample{Tool: "spotify_playlists", Arguments: `{"action":"get","playlist_id":"37i9dQZF1DX4wta20PHgwo"}`, Want: `"snapshot_id":"snap"`},
		hermestest.ToolSample{Tool: "spotify_albums", Arguments: `{"action":"get","album_id":"spotify:album:1weenld61qoidwYuZ1GESA"}`, Want: `"Kind of Blue"`},
		hermestest.ToolSample{Tool: "spotify_library", Arguments: `{"action":"list","kind":"albums"}`, Want: `"added_at"`},
	)
}

// TestSpotifySendsWhatItsReferenceSays compares requests with the reference of the Web API.
func TestSpotifySendsWhatItsReferenceSays(t *testing.T) {
	t.Parallel()
	f, p := newSpotify(t)
	set := p.toolset()
	const uri, link = "spotify:track:4vLYewWIvqHfKtJDk8c8tq", "https://open.spotify.com/intl-de/track/4vLYewWIvqHfKtJDk8c8tq?si=x"
	for _, tt := range []struct{ tool, arguments, want string }{
		{"spotify_playback", `{"action":"play"}`, "PUT /v1/me/player/play"},
		{"spotify_playback", `{"action":"play","uris":["` + link + `"],"position_ms":0,"device_id":"d1"}`, `PUT /v1/me/player/play?device_id=d1 {"position_ms":0,"uris":["` + uri + `"]}`},
		{"spotify_playback", `{"action":"play","context_uri":"spotify:album:1weenld61qoidwYuZ1GESA","offset":"3"}`, `PUT /v1/me/player/play {"context_uri":"spotify:album:1weenld61qoidwYuZ1GESA","offset":{"position":3}}`},
		{"spotify_playback", `{"action":"pause"}`, "PUT /v1/me/player/pause"},
		{"spotify_playback", `{"action":"next"}`, "POST /v1/me/player/next"},
		{"spotify_playback", `{"action":"previous"}`, "POST /v1/me/player/previous"},
		{"spotify_playback", `{"action":"seek","position_ms":0}`, "PUT /v1/me/player/seek?position_ms=0"},
		{"spotify_playback", `{"action":"set_repeat","state":"context"}`, "PUT /v1/me/player/repeat?state=context"},
		{"spotify_playback", `{"action":"set_shuffle","state":"true"}`, "PUT /v1/me/player/shuffle?state=true"},
		{"spotify_playback", `{"action":"set_volume","volume_percent":0}`, "PUT /v1/me/player/volume?volume_percent=0"},
		{"spotify_playback", `{"action":"recently_played","limit":3,"before":9}`, "GET /v1/me/player/recently-played?before=9&limit=3"},
		{"spotify_playback", `{"action":"get_state","market":"DE"}`, "GET /v1/me/player?additional_types=track%2Cepisode&market=DE"},
		{"spotify_devices", `{"action":"transfer","device_id":"d1","play":true}`, `PUT /v1/me/player {"device_ids":["d1"],"play":true}`},
		{"spotify_queue", `{"action":"add","uri":"` + uri + `"}`, "POST /v1/me/player/queue?uri=spotify%3Atrack%3A4vLYewWIvqHfKtJDk8c8tq"},
		{"spotify_search", `{"query":"a b","limit":40,"offset":5}`, "GET /v1/search?limit=10&offset=5&q=a+b&type=track"},
		{"spotify_playlists", `{"action":"list","limit":2}`, "GET /v1/me/playlists?limit=2"},
		{"spotify_playlists", `{"action":"create","name":"Focus"}`, `POST /v1/me/playlists {"name":"Focus","public":false}`},
		{"spotify_playlists", `{"action":"add_items","playlist_id":"37i9dQZF1DX4wta20PHgwo","uris":["` + uri + `"],"position":0}`, `POST /v1/playlists/37i9dQZF1DX4wta20PHgwo/items {"position":0,"uris":["` + uri + `"]}`},
		{"spotify_playlists", `{"action":"remove_items","playlist_id":"37i9dQZF1DX4wta20PHgwo","uris":["` + uri + `"],"snapshot_id":"snap"}`, `DELETE /v1/playlists/37i9dQZF1DX4wta20PHgwo/items {"items":[{"uri":"` + uri + `"}],"snapshot_id":"snap"}`},
		{"spotify_playlists", `{"action":"update_details","playlist_id":"37i9dQZF1DX4wta20PHgwo","description":"","public":true}`, `PUT /v1/playlists/37i9dQZF1DX4wta20PHgwo {"description":"","public":true}`},
		{"spotify_albums", `{"action":"tracks","album_id":"1weenld61qoidwYuZ1GESA","limit":50}`, "GET /v1/albums/1weenld61qoidwYuZ1GESA/tracks?limit=50"},
		{"spotify_library", `{"action":"list","kind":"tracks","offset":20}`, "GET /v1/me/tracks?limit=20&offset=20"},
		{"spotify_library", `{"action":"save","kind":"tracks","ids":["4vLYewWIvqHfKtJDk8c8tq"]}`, "PUT /v1/me/library?uris=spotify%3Atrack%3A4vLYewWIvqHfKtJDk8c8tq"},
		{"spotify_library", `{"action":"remove","kind":"albums","uris":["spotify:album:1weenld61qoidwYuZ1GESA"]}`, "DELETE /v1/me/library?uris=spotify%3Aalbum%3A1weenld61qoidwYuZ1GESA"},
	} {
		got := call(t, set, tt.tool, tt.arguments)
		if asked := f.seen(); asked != tt.want {
			t.Errorf("%s %s\nsent %s\nwant %s\n(%s)", tt.tool, tt.arguments, asked, tt.want, got)
		}
	}
	for _, tt := range []struct{ tool, arguments, says string }{
		{"spotify_playback", `{"action":"dance"}`, "there is no action"},
		{"spotify_playback", `{"action":"seek"}`, "position_ms is missing"},
		{"spotify_playback", `{"action":"set_volume","volume_percent":101}`, "not between 0 and 100"},
		{"spotify_playback", `{"action":"play","uris":["` + uri + `"],"context_uri":"spotify:album:1weenld61qoidwYuZ1GESA"}`, "not both"},
		{"spotify_queue", `{"action":"add","uri":"spotify:album:1weenld61qoidwYuZ1GESA"}`, "of the kind album"},
		{"spotify_queue", `{"action":"add","uri":"../../me"}`, "no Spotify URI"},
		{"spotify_playlists", `{"action":"get","playlist_id":"x/../y"}`, "no Spotify URI"},
		{"spotify_library", `{"action":"save","kind":"tracks"}`, "uris is missing"},
		{"spotify_search", `{"query":"a","types":["song"]}`, "there is no type"},
	} {
		if got := call(t, set, tt.tool, tt.arguments); !strings.Contains(got, tt.says) {
			t.Errorf("%s %s: %s", tt.tool, tt.arguments, got)
		}
		if asked := f.seen(); asked != "" {
			t.Errorf("%s %s was sent: %s", tt.tool, tt.arguments, asked)
		}
	}
}

// TestSpotifyRefusalsSayWhatToDo: of each kind of refusal.
func TestSpotifyRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	f, p := newSpotify(t)
	set := p.toolset()
	for _, tt := range []struct {
		status     int
		body, says string
	}{
		{403, `{"error":{"status":403,"message":"Player command failed: Premium required","reason":"PREMIUM_REQUIRED"}}`, "needs Spotify Premium"},
		{404, `{"error":{"status":404,"message":"Player command failed: No active device found","reason":"NO_ACTIVE_DEVICE"}}`, "open Spotify on a device"},
		{403, `{"error":{"status":403,"message":"Insufficient client scope"}}`, "hermes auth spotify"},
		{429, `{"error":{"status":429,"message":"API rate limit exceeded"}}`, "wait 30s"},
		{500, `oops`, "answered 500: oops"},
	} {
		f.set(func(w http.ResponseWriter, _ *http.Request) bool {
			if tt.status == 429 {
				w.Header().Set("Retry-After", "30")
			}
			reply(w, tt.status, tt.body)
			return true
		})
		if got := call(t, set, "spotify_playback", `{"action":"next"}`); !strings.Contains(got, tt.says) {
			t.Errorf("%d %s: %s", tt.status, tt.body, got)
		}
	}
	f.seen()
	tries := 0
	f.set(func(w http.ResponseWriter, _ *http.Request) bool {
		if tries++; tries > 1 {
			return false
		}
		w.Header().Set("Retry-After", "1")
		reply(w, 429, `{}`)
		return true
	})
	if got := call(t, set, "spotify_devices", `{"action":"list"}`); !strings.Contains(got, "Kitchen") {
		t.Error("a read is not sent again after a short wait:", got)
	}
}

// TestSpotifyRenewsItsLogin: when it has ended, when Spotify refuses the token, and with the new refresh
// token the next time.
func TestSpotifyRenewsItsLogin(t *testing.T) {
	t.Parallel()
	f, p := newSpotify(t)
	var refreshed []string
	valid := "second"
	f.set(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/token" {
			if r.Header.Get("Authorization") == "Bearer "+valid {
				return false
			}
			reply(w, 401, `{"error":{"status":401,"message":"The access token expired"}}`)
			return true
		}
		refreshed = append(refreshed, r.Header.Get("Content-Type"))
		switch len(refreshed) {
		case 1:
			reply(w, 200, `{"access_token":"second","refresh_token":"r2","expires_in":3600}`)
		default:
			reply(w, 400, `{"error":"invalid_grant","error_description":"Refresh token revoked"}`)
		}
		return true
	})
	set := p.toolset()
	for range 2 {
		if got := call(t, set, "spotify_devices", `{"action":"list"}`); !strings.Contains(got, "Kitchen") {
			t.Fatal(got)
		}
	}
	if len(refreshed) != 1 || refreshed[0] != "application/x-www-form-urlencoded" {
		t.Errorf("it was renewed %d times: %q", len(refreshed), refreshed)
	}
	if now, err := login.Read(p.home); err != nil || now.Access != "second" || now.Refresh != "r2" || now.ClientID != "app" {
		t.Errorf("the login is %+v, %v", now, err)
	}
	valid = "none any more"
	if got := call(t, set, "spotify_devices", `{"action":"list"}`); !strings.Contains(got, "the login has ended") || !strings.Contains(got, "hermes auth spotify") {
		t.Error(got)
	}
	if _, err := login.Remove(p.home); err != nil {
		t.Fatal(err)
	}
	if got := call(t, set, "spotify_devices", `{"action":"list"}`); !strings.Contains(got, "there is no login") {
		t.Error(got)
	}
}
