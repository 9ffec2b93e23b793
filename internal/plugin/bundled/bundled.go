// Package bundled lists the plugins that come along with Hermes. They are parts of this program that
// run as processes of their own, behind the walls of plugins like any other: their manifests name
// `hermes plugins run NAME` as their program.
//
// Installing one writes its manifest and its README into the folder of plugins; [Plugin.Start] makes it
// in its own process. What a plugin does is in the folder of its name below this one. Settings of a
// plugin are words NAME=VALUE of its program in the manifest, so that the user sees them when it is
// enabled. Start at List.
package bundled

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes/internal/plugin/bundled/byterover"
	"hermes/internal/plugin/bundled/googlemeet"
	"hermes/internal/plugin/bundled/hindsight"
	"hermes/internal/plugin/bundled/holographic"
	"hermes/internal/plugin/bundled/login"
	"hermes/internal/plugin/bundled/openviking"
	"hermes/internal/plugin/bundled/rest"
	"hermes/internal/plugin/bundled/retaindb"
	"hermes/internal/plugin/bundled/spotify"
	"hermes/internal/plugin/sdk"
)

// version is that of all bundled plugins, as their manifests have it.
const version = "1.0.0"

// Plugin is a plugin that comes along.
type Plugin struct {
	Name, Description string
	// Login says how to log in; nil needs none. LogIn is what the user runs for that.
	Login *login.Service
	LogIn string

	files embed.FS
	// address is the setting of that name by default; "" has none. Manifests say $address for it, $host
	// for its host and port, and end lines that only fit an encrypted one with "# https".
	address string
	// settings are the others, with their defaults.
	settings map[string]string
	start    func(r running) (*sdk.Plugin, error)
}

// running is a plugin in its process.
type running struct {
	Process
	http     *http.Client
	settings map[string]string
	login    *login.Session
}

// List returns the plugins, sorted by name.
func List() []Plugin {
	music := spotify.Login()
	meetings := googlemeet.Login()
	return []Plugin{
		{
			Name: byterover.Name, Description: "remembers with ByteRover, whose program brv keeps notes on this machine", files: byterover.Files,
			settings: map[string]string{"program": "brv"},
			start: func(r running) (*sdk.Plugin, error) {
				var env []string
				for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "SYSTEMROOT", "TEMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA"} {
					if value := r.Getenv(name); value != "" {
						env = append(env, name+"="+value)
					}
				}
				return byterover.New(byterover.Config{Version: version, Program: r.settings["program"], Home: r.Getenv("HOME"), Env: env}), nil
			},
		},
		{
			Name: googlemeet.Name, Description: "makes meetings of Google Meet, and reads transcripts", Login: &meetings, LogIn: googlemeet.LogIn, files: googlemeet.Files,
			settings: map[string]string{"address": "https://meet.googleapis.com", "token": ""},
			start: func(r running) (*sdk.Plugin, error) {
				return googlemeet.New(googlemeet.Config{Version: version, Base: r.settings["address"], HTTP: r.http, Login: r.login}), nil
			},
		},
		{
			Name: hindsight.Name, Description: "remembers with Hindsight, in its cloud or on a server of yours", files: hindsight.Files,
			address: "https://api.hindsight.vectorize.io", settings: map[string]string{"bank": "hermes", "budget": "mid"},
			start: func(r running) (*sdk.Plugin, error) {
				return hindsight.New(hindsight.Config{
					Version: version, Base: r.settings["address"], Key: r.Getenv(hindsight.Key), Bank: r.settings["bank"], Budget: r.settings["budget"], HTTP: r.http,
				})
			},
		},
		{
			Name: holographic.Name, Description: "remembers facts on this machine, without a network", files: holographic.Files,
			settings: map[string]string{"trust": "0.5", "listen": "yes"},
			start: func(r running) (*sdk.Plugin, error) {
				trust, err := strconv.ParseFloat(r.settings["trust"], 64)
				if err != nil {
					return nil, fmt.Errorf("the setting trust is %q; it is a number between 0 and 1", r.settings["trust"])
				}
				return holographic.New(holographic.Config{Version: version, Home: r.Getenv("HOME"), Trust: trust, Listen: r.settings["listen"] == "yes", Now: r.Now})
			},
		},
		{
			Name: openviking.Name, Description: "remembers with OpenViking, on a server of yours", files: openviking.Files,
			address: "http://127.0.0.1:1933", settings: map[string]string{"account": "", "user": ""},
			start: func(r running) (*sdk.Plugin, error) {
				return openviking.New(openviking.Config{
					Version: version, Base: r.settings["address"], Key: r.Getenv(openviking.Key), Account: r.settings["account"], User: r.settings["user"], HTTP: r.http,
				}), nil
			},
		},
		{
			Name: retaindb.Name, Description: "remembers with RetainDB, a service for memories", files: retaindb.Files,
			address: "https://api.retaindb.com", settings: map[string]string{"project": "hermes", "user": "hermes-user"},
			start: func(r running) (*sdk.Plugin, error) {
				return retaindb.New(retaindb.Config{
					Version: version, Base: r.settings["address"], Key: r.Getenv(retaindb.Key), Project: r.settings["project"], User: r.settings["user"], HTTP: r.http,
				}), nil
			},
		},
		{
			Name: spotify.Name, Description: "controls Spotify", Login: &music, LogIn: spotify.LogIn, files: spotify.Files,
			settings: map[string]string{"address": "https://api.spotify.com/v1", "token": ""},
			start: func(r running) (*sdk.Plugin, error) {
				return spotify.New(spotify.Config{Version: version, Base: r.settings["address"], HTTP: r.http, Login: r.login}), nil
			},
		},
	}
}

// Find returns a plugin by its name.
func Find(name string) (Plugin, bool) {
	list := List()
	i := slices.IndexFunc(list, func(p Plugin) bool { return p.Name == name })
	if i < 0 {
		return Plugin{}, false
	}
	return list[i], true
}

// Write writes the plugin into a folder, ready to be installed. address replaces that of the public
// service; "" keeps it.
func (p Plugin) Write(dir, address string) error {
	if address != "" && p.address == "" {
		return fmt.Errorf("%s has no other address than that of the service", p.Name)
	}
	address = cmp.Or(strings.TrimRight(address, "/"), p.address)
	host, plain := "", false
	if address != "" {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.ContainsAny(address, " '\"#") {
			return fmt.Errorf("the address %q cannot be used; write it as https://host or http://127.0.0.1:PORT", address)
		}
		host, plain = u.Host, u.Scheme == "http" // Parse makes it lower case
		if u.Port() == "" {
			host = net.JoinHostPort(u.Hostname(), map[string]string{"https": "443", "http": "80"}[u.Scheme])
		}
	}
	entries, err := p.files.ReadDir(".")
	if err != nil {
		return err
	}
	fill := strings.NewReplacer("$address", address, "$host", host)
	for _, e := range entries {
		data, err := p.files.ReadFile(e.Name())
		if err != nil {
			return err
		}
		text := string(data)
		if e.Name() == "plugin.yaml" {
			text = fill.Replace(fitting(text, plain))
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// fitting drops the lines of a manifest that do not fit an address without encryption.
func fitting(manifest string, plain bool) string {
	var b strings.Builder
	for line := range strings.Lines(manifest) {
		kept, only := strings.CutSuffix(strings.TrimRight(line, "\n"), " # https")
		if !only || !plain {
			b.WriteString(kept + "\n")
		}
	}
	return b.String()
}

// Process is what a plugin in its own process runs on.
type Process struct {
	Getenv func(name string) string
	Now    func() time.Time
}

// Start makes a plugin in its process. words are those of its program after its name.
func (p Plugin) Start(on Process, words []string) (*sdk.Plugin, error) {
	r := running{Process: on, settings: maps.Clone(p.settings)}
	if p.address != "" {
		r.settings = map[string]string{"address": p.address}
		maps.Copy(r.settings, p.settings)
	}
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if _, known := r.settings[name]; !ok || !known {
			return nil, fmt.Errorf("the setting %q in the manifest is not known; %s has %s, each as NAME=VALUE", w, p.Name, strings.Join(slices.Sorted(maps.Keys(r.settings)), ", "))
		}
		r.settings[name] = value
	}
	var err error
	if r.http, err = rest.NewHTTP(on.Getenv, "hermes-plugin-"+p.Name+"/"+version); err != nil {
		return nil, err
	}
	if p.Login != nil {
		c := p.Login.OAuth
		c.Client, c.Now = r.http, on.Now
		c.TokenURL = cmp.Or(r.settings["token"], c.TokenURL)
		r.login = &login.Session{OAuth: c, Home: on.Getenv("HOME"), Again: p.LogIn, Now: on.Now}
	}
	return p.start(r)
}
