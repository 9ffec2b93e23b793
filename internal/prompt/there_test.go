package prompt_test

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/policy"
	"hermes/internal/prompt"
)

// elsewhere are files whose root folder is a folder of this machine.
type elsewhere struct {
	hermes.Files
	root string
}

func (e elsewhere) on(p string) string { return filepath.Join(e.root, filepath.FromSlash(p)) }

func (e elsewhere) Stat(_ context.Context, p string) (fs.FileInfo, error) { return os.Stat(e.on(p)) }

func (e elsewhere) RealPath(_ context.Context, p string) (string, error) {
	real, err := filepath.EvalSymlinks(e.on(p))
	if err != nil {
		return "", err
	}
	root, err := filepath.EvalSymlinks(e.root)
	return path.Clean(filepath.ToSlash(strings.TrimPrefix(real, root)) + "/"), err
}

func (e elsewhere) Open(_ context.Context, p string) (io.ReadCloser, error) { return os.Open(e.on(p)) }

func (e elsewhere) List(_ context.Context, p string) ([]fs.DirEntry, error) {
	return os.ReadDir(e.on(p))
}

// TestProjectFilesAreReadWhereCommandsRun: those of this machine are not, but the user's SOUL.md is.
func TestProjectFilesAreReadWhereCommandsRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the other machine is made of links")
	}
	there, here := t.TempDir(), t.TempDir()
	put := func(root, name, text string) {
		t.Helper()
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(here, "SOUL.md", "I am the soul.")
	put(here, "AGENTS.md", "rules of this machine")
	put(there, here+"/.git/HEAD", "")
	put(there, here+"/AGENTS.md", "rules of there")
	put(there, "etc/secret", "a secret of there")
	in := ordinary()
	in.Soul, in.Environment.Dir = filepath.Join(here, "SOUL.md"), here
	files := prompt.There{Files: elsewhere{root: there}, Rules: policy.PathRules{Home: "/home/agent"}}
	text := func() string {
		p := prompt.Build(t.Context(), in, files)
		return p.Text() + strings.Join(p.Warnings, "\n")
	}
	if got := text(); !strings.Contains(got, "I am the soul.") || !strings.Contains(got, "rules of there") || strings.Contains(got, "rules of this machine") {
		t.Errorf("got %s", got)
	}
	agents := filepath.Join(there, here, "AGENTS.md")
	for target, want := range map[string]string{filepath.Join(there, "etc", "secret"): "out of the project", ".env": "holds secrets"} {
		put(there, here+"/.env", "KEY=1")
		os.Remove(agents)
		if err := os.Symlink(target, agents); err != nil {
			t.Fatal(err)
		}
		if got := text(); strings.Contains(got, "a secret of there") || strings.Contains(got, "KEY=1") || !strings.Contains(got, want) {
			t.Errorf("a link to %s: %s", target, got)
		}
	}
}
