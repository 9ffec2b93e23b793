package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/environment"
	"hermes/internal/plugin"
)

// fixture is a folder with one plugin, whose program is this test.
type fixture struct {
	t      *testing.T
	folder string
	kind   string
	file   string // that the program may write
	config plugin.Config
	all    *plugin.Plugins
	err    error
}

const manifest = `name: test
version: "1"
description: A plugin for tests.
program: [plugin.test]
kinds: [tools, hooks, prompt]
timeouts: {start: 20, call: 20}
capabilities:
  tools: [read_file]
  approvals: true
  complete: {per_minute: 2, max_tokens: 100}
`

// install writes a plugin, without enabling it.
func install(t *testing.T, kind, manifest string) *fixture {
	t.Helper()
	f := &fixture{t: t, folder: t.TempDir(), kind: kind, file: filepath.Join(t.TempDir(), "file")}
	if err := os.Mkdir(filepath.Join(f.folder, "test"), 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f.put("plugin.yaml", strings.ReplaceAll(manifest, "plugin.test", filepath.Base(self)))
	f.config = plugin.Config{Version: "9", Environment: func(plugin.Manifest, string) (hermes.Environment, error) {
		return environment.NewLocal(environment.LocalConfig{Dir: filepath.Join(f.folder, "test"), Env: []string{
			"PATH=" + filepath.Dir(self) + string(filepath.ListSeparator) + os.Getenv("PATH"), programKind + "=" + f.kind, "PLUGIN_TEST_FILE=" + f.file,
		}})
	}}
	return f
}

func (f *fixture) put(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.folder, "test", name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// enable looks at the plugin and pins it.
func (f *fixture) enable() plugin.Offer {
	f.t.Helper()
	dir := filepath.Join(f.folder, "test")
	m, notes, err := plugin.ReadManifest(dir)
	if err != nil || len(notes) > 0 {
		f.t.Fatal(notes, err)
	}
	d, err := plugin.Digest(dir)
	if err != nil {
		f.t.Fatal(err)
	}
	o, err := plugin.Look(f.t.Context(), f.config, dir, m)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := plugin.PinsIn(f.folder).Set(f.t.Context(), "test", plugin.Pin{Digest: d, Offer: o}); err != nil {
		f.t.Fatal(err)
	}
	return o
}

// load makes the plugins as a program does that begins.
func (f *fixture) load(taken ...string) *fixture {
	f.t.Helper()
	f.all, f.err = plugin.New(f.config, f.folder, []string{"test"}, func(name string) bool {
		for _, t := range taken {
			if t == name {
				return true
			}
		}
		return false
	})
	f.t.Cleanup(func() { _ = f.all.Close() }) // it has no error
	return f
}

// begin installs, enables and loads a plugin, which then behaves as a kind.
func begin(t *testing.T, kind string) *fixture {
	t.Helper()
	f := install(t, "", manifest)
	f.kind = "plain"
	f.enable()
	f.kind = kind
	f.load()
	if f.err != nil {
		t.Fatal(f.err)
	}
	return f
}

func (f *fixture) tool(name string) hermes.Tool {
	f.t.Helper()
	for _, set := range f.all.Toolsets() {
		tools, err := set.Tools(f.t.Context())
		if err != nil {
			f.t.Fatal(err)
		}
		for _, t := range tools {
			if t.Spec().Name == name {
				return t
			}
		}
	}
	f.t.Fatalf("no tool %s", name)
	return nil
}

func (f *fixture) run(ctx context.Context, h hermes.Host, name, arguments string) (hermes.Result, error) {
	f.t.Helper()
	return f.tool(name).Run(ctx, &hermes.Call{ID: "c", Name: name, Arguments: json.RawMessage(arguments), Host: h})
}

// host is a session that remembers what it was asked.
type host struct {
	taint string

	mu       sync.Mutex
	progress []string
	moved    chan struct{}
	asked    []hermes.Question
	invoked  []string
}

func (h *host) Session() hermes.SessionRef {
	return hermes.SessionRef{ID: "s", Platform: "cli", Provenance: h.taint, Attended: true}
}
func (h *host) Environment() hermes.Environment { return nil }
func (h *host) Approve(context.Context, hermes.ApprovalRequest) (hermes.ApprovalAnswer, error) {
	return hermes.ApprovalAnswer{}, errors.New("a plugin does not ask for approvals itself")
}
func (h *host) Ask(_ context.Context, q hermes.Question) (hermes.Answer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, q)
	return hermes.Answer{Texts: []string{"b"}}, nil
}
func (h *host) Spawn(context.Context, hermes.Task) (hermes.Report, error) {
	return hermes.Report{}, nil
}
func (h *host) Invoke(_ context.Context, name string, arguments json.RawMessage) (hermes.Result, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.invoked = append(h.invoked, name+string(arguments))
	return hermes.Result{Text: "read"}, nil
}
func (h *host) Progress(s string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.progress = append(h.progress, s)
	if h.moved != nil {
		close(h.moved)
		h.moved = nil
	}
}
