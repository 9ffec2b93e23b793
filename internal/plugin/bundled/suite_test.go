package bundled_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/environment"
	"hermes/internal/plugin"
	"hermes/internal/plugin/bundled"
	"hermes/internal/plugin/source"
)

// TestMain runs the tests, or one plugin, as the program does.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "plugins" && os.Args[2] == "run" {
		if err := run(os.Args[3], os.Args[4:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func run(name string, words []string) error {
	b, _ := bundled.Find(name)
	p, err := b.Start(bundled.Process{Getenv: os.Getenv, Now: time.Now}, words)
	if err != nil {
		return err
	}
	return p.Serve(context.Background(), os.Stdin, os.Stdout)
}

// place is where one plugin is installed.
type place struct {
	t                  *testing.T
	folder, home, name string
	config             plugin.Config
}

// install writes a plugin as `hermes plugins install` does, with more settings than its manifest has.
// env are variables of its program.
func install(t *testing.T, name, address string, env []string, settings ...string) *place {
	t.Helper()
	p := &place{t: t, folder: t.TempDir(), home: t.TempDir(), name: name}
	b, ok := bundled.Find(name)
	if !ok {
		t.Fatal("there is no plugin " + name)
	}
	from := t.TempDir()
	if err := b.Write(from, address); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(from, "plugin.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	words := ""
	for _, s := range settings {
		words += ", " + fmt.Sprintf("%q", s)
	}
	text := strings.Replace(string(data), "plugins, run, "+name, "plugins, run, "+name+words, 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	i, err := plugin.Begin(t.Context(), p.folder, source.Tools{})
	if err != nil {
		t.Fatal(err)
	}
	staged, err := i.Stage(t.Context(), source.Source{Kind: source.Folder, From: from})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range staged.Notes {
		if !strings.Contains(n, "has no effect in this version") {
			t.Fatal(n)
		}
	}
	if err := errors.Join(i.Put(staged, false), i.Close()); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.config = plugin.Config{Program: self, Memory: plugin.MemoryUse{Chosen: name}, Environment: func(_ plugin.Manifest, dir string) (hermes.Environment, error) {
		return environment.NewLocal(environment.LocalConfig{Dir: dir, Env: append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home}, env...)})
	}}
	return p
}

// load enables the plugin and loads it as a program does.
func (p *place) load() *plugin.Plugins {
	p.t.Helper()
	dir := filepath.Join(p.folder, p.name)
	m, _, err := plugin.ReadManifest(dir)
	if err != nil {
		p.t.Fatal(err)
	}
	d, err := plugin.Digest(dir)
	if err != nil {
		p.t.Fatal(err)
	}
	o, err := plugin.Look(p.t.Context(), p.config, dir, m)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := plugin.PinsIn(p.folder).Set(p.t.Context(), p.name, plugin.Pin{Digest: d, Offer: o}); err != nil {
		p.t.Fatal(err)
	}
	all, err := plugin.New(p.config, p.folder, []string{p.name}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = all.Close() }) // it has no error
	return all
}

func (p *place) toolset() hermes.Toolset {
	p.t.Helper()
	return p.load().Toolsets()[0]
}

// fake is a service that notes what it was asked.
type fake struct {
	*httptest.Server
	mux *http.ServeMux

	mu    sync.Mutex
	asked []string
	// before, if set, may answer in place of the service.
	before func(w http.ResponseWriter, r *http.Request) bool
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{mux: http.NewServeMux()}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		_ = json.NewDecoder(r.Body).Decode(&body) // none is null
		f.mu.Lock()
		f.asked = append(f.asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		before := f.before
		f.mu.Unlock()
		if before == nil || !before(w, r) {
			f.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), bodyKey{}, body)))
		}
	}))
	t.Cleanup(f.Close)
	return f
}

type bodyKey struct{}

// bodyOf is the body of a request.
func bodyOf(r *http.Request) map[string]any {
	raw, _ := r.Context().Value(bodyKey{}).(json.RawMessage)
	var m map[string]any
	_ = json.Unmarshal(raw, &m) // none is nil
	return m
}

// answers makes the service answer a pattern always in the same way; "" is 204.
func (f *fake) answers(pattern, body string) {
	f.mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, body) })
}

func reply(w http.ResponseWriter, status int, body string) {
	if body == "" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprint(w, body)
}

func (f *fake) set(before func(w http.ResponseWriter, r *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = before
}

// seen returns what was asked since the last time.
func (f *fake) seen() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := strings.Join(f.asked, "\n")
	f.asked = nil
	return s
}

// call runs a tool and returns what the model reads.
func call(t *testing.T, set hermes.Toolset, name, arguments string) string {
	t.Helper()
	tools, err := set.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if tool.Spec().Name == name {
			fits(t, tool.Spec(), arguments)
			r, err := tool.Run(t.Context(), &hermes.Call{ID: "c", Name: name, Arguments: json.RawMessage(arguments), Host: host{}})
			if err != nil {
				return err.Error()
			}
			return r.Text
		}
	}
	t.Fatal("there is no tool " + name)
	return ""
}

// fits checks that the schema of a tool has the arguments of a call.
func fits(t *testing.T, s hermes.Spec, arguments string) {
	t.Helper()
	var schema struct{ Properties map[string]any }
	var given map[string]any
	if err := errors.Join(json.Unmarshal(s.Schema, &schema), json.Unmarshal([]byte(arguments), &given)); err != nil {
		t.Fatal(err)
	}
	for name := range given {
		if schema.Properties[name] == nil {
			t.Errorf("the schema of %s does not have %s", s.Name, name)
		}
	}
}

// host is a session.
type host struct{ hermes.Host }

func (host) Session() hermes.SessionRef { return hermes.SessionRef{ID: "s", Platform: "cli"} }
func (host) Progress(string)            {}
