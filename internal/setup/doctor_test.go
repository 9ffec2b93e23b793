package setup_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/setup"
)

// healthy is a machine without problems.
func healthy(t *testing.T) setup.Deps {
	t.Helper()
	h := home.At(filepath.Join(t.TempDir(), "h"))
	must(t, h.Make(h.Path()))
	now := func() time.Time { return time.Date(2026, 11, 20, 17, 0, 0, 0, time.UTC) }
	return setup.Deps{
		Home: h,
		Load: func() *config.Config {
			return config.Load(h, config.Options{Managed: "-", Now: now, LookupEnv: func(string) (string, bool) { return "", false }})
		},
		Database: func(context.Context) error { return nil },
		Model:    func(context.Context) (string, error) { return "openrouter:big", nil },
		LookPath: func(name string) (string, error) { return "/bin/" + name, nil },
		Getenv:   func(name string) string { return map[string]string{"TERM": "xterm", "LANG": "C.UTF-8"}[name] },
		Free:     func(string) (uint64, error) { return 5 << 30, nil },
		Terminal: setup.Terminal{Input: true, Output: true, Columns: 100},
		OS:       runtime.GOOS,
		Now:      now,
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func diagnose(t *testing.T, d setup.Deps, fix bool) (results map[string]setup.Result, failed int) {
	t.Helper()
	results = map[string]setup.Result{}
	failed = setup.Diagnose(t.Context(), setup.Checks(d), fix, func(r setup.Result) { results[r.Name] = r })
	return results, failed
}

func TestAHealthyMachineHasNoFindings(t *testing.T) {
	t.Parallel()
	d := healthy(t)
	results, failed := diagnose(t, d, false)
	for name, r := range results {
		if r.Verdict != setup.OK {
			t.Errorf("%s: %s %s", name, r.Verdict, r.Text)
		}
	}
	if failed != 0 || len(results) != 14 {
		t.Errorf("%d checks, %d failed", len(results), failed)
	}
}

func TestDiagnoseDoesNotCreateTheHome(t *testing.T) {
	t.Parallel()
	d := healthy(t)
	must(t, os.Remove(d.Home.Path()))
	if _, failed := diagnose(t, d, false); failed != 0 || d.Home.Exists() {
		t.Errorf("%d failed; made: %v", failed, d.Home.Exists())
	}
}

func TestEachFaultIsFound(t *testing.T) {
	t.Parallel()
	write := func(d *setup.Deps, path, text string, mode os.FileMode) {
		_ = os.WriteFile(path, []byte(text), 0o600)
		_ = os.Chmod(path, mode)
	}
	tests := []struct {
		name  string
		spoil func(*setup.Deps)
		check string
		want  setup.Verdict
		text  string
	}{
		{"home is a file", func(d *setup.Deps) { d.Home = home.At(d.Home.Join("f")); write(d, d.Home.Path(), "", 0o600) }, "home", setup.Fail, "is not a folder"},
		{"home open to all", func(d *setup.Deps) { _ = os.Chmod(d.Home.Path(), 0o755) }, "privacy", setup.Warn, "mode 755"},
		{"broken settings", func(d *setup.Deps) { write(d, d.Home.Config(), "a: [\n", 0o600) }, "settings", setup.Fail, "line"},
		{"bad setting", func(d *setup.Deps) { write(d, d.Home.Config(), "agent: {max_turns: x}\n", 0o600) }, "settings", setup.Warn, "agent.max_turns"},
		{"open secrets", func(d *setup.Deps) { write(d, d.Home.Env(), "A=1\n", 0o644) }, "secrets", setup.Warn, ".env"},
		{"damaged database", func(d *setup.Deps) {
			write(d, d.Home.Database(), "x", 0o600)
			d.Database = func(context.Context) error { return errors.New("page 3 is damaged") }
		}, "database", setup.Fail, "page 3"},
		{"a wrong search service", func(d *setup.Deps) {
			d.Web = func() (string, error) { return "searches with no service", errors.New("EXA_API_KEY is not set") }
		}, "web", setup.Warn, "EXA_API_KEY"},
		{"no model", func(d *setup.Deps) {
			d.Model = func(context.Context) (string, error) { return "", errors.New("no provider is set up") }
		}, "model", setup.Fail, "no provider"},
		{"no shell", func(d *setup.Deps) {
			d.LookPath = func(string) (string, error) { return "", errors.New("no") }
		}, "shell", setup.Fail, "found none"},
		{"no git", func(d *setup.Deps) {
			d.LookPath = func(string) (string, error) { return "", errors.New("no") }
		}, "git", setup.Warn, "not found"},
		{"no ripgrep is fine", func(d *setup.Deps) {
			d.LookPath = func(string) (string, error) { return "", errors.New("no") }
		}, "ripgrep", setup.OK, "built-in"},
		{"dumb terminal", func(d *setup.Deps) { d.OS, d.Getenv = "linux", func(string) string { return "" } }, "terminal", setup.Warn, "TERM"},
		{"no UTF-8", func(d *setup.Deps) {
			d.OS = "linux"
			d.Getenv = func(n string) string { return map[string]string{"TERM": "xterm", "LANG": "C"}[n] }
		}, "terminal", setup.Warn, "UTF-8"},
		{"full disk", func(d *setup.Deps) { d.Free = func(string) (uint64, error) { return 1 << 20, nil } }, "disk", setup.Fail, "1.0 MB"},
		{"no space left", func(d *setup.Deps) { d.Free = func(string) (uint64, error) { return 0, nil } }, "disk", setup.Fail, "the disk is full"},
		{"home that cannot be made", func(d *setup.Deps) {
			write(d, d.Home.Join("f"), "", 0o600)
			d.Home = home.At(d.Home.Join("f", "h"))
		}, "home", setup.Fail, "cannot be"},
		{"no model, in many words", func(d *setup.Deps) {
			d.Model = func(context.Context) (string, error) {
				return "", errors.New("no model is set\n\nSet one of these:\n  a key")
			}
		}, "model", setup.Fail, "no model is set"},
		{"nearly full disk", func(d *setup.Deps) { d.Free = func(string) (uint64, error) { return 300 << 20, nil } }, "disk", setup.Warn, "300.0 MB"},
		{"clock", func(d *setup.Deps) { d.Now = func() time.Time { return time.Unix(0, 0).UTC() } }, "clock", setup.Fail, "1970"},
		{"time zone", func(d *setup.Deps) { write(d, d.Home.Config(), "timezone: Mars/Base\n", 0o600) }, "clock", setup.Warn, "Mars/Base"},
		{"a check that breaks", func(d *setup.Deps) { d.Free = nil }, "disk", setup.Fail, "the check itself failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := healthy(t)
			tt.spoil(&d)
			results, _ := diagnose(t, d, false)
			got := results[tt.check]
			if runtime.GOOS == "windows" && strings.Contains(tt.text, "mode") {
				return
			}
			if got.Verdict != tt.want || !strings.Contains(got.Text, tt.text) || (got.Verdict != setup.OK && got.Text == "") {
				t.Errorf("got %s %s (%s), want %s %s", got.Verdict, got.Text, got.Do, tt.want, tt.text)
			}
		})
	}
}

func TestFixRepairsWhatIsSafe(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes of Unix")
	}
	d := healthy(t)
	must(t, os.Chmod(d.Home.Path(), 0o755))
	must(t, os.WriteFile(d.Home.Env(), []byte("A=1\n"), 0o644))
	must(t, os.WriteFile(d.Home.Config(), []byte("max_turns: 5\nagent: {max_turns: 6}\n"), 0o600))
	results, failed := diagnose(t, d, true)
	if failed != 0 || results["privacy"].Verdict != setup.OK || results["secrets"].Verdict != setup.OK || results["secrets"].Fixed != ".env, auth.json and audit.key are now mode 600" || results["privacy"].Fixed != d.Home.Path()+" is now mode 700" {
		t.Errorf("got %+v", results)
	}
	for path, want := range map[string]os.FileMode{d.Home.Path(): 0o700, d.Home.Env(): 0o600} {
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s: %o", path, info.Mode().Perm())
		}
	}
	if got := results["settings"]; got.Verdict != setup.Warn {
		t.Errorf("two names of one setting are left to the user: %+v", got)
	}
}

func TestFixRemovesTheOldestBeyondTheQuota(t *testing.T) {
	t.Parallel()
	d := healthy(t)
	must(t, d.Home.Make(d.Home.Cache("terminal")))
	for _, name := range []string{"a", "b", "c"} {
		path := filepath.Join(d.Home.Cache("terminal"), name)
		f, err := os.Create(path)
		must(t, err)
		must(t, f.Truncate(100<<20)) // sparse
		must(t, f.Close())
		old := d.Now().Add(-time.Hour)
		must(t, os.Chtimes(path, old, old))
	}
	before, _ := diagnose(t, d, false)
	after, _ := diagnose(t, d, true)
	if before["logs and caches"].Verdict != setup.Warn || after["logs and caches"].Verdict != setup.OK ||
		!strings.Contains(after["logs and caches"].Fixed, "removed 1 old file, 100.0 MB") {
		t.Errorf("before %+v, after %+v", before["logs and caches"], after["logs and caches"])
	}
}
