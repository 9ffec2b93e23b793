package profile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/cmd/profile"
	"hermes/internal/home"
)

type world struct {
	root home.Dir
	used bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{root: home.At(filepath.Join(t.TempDir(), "h"))}
	for name, text := range map[string]string{
		"config.yaml": "a: 1\n", ".env": "K=1\n", "SOUL.md": "me", "skills/x/SKILL.md": "skill", "memories/USER.md": "ann",
		"state.db": "sessions", "logs/agent.log": "log", "plugins/p/plugin.yaml": "p",
	} {
		path := w.root.Join(filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return w
}

func (w *world) run(t *testing.T, stdin, args string) (string, error) {
	t.Helper()
	getenv := func(name string) string {
		return map[string]string{"HERMES_HOME": w.root.Path()}[name]
	}
	cmd := profile.NewCmd(factory.New(app.Options{Getenv: getenv}, factory.IO{}), func(home.Dir) (bool, error) { return w.used, nil })
	var out bytes.Buffer
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(strings.Fields(args))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	return filepath.ToSlash(strings.ReplaceAll(out.String(), w.root.Path(), "$HOME")), err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func files(t *testing.T, d home.Dir) []string {
	t.Helper()
	var names []string
	must(t, filepath.Walk(d.Path(), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			rel, _ := filepath.Rel(d.Path(), path)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	}))
	return names
}

func TestProfileLifecycle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	steps := []struct{ args, stdin, want string }{
		{"create dev --use", "", "Created profile dev in $HOME/profiles/dev. Use it with `hermes -p dev`.\n"},
		{"list", "", "  default          $HOME\n* dev              $HOME/profiles/dev  (set by `hermes profile use`)\n"},
		{"use default", "", "Using profile default from now on ($HOME).\n"},
		{"", "", "* default          $HOME\n  dev              $HOME/profiles/dev\n"},
		{"use dev", "", "Using profile dev from now on ($HOME/profiles/dev).\n"},
		{"show", "", "profile   dev\nhome      $HOME/profiles/dev\nsettings  none\nsecrets   none\nidentity  none\nsessions  none\nsize      0 B in 0 files\n"},
		{"delete dev", "dev\n", "Delete profile dev with 0 files (0 B) in $HOME/profiles/dev? Type its name to confirm: " +
			"It was the current profile. The default profile is used now.\nDeleted profile dev.\n"},
		{"list", "", "* default          $HOME\n"},
	}
	for _, s := range steps {
		out, err := w.run(t, s.stdin, s.args)
		must(t, err)
		if diff := cmp.Diff(s.want, out); diff != "" {
			t.Errorf("%s: %s", s.args, diff)
		}
	}
}

func TestCloneCopiesEverythingButHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	few := []string{".env", "SOUL.md", "config.yaml", "memories/USER.md", "skills/x/SKILL.md"}
	tests := []struct {
		args string
		want []string
	}{
		{"create a", nil},
		{"create b --clone", few},
		{"create c --clone-all", []string{".env", "SOUL.md", "config.yaml", "memories/USER.md", "plugins/p/plugin.yaml", "skills/x/SKILL.md"}},
		{"create d --clone-from b", few},
	}
	for _, tt := range tests {
		_, err := w.run(t, "", tt.args)
		must(t, err)
		p, err := w.root.Sub(strings.Fields(tt.args)[1])
		must(t, err)
		if diff := cmp.Diff(tt.want, files(t, p)); diff != "" {
			t.Errorf("%s: %s", tt.args, diff)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.run(t, "", "create dev")
	must(t, err)
	tests := []struct{ args, stdin, want string }{
		{"create dev", "", "already"},
		{"create default", "", "always exists"},
		{"create ../x", "", "is not a valid profile name"},
		{"create x --clone-from nope", "", `no profile "nope"`},
		{"use nope", "", "hermes profile create nope"},
		{"show nope", "", "hermes profile list"},
		{"delete nope", "", "no profile"},
		{"delete default --yes", "", "cannot be deleted"},
		{"delete dev", "yes\n", "nothing was deleted"},
		{"delete dev", "", "nothing was deleted"},
	}
	for _, tt := range tests {
		if _, err := w.run(t, tt.stdin, tt.args); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.args, err, tt.want)
		}
	}
	w.used = true
	if _, err := w.run(t, "", "delete dev --yes"); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("got %v", err)
	}
	if names, _ := w.root.Profiles(); len(names) != 2 {
		t.Errorf("got %v", names)
	}
}

func TestMissingProfileCanBeReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, os.WriteFile(w.root.StickyFile(), []byte("gone\n"), 0o600))
	out, err := w.run(t, "", "list")
	must(t, err)
	if out != "* default          $HOME\n" {
		t.Errorf("got %q", out)
	}
	if _, err := w.run(t, "", "use default"); err != nil || w.root.Sticky() != "" {
		t.Errorf("got %v, still %q", err, w.root.Sticky())
	}
}
