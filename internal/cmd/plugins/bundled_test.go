package plugins_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/cmd/plugins"
	"hermes/internal/oauth"
	"hermes/internal/oauthserver"
	"hermes/internal/plugin"
	"hermes/internal/plugin/bundled"
	"hermes/internal/plugin/bundled/login"
)

// TestBundledPluginsAreListedAndInstalled by a plain name, off like any other, and also with another address.
func TestBundledPluginsAreListedAndInstalled(t *testing.T) {
	t.Parallel()
	d := desk{t: t, home: t.TempDir()}
	if out := d.must("", "list", "--available"); !strings.Contains(out, "spotify") || !strings.Contains(out, "holographic") {
		t.Error(out)
	}
	out := d.must("", "install", "spotify")
	if !strings.Contains(out, "hermes auth spotify") || d.state("spotify") != "off" || d.file("config.yaml") != "" {
		t.Error(out, d.state("spotify"), d.file("config.yaml"))
	}
	if out := d.must("", "list", "--available", "--json"); !strings.Contains(out, `"name": "spotify",`+"\n    "+`"description": "controls Spotify",`+"\n    "+`"installed": true`) {
		t.Error(out)
	}
	if _, err := d.run("", "install", "spotify"); err == nil || !strings.Contains(err.Error(), "--replace") {
		t.Error(err)
	}
	if out := d.must("", "install", "hindsight"); !strings.Contains(out, "hermes config set HINDSIGHT_API_KEY") {
		t.Error(out)
	}
	d.must("", "install", "hindsight", "--replace", "--address", "http://127.0.0.1:8888")
	if m, _, err := plugin.ReadManifest(filepath.Join(d.home, "plugins", "hindsight")); err != nil || m.Capabilities.Hosts[0] != "127.0.0.1:8888" {
		t.Error(m, err)
	}
	if out := d.must("", "update"); !strings.Contains(out, "spotify is the newest: this version of Hermes") {
		t.Error(out)
	}
	if _, err := d.run("", "install", "./words", "--address", "https://x"); err == nil || !strings.Contains(err.Error(), "--available") {
		t.Error(err)
	}
	entries, err := os.ReadDir(filepath.Join(d.home, "plugins"))
	if err != nil || len(entries) != 4 { // and the lock and the key of sources
		t.Errorf("the folder of plugins has %v, %v", entries, err)
	}
}

// TestAPluginRunsWithoutAHome: as the program of a plugin, where it can read nothing of Hermes.
func TestAPluginRunsWithoutAHome(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "none")
	var out bytes.Buffer
	f := factory.New(app.Options{Home: home, Getenv: func(string) string { return "" }}, factory.IO{Out: &out, Err: &out})
	defer f.Close()
	cmd := plugins.NewCmd(f)
	cmd.SetArgs([]string{"run", "spotify"})
	cmd.SetIn(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol":1}}` + "\n"))
	cmd.SetOut(&out)
	if err := cmd.ExecuteContext(t.Context()); err != nil || !strings.Contains(out.String(), `"name":"spotify"`) {
		t.Error(out.String(), err)
	}
	if _, err := os.Stat(home); err == nil {
		t.Error("it made a home")
	}
	cmd.SetArgs([]string{"run", "words"})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "--available") {
		t.Error(err)
	}
}

// TestALoginIsForThePluginOnly: it is made outside of the walls, kept in the private home of the plugin, and
// forgotten when the user says so.
func TestALoginIsForThePluginOnly(t *testing.T) {
	t.Parallel()
	server := oauthserver.New()
	t.Cleanup(server.Close)
	home := t.TempDir()
	variables := map[string]string{"PATH": os.Getenv("PATH")}
	run := func(answer string, args ...string) (string, error) {
		var out bytes.Buffer
		f := factory.New(app.Options{Home: home, Getenv: func(name string) string { return variables[name] }}, factory.IO{
			Out: &out, Err: &out, Terminal: func() bool { return answer != "" },
			Browse: func(ctx context.Context, address string) error {
				go func() { // the browser, which goes where it is sent
					if resp, err := http.Get(address); err == nil {
						resp.Body.Close()
					}
				}()
				return nil
			},
		})
		defer f.Close()
		cmd := plugins.NewCmdWith(f, func(name string) (bundled.Plugin, bool) {
			b, ok := bundled.Find(name)
			if b.Login != nil {
				b.Login.OAuth = oauth.Config{AuthURL: server.URL + "/authorize", TokenURL: server.URL + "/token", Scopes: []string{"a", "b"}}
			}
			return b, ok
		})
		in, typed := io.Pipe() // a terminal that says nothing more
		t.Cleanup(func() { typed.Close() })
		if answer != "" {
			go typed.Write([]byte(answer + "\n"))
		}
		cmd.SetArgs(append([]string{"login"}, args...))
		cmd.SetIn(in)
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := cmd.ExecuteContext(ctx)
		return out.String(), err
	}
	if out, err := run("", "spotify"); err == nil || !strings.Contains(err.Error(), "developer.spotify.com") || !strings.Contains(err.Error(), "--client-id") {
		t.Error("without a client:", out, err)
	}
	if _, err := run("", "google-meet", "--client-id", "x"); err == nil || !strings.Contains(err.Error(), "HERMES_GOOGLE_MEET_CLIENT_SECRET") {
		t.Error("without a secret:", err)
	}
	if _, err := run("", "holographic"); err == nil || !strings.Contains(err.Error(), "--available") {
		t.Error("a plugin without a login:", err)
	}
	out, err := run("my-app", "spotify")
	if err != nil || !strings.Contains(out, "Logged in at Spotify") {
		t.Fatal(out, err)
	}
	var private string
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	if private, err = a.PluginHome("spotify"); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	f, err := login.Read(private)
	if err != nil || f.ClientID != "my-app" || f.Refresh == "" || !server.Valid(f.Access) {
		t.Errorf("the login is %+v, %v", f, err)
	}
	if strings.Contains(out, f.Access) || strings.Contains(out, f.Refresh) {
		t.Error("the login was shown:", out)
	}
	if info, err := os.Stat(filepath.Join(private, "login.json")); err != nil || info.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
		t.Error(info.Mode(), err)
	}
	if out, err := run("", "spotify"); err != nil { // it knows the client from before
		t.Error(out, err)
	}
	foreign := filepath.Join(home, "plugins", "spotify")
	desk{t: t, home: home}.write(filepath.Join(foreign, "plugin.yaml"), "name: spotify\nprogram: [x]\nkinds: [tools]\n")
	if out, err := run("", "spotify"); err == nil || !strings.Contains(err.Error(), "would get the login") {
		t.Error("for another plugin of that name:", out, err)
	}
	if out, err := run("", "spotify", "--logout"); err != nil || !strings.Contains(out, "Forgot") {
		t.Error(out, err)
	}
	if _, err := login.Read(private); !os.IsNotExist(err) {
		t.Error("the login is still there:", err)
	}
}
