package checkpoint_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	snapshots "hermes/internal/checkpoint"
	"hermes/internal/policy"
	"hermes/internal/tool/checkpoint"
)

// host is a session in a folder.
type host struct {
	hermes.Host
	dir string
}

func (h host) Session() hermes.SessionRef      { return hermes.SessionRef{ID: "s", Turn: 1, Dir: h.dir} }
func (h host) Environment() hermes.Environment { return place{dir: h.dir} }

type place struct {
	hermes.Environment
	dir string
}

func (p place) Files() hermes.Files { return files{dir: p.dir} }

type files struct {
	hermes.Files
	dir string
}

func (f files) Resolve(path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	return filepath.Join(f.dir, path), nil
}

// open is what the tools use of the file tools, without any protected path.
type open struct{}

func (open) JudgeWrites(_ context.Context, _ hermes.Host, paths ...string) ([]policy.PathVerdict, []error) {
	return make([]policy.PathVerdict, len(paths)), make([]error, len(paths))
}
func (open) Lock(context.Context, ...string) (func(), error)  { return func() {}, nil }
func (open) Replaced(context.Context, hermes.Host, ...string) {}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestArgumentsThatDoNotFit gives errors that say what to do, and change nothing.
func TestArgumentsThatDoNotFit(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "a"), []byte("old\n"), 0o644))
	store := snapshots.New(snapshots.Config{Folder: filepath.Join(t.TempDir(), "checkpoints")})
	here := func(context.Context, hermes.Host) (*snapshots.Store, string, error) { return store, dir, nil }
	none := func(context.Context, hermes.Host) (*snapshots.Store, string, error) {
		return nil, "", errors.New("there is none")
	}
	for _, tt := range []struct {
		of              func(context.Context, hermes.Host) (*snapshots.Store, string, error)
		tool, arguments string
		want            string // part of the error; "" if it works
	}{
		{here, "checkpoint", `{"name":"12"}`, "use words"},
		{here, "checkpoint", `{"name":"two\nlines"}`, "one line"},
		{here, "checkpoint", `{"name":"` + strings.Repeat("x", 61) + `"}`, "at most 60"},
		{none, "checkpoint", `{"name":"far"}`, "there is none"},
		{here, "restore", `{"checkpoint":"1"}`, "has none yet"},
		{here, "checkpoint", `{"name":"twice"}`, ""},
		{here, "checkpoint", `{"name":"twice"}`, ""},
		{here, "checkpoint", `{}`, ""},
		{here, "restore", `{"checkpoint":"other"}`, "3 (checkpoint of the model), 2 (twice), 1 (twice)"},
		{here, "restore", `{"checkpoint":"1","files":["../b"]}`, "is not in"},
		{here, "restore", `{"checkpoint":"1","files":[""]}`, "is not in"},
		{none, "restore", `{"checkpoint":"1"}`, "there is none"},
		{here, "restore", `{"checkpoint":"1","files":["a"]}`, ""},
		{here, "restore", `{"checkpoint":"twice"}`, ""},
	} {
		set := checkpoint.New(checkpoint.Config{Of: tt.of, Files: open{}})
		tools, err := set.Tools(t.Context())
		must(t, err)
		for _, tool := range tools {
			if tool.Spec().Name != tt.tool {
				continue
			}
			c := &hermes.Call{ID: "c", Name: tt.tool, Arguments: json.RawMessage(tt.arguments), Host: host{dir: dir}}
			if a, ok := tool.(hermes.RiskAssessor); ok && len(a.AssessRisk(t.Context(), c)) > 0 {
				t.Errorf("%s %s has a risk", tt.tool, tt.arguments)
			}
			r, err := tool.Run(t.Context(), c)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%s %s: %s %v, want %q", tt.tool, tt.arguments, r.Text, err, tt.want)
			}
			if tt.arguments == `{"checkpoint":"twice"}` && !strings.Contains(r.Text, `"checkpoint":2,`) {
				t.Errorf("of two with a name it is not the newest: %s", r.Text)
			}
		}
	}
	if why := checkpoint.New(checkpoint.Config{}).Available(t.Context()); !strings.Contains(why, "checkpoints.enabled") {
		t.Errorf("without a store: %q", why)
	}
}
