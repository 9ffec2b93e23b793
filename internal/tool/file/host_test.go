package file_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hermes"
	"hermes/internal/tool/file"
)

// world is a home, a project below it, and the tools in it.
type world struct {
	t    *testing.T
	set  *file.Toolset
	home string
	dir  string
	env  *environment
}

func newWorld(t *testing.T) *world { return newWorldWith(t, file.Config{}) }

func newWorldWith(t *testing.T, c file.Config) *world {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	w := &world{t: t, home: home, dir: filepath.Join(home, "project")}
	must(t, os.Mkdir(w.dir, 0o755))
	c.State = filepath.Join(home, ".hermes")
	w.set = file.New(c)
	w.env = &environment{home: home, dir: w.dir, here: true}
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// put writes a file below the project and returns its path.
func (w *world) put(name, text string) string {
	w.t.Helper()
	path := w.path(name)
	must(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(w.t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func (w *world) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(w.dir, name)
}

// has returns a file's content, or "<missing>".
func (w *world) has(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "<missing>"
	}
	must(w.t, err)
	return string(data)
}

func (w *world) tool(name string) hermes.Tool {
	w.t.Helper()
	tools, err := w.set.Tools(w.t.Context())
	must(w.t, err)
	for _, tool := range tools {
		if tool.Spec().Name == name {
			return tool
		}
	}
	w.t.Fatalf("no tool %s", name)
	return nil
}

func (w *world) call(name string, arguments any) *hermes.Call {
	w.t.Helper()
	raw, err := json.Marshal(arguments)
	must(w.t, err)
	return &hermes.Call{ID: "c1", Name: name, Arguments: raw, Host: host{env: w.env, id: w.env.session}}
}

// run calls a tool and returns its result as a map and as text.
func (w *world) run(name string, arguments any) (map[string]any, string, error) {
	w.t.Helper()
	r, err := w.tool(name).Run(w.t.Context(), w.call(name, arguments))
	if err != nil {
		return nil, "", err
	}
	var out map[string]any
	must(w.t, json.Unmarshal([]byte(r.Text), &out))
	return out, r.Text, nil
}

// ok is run for calls that must succeed.
func (w *world) ok(name string, arguments any) map[string]any {
	w.t.Helper()
	out, _, err := w.run(name, arguments)
	if err != nil {
		w.t.Fatalf("%s %v: %v", name, arguments, err)
	}
	return out
}

// refused is run for calls that must fail, with want in the error.
func (w *world) refused(name string, arguments any, want string) {
	w.t.Helper()
	out, text, err := w.run(name, arguments)
	if err == nil || !strings.Contains(err.Error(), want) {
		w.t.Errorf("%s %v: got %v %s, want an error with %q", name, arguments, err, text, want)
	}
	_ = out
}

// other lets the toolset see a call of another tool.
func (w *world) other() {
	w.t.Helper()
	_, err := w.set.Hook().BeforeTool(w.t.Context(), w.call("terminal", map[string]any{}))
	must(w.t, err)
}

type args = map[string]any

type host struct {
	hermes.Host
	env *environment
	id  string
}

func (h host) Session() hermes.SessionRef {
	return hermes.SessionRef{ID: h.id, Dir: h.env.began, IgnoreRules: h.env.ignore}
}
func (h host) Environment() hermes.Environment { return h.env }

// environment runs commands and has the files of this machine. here says that
// tools may walk the files themselves; fail, if set, breaks changes.
type environment struct {
	hermes.Environment
	began              string // the session's folder, empty for dir
	home, dir, session string
	here               bool
	plain              bool   // ripgrep is not available to commands
	programs           string // the only folder of programs, if not empty
	fold               bool   // names that differ in case are the same file
	ignore             bool   // the session ignores rules
	across             bool   // renaming fails as between two disks
	layer              string
	fail               func(path string) error
	looked             func(path string) // is told what is looked at, if set
}

func (e *environment) Files() hermes.Files { return (*files)(e) }

func (e *environment) Describe(context.Context) hermes.Description {
	return hermes.Description{Home: e.home, Isolation: hermes.Isolation{Layer: e.layer, Holds: e.layer != ""}}
}

func (e *environment) Exec(ctx context.Context, c hermes.Command) (hermes.Exit, error) {
	if e.plain {
		c.Line = "command() { return 1; }\n" + c.Line
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", c.Line)
	cmd.Dir, cmd.Stdout, cmd.Stderr = e.dir, c.Stdout, c.Stderr
	if e.programs != "" {
		cmd.Env = []string{"PATH=" + e.programs}
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return hermes.Exit{Code: exit.ExitCode()}, nil
	}
	return hermes.Exit{}, err
}

type files environment

func (f *files) OnHost() bool { return f.here }

func (f *files) Resolve(path string) (string, error) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = f.home + path[1:]
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.dir, path)
	}
	return filepath.Clean(path), nil
}

// at returns the path under which the disk knows a file.
func (f *files) at(path string) string {
	if _, err := os.Lstat(path); err == nil || !f.fold {
		return path
	}
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		if strings.EqualFold(e.Name(), filepath.Base(path)) {
			return filepath.Join(filepath.Dir(path), e.Name())
		}
	}
	return path
}

func (f *files) Stat(_ context.Context, path string) (fs.FileInfo, error) {
	if f.looked != nil {
		f.looked(path)
	}
	return os.Stat(f.at(path))
}

func (f *files) RealPath(ctx context.Context, path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if target, err := os.Readlink(path); err == nil {
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(path), target)
			}
			return f.RealPath(ctx, target)
		}
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			return filepath.Join(dir, filepath.Base(path)), nil
		}
	}
	return real, err
}

func (f *files) Open(_ context.Context, path string) (io.ReadCloser, error) {
	return os.Open(f.at(path))
}

func (f *files) Write(_ context.Context, path string, data []byte, mode fs.FileMode) error {
	if err := f.broken(path); err != nil {
		return err
	}
	path = f.at(path)
	if mode == 0 {
		mode = 0o666
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp := path + ".tmp~"
	if err := os.WriteFile(tmp, data, mode); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

func (f *files) List(_ context.Context, dir string) ([]fs.DirEntry, error) { return os.ReadDir(dir) }

func (f *files) Remove(_ context.Context, path string) error {
	if err := f.broken(path); err != nil {
		return err
	}
	return os.Remove(f.at(path))
}

func (f *files) Rename(_ context.Context, from, to string) error {
	if err := f.broken(to); err != nil {
		return err
	}
	if f.across {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: syscall.EXDEV}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.Rename(f.at(from), to)
}

// broken returns the error that a change of path is to have.
func (f *files) broken(path string) error {
	if f.fail == nil {
		return nil
	}
	return f.fail(path)
}
