package reference_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/git"
	"hermes/internal/policy"
)

// elsewhere are files whose root folder is a folder of this machine.
type elsewhere struct {
	hermes.Files
	root  string
	looks int
}

func (e *elsewhere) Resolve(p string) (string, error) {
	if rest, ok := strings.CutPrefix(p, "~"); ok {
		return "/home/agent" + rest, nil
	}
	if !path.IsAbs(p) {
		p = "/tmp/" + p // commands have moved on
	}
	return path.Clean(p), nil
}

func (e *elsewhere) on(p string) string { return filepath.Join(e.root, filepath.FromSlash(p)) }

func (e *elsewhere) Stat(_ context.Context, p string) (fs.FileInfo, error) {
	e.looks++
	return os.Stat(e.on(p))
}

func (e *elsewhere) RealPath(_ context.Context, p string) (string, error) {
	real, err := filepath.EvalSymlinks(e.on(p))
	if err != nil {
		return "", err
	}
	root, err := filepath.EvalSymlinks(e.root)
	return filepath.ToSlash(strings.TrimPrefix(real, root)), err
}

func (e *elsewhere) Open(_ context.Context, p string) (io.ReadCloser, error) { return os.Open(e.on(p)) }

func (e *elsewhere) List(_ context.Context, p string) ([]fs.DirEntry, error) {
	return os.ReadDir(e.on(p))
}

// TestReferencesAreReadWhereTheSessionWorks: the same paths of this machine are not looked at.
func TestReferencesAreReadWhereTheSessionWorks(t *testing.T) {
	t.Parallel()
	there := &elsewhere{root: t.TempDir()}
	work := filepath.Join(there.root, "home", "agent", "work")
	for _, dir := range []string{filepath.Join(work, "sub"), filepath.Join(there.root, "home", "agent", ".ssh"), filepath.Join(there.root, "etc")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(work, "a.txt"), "there\nmore\n")
	writeFile(t, filepath.Join(work, ".env"), "KEY=1\n")
	writeFile(t, filepath.Join(there.root, "etc", "passwd"), "root of there\n")
	if err := os.Symlink("../../../etc/passwd", filepath.Join(work, "link")); err != nil {
		t.Skip(err)
	}
	s := sources(t, "~/work")
	s.Files, s.Rules = there, policy.PathRules{Home: "/home/agent"}
	s.Git = git.Repository{There: func(context.Context, string, io.Writer, io.Writer) (int, error) { return 0, errors.New("it is down") }}
	e, err := s.Expand(t.Context(), "see @a.txt:1 and @file:link @file:/etc/passwd @file:.env @folder:./ @sub @file:nothing @diff", 0)
	if err != nil {
		t.Fatal(err)
	}
	want := "Attached context:\n\n--- @a.txt:1 ---\nthere\n\n--- @folder:./ ---\n.env\na.txt\nlink\nsub/\n\n--- @sub ---\n"
	if e.Attached != want {
		t.Errorf("attached %q, %q", e.Attached, e.Warnings)
	}
	warned := strings.Join(e.Warnings, "\n")
	for _, want := range []string{
		"@file:link: it is outside", "@file:/etc/passwd: it is outside", "@file:.env: it may contain secrets", "@file:nothing: there is no such file", "@diff: run git: it is down",
	} {
		if !strings.Contains(warned, want) {
			t.Errorf("warnings %s\nlack %s", warned, want)
		}
	}
	there.looks = 0
	if _, err := s.Expand(t.Context(), strings.Repeat("@some ", 10_000), 0); err != nil || there.looks > 100 {
		t.Errorf("%d looks, %v", there.looks, err)
	}
}
