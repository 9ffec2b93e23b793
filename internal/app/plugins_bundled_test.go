package app_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/plugin"
	"hermes/internal/plugin/bundled"
	"hermes/internal/plugin/bundled/login"
	"hermes/internal/plugin/source"
)

// runBundled makes the tests the program of a bundled plugin, as hermes is.
func runBundled(name string, words []string) int {
	b, _ := bundled.Find(name)
	p, err := b.Start(bundled.Process{Getenv: os.Getenv, Now: time.Now}, words)
	if err == nil {
		err = p.Serve(context.Background(), os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// bring installs a bundled plugin and enables it as a command does. settings are further words of its program.
func bring(t *testing.T, s *scene, name, address string, settings ...string) {
	t.Helper()
	b, ok := bundled.Find(name)
	if !ok {
		t.Fatal("there is no plugin " + name)
	}
	from := t.TempDir()
	if err := b.Write(from, address); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(from, "plugin.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	words := ""
	for _, w := range settings {
		words += fmt.Sprintf(", %q", w)
	}
	writeFile(t, filepath.Join(from, "plugin.yaml"), strings.Replace(string(data), "plugins, run, "+name, "plugins, run, "+name+words, 1))
	folder := filepath.Join(s.home, "plugins")
	i, err := plugin.Begin(t.Context(), folder, source.Tools{})
	if err != nil {
		t.Fatal(err)
	}
	staged, err := i.Stage(t.Context(), source.Source{Kind: source.Folder, From: from})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(i.Put(staged, false), i.Close()); err != nil {
		t.Fatal(err)
	}
	m := staged.Manifest
	dir := filepath.Join(folder, name)
	d, err := plugin.Digest(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := app.Options{Home: s.home, Getenv: func(name string) string { return map[string]string{"PATH": os.Getenv("PATH")}[name] }}
	if s.options != nil {
		s.options(&o)
	}
	a := app.New(o)
	offer, err := a.LookAtPlugin(t.Context(), dir, m)
	why := offer.Shadows(a.TakenTools())
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err != nil || why != "" {
		t.Fatal(why, err)
	}
	if err := plugin.PinsIn(folder).Set(t.Context(), name, plugin.Pin{Digest: d, Offer: offer}); err != nil {
		t.Fatal(err)
	}
	s.config += "plugins: {enabled: [" + name + "]}\n"
}

// TestABundledPluginWorksInASession: it is the running program, its tools have the names that they had when
// they were expected to be built in, and it finds its login in its private home.
func TestABundledPluginWorksInASession(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/me/player/devices" || r.Header.Get("Authorization") != "Bearer the-token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"devices":[{"id":"d1","name":"Kitchen","type":"Speaker"}]}`)
	}))
	t.Cleanup(server.Close)
	s := newScene(t, hermes.AllowOnce)
	bring(t, s, "spotify", "", "address="+server.URL)
	s.enter()
	home, err := s.app.PluginHome("spotify")
	if err != nil || !strings.HasPrefix(home, s.home) {
		t.Fatal(home, err)
	}
	s.say(`CALL spotify_devices {"action":"list"}`)
	if got := s.model.results(); !strings.Contains(got, "hermes auth spotify") {
		t.Error("without a login:", got)
	}
	if err := login.Write(t.Context(), home, login.File{Access: "the-token", Refresh: "r", Expires: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	s.say(`CALL spotify_devices {"action":"list","play":false}`)
	if got := s.model.results(); !strings.Contains(got, "Kitchen") || strings.Contains(got, "the-token") {
		t.Error(got)
	}
}

// TestABundledMemoryRemembers: what one session said reaches the next from the memory that is chosen, and the
// user can ask it from the shell.
func TestABundledMemoryRemembers(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	bring(t, s, "holographic", "")
	s.config += "memory: {provider: holographic}\n"
	s.say("The staging server is called heron.")
	s.quit() // what is observed is waited for
	s.session = ""
	s.say("How is the staging server called?")
	if got := s.model.results(); !strings.Contains(got, "called heron.") {
		t.Error("it is not recalled:", got)
	}
	s.say(`CALL fact_store {"action":"search","query":"staging"}`)
	if got := s.model.results(); !strings.Contains(got, `"fact_id"`) && !strings.Contains(got, `"category":"said"`) {
		t.Error("its tools:", got)
	}
	if m := s.app.PluginMemory(); m == nil {
		t.Error("it is not the memory")
	} else if said, code, err := m.Run(t.Context(), "search", []string{"staging"}); code != 0 || err != nil || !strings.Contains(said, "heron") {
		t.Error(said, code, err)
	}
}
