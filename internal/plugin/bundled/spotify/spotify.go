// Package spotify is the plugin that controls Spotify: seven tools over its Web API. It runs as a
// program of its own (internal/plugin/bundled) and reaches nothing but Spotify.
//
// The tools are in player.go (what plays, where and what comes next), catalogue.go (search, albums),
// playlists.go and library.go; items.go shortens what Spotify sends. Start at New.
package spotify

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hermes/internal/oauth"
	"hermes/internal/plugin/bundled/login"
	"hermes/internal/plugin/bundled/rest"
	"hermes/internal/plugin/sdk"
)

// Files are the manifest and what it says to users.
//
//go:embed plugin.yaml README.md
var Files embed.FS

// Name is that of the plugin.
const Name = "spotify"

// LogIn is what the user runs.
const LogIn = "hermes auth spotify"

// Login says how to log in.
func Login() login.Service {
	return login.Service{
		Title: "Spotify",
		OAuth: oauth.Config{
			AuthURL: "https://accounts.spotify.com/authorize", TokenURL: "https://accounts.spotify.com/api/token", Redirect: "http://127.0.0.1:43827/spotify/callback",
			Scopes: strings.Fields("user-read-playback-state user-modify-playback-state user-read-currently-playing user-read-recently-played " +
				"playlist-read-private playlist-read-collaborative playlist-modify-public playlist-modify-private user-library-read user-library-modify"),
		},
		IDVariable: "HERMES_SPOTIFY_CLIENT_ID",
		Steps: "Spotify wants each user to register an app of their own, which takes two minutes:\n" +
			"  1. Open https://developer.spotify.com/dashboard and choose Create app.\n" +
			"  2. Name and description are up to you. Redirect URI: http://127.0.0.1:43827/spotify/callback\n" +
			"  3. Tick Web API, save, open Settings and copy the Client ID.",
	}
}

// Config is what the plugin runs on.
type Config struct {
	Version string
	// Base is the address of the Web API with its version.
	Base  string
	HTTP  *http.Client
	Login *login.Session
}

// New makes the plugin.
func New(c Config) *sdk.Plugin {
	s := &service{&rest.Client{
		Service: "Spotify", Base: c.Base, HTTP: c.HTTP, Authorize: c.Login.Authorize, Renew: c.Login.Renew, Advice: advice,
	}}
	return &sdk.Plugin{Name: Name, Version: c.Version, Tools: []sdk.Tool{
		s.playback(), s.devices(), s.queue(), s.search(), s.playlists(), s.albums(), s.library(),
	}}
}

// service is the Web API.
type service struct{ *rest.Client }

// advice says what to do about what Spotify refuses.
func advice(f *rest.Failure) string {
	said := strings.ToLower(f.Said)
	switch {
	case f.Reason == "PREMIUM_REQUIRED" || f.Status == http.StatusForbidden && strings.Contains(said, "premium"):
		return "this needs Spotify Premium: tell the user, and do not try it again"
	case f.Reason == "NO_ACTIVE_DEVICE" || strings.Contains(said, "no active device"):
		return "ask the user to open Spotify on a device; spotify_devices lists those that are there"
	case f.Status == http.StatusForbidden && strings.Contains(said, "scope"):
		return "the login does not allow this: ask the user to run `" + LogIn + "`"
	case f.Status == http.StatusUnauthorized:
		return "ask the user to run `" + LogIn + "`"
	case f.Status == http.StatusForbidden:
		return "the user may have to be added to the app at developer.spotify.com, or may not change this"
	}
	return ""
}

// done answers a call that changed something.
func done(what string, args ...any) any {
	return map[string]any{"done": fmt.Sprintf(what, args...)}
}

// send sends a request whose answer says nothing.
func (s *service) send(ctx context.Context, method, path string, query url.Values, body any, what string, args ...any) (any, error) {
	if _, err := s.Do(ctx, method, path, clean(query), body, nil); err != nil {
		return nil, err
	}
	return done(what, args...), nil
}

// clean removes parameters without a value.
func clean(q url.Values) url.Values {
	for name, values := range q {
		if len(values) == 0 || values[0] == "" {
			delete(q, name)
		}
	}
	return q
}

// paging are the parameters of lists.
type paging struct {
	limit, offset int
	market        string
}

func (p paging) query(limit, most int) url.Values {
	if p.limit <= 0 {
		p.limit = limit
	}
	q := url.Values{"limit": {strconv.Itoa(min(p.limit, most))}, "market": {strings.ToUpper(p.market)}}
	if p.offset > 0 {
		q.Set("offset", strconv.Itoa(p.offset))
	}
	return clean(q)
}

var (
	idPattern  = regexp.MustCompile(`^[A-Za-z0-9]{5,64}$`)
	uriPattern = regexp.MustCompile(`^spotify:([a-z]+):([A-Za-z0-9]{5,64})$`)
)

// uri brings an id, a URI or a link of open.spotify.com into the form of a URI. kinds are those that fit;
// the first is that of a bare id, if there is only one.
func uri(text string, kinds ...string) (string, error) {
	text = strings.TrimSpace(text)
	form := text
	if u, err := url.Parse(text); err == nil && (u.Host == "open.spotify.com" || u.Host == "play.spotify.com") {
		parts := strings.Split(strings.Trim(u.Path, "/"), "/")
		if len(parts) > 2 && strings.HasPrefix(parts[0], "intl-") {
			parts = parts[1:]
		}
		form = "spotify:" + strings.Join(parts, ":")
	}
	if idPattern.MatchString(form) && len(kinds) == 1 {
		form = "spotify:" + kinds[0] + ":" + form
	}
	m := uriPattern.FindStringSubmatch(form)
	if m == nil {
		return "", fmt.Errorf("%q is no Spotify URI, such as spotify:%s:…; spotify_search finds them", text, kinds[0])
	}
	if !slices.Contains(kinds, m[1]) {
		return "", fmt.Errorf("%q is of the kind %s; this takes %s", text, m[1], strings.Join(kinds, " or "))
	}
	return form, nil
}

// id is the last part of a URI.
func id(text, kind string) (string, error) {
	if text == "" {
		return "", fmt.Errorf("%s_id is missing; spotify_search finds it", kind)
	}
	u, err := uri(text, kind)
	return u[strings.LastIndexByte(u, ':')+1:], err
}

// uris brings several into their form.
func uris(list []string, most int, kinds ...string) ([]string, error) {
	switch {
	case len(list) == 0:
		return nil, errors.New("uris is missing; spotify_search finds them")
	case len(list) > most:
		return nil, fmt.Errorf("there are %d uris; give %d at most, and call it again for the rest", len(list), most)
	}
	out := make([]string, len(list))
	for i, text := range list {
		var err error
		if out[i], err = uri(text, kinds...); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// unknown is an action that a tool does not have.
func unknown(action, actions string) error {
	return fmt.Errorf("there is no action %q; there are %s", action, strings.ReplaceAll(actions, ",", ", "))
}
