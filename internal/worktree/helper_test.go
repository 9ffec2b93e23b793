package worktree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/git"
	"hermes/internal/worktree"
)

// scene is a repository with a commit, and a keeper.
type scene struct {
	t       *testing.T
	base    string
	repo    string
	keeper  *worktree.Keeper
	environ []string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, base: base, repo: filepath.Join(base, "my repo")}
	s.environ = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + base, "GIT_CONFIG_GLOBAL=" + filepath.Join(base, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
	}
	at := func(dir string) (git.Repository, func()) {
		return git.Repository{Dir: dir, Env: func() []string { return s.environ }}, func() {}
	}
	s.keeper = &worktree.Keeper{Folder: filepath.Join(base, "home", "worktrees"), Now: time.Now, Read: at, Write: at}
	s.mkdir(s.repo)
	s.git("init", "-q", "-b", "main")
	s.write("a.txt", "one\n")
	s.write("sub/b.txt", "two\n")
	s.write(".gitignore", ".env\n*.log\ncache/\nnode_modules/\nkeys/\n")
	s.git("add", "-A")
	s.git("commit", "-qm", "first")
	return s
}

func (s *scene) mkdir(dir string) {
	s.t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// write writes a file, below the repository if its name is relative.
func (s *scene) write(name, text string) {
	s.t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.repo, name)
	}
	s.mkdir(filepath.Dir(name))
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) git(args ...string) string {
	s.t.Helper()
	return s.gitIn(s.repo, args...)
}

func (s *scene) gitIn(dir string, args ...string) string {
	s.t.Helper()
	c := exec.Command("git", args...)
	c.Dir, c.Env = dir, s.environ
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v in %s: %s", args, dir, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *scene) make(a worktree.Ask) worktree.Made {
	s.t.Helper()
	if a.Dir == "" {
		a.Dir = s.repo
	}
	m, err := s.keeper.Make(s.t.Context(), a)
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

func (s *scene) remove(r worktree.Record) worktree.Gone {
	s.t.Helper()
	g, err := s.keeper.Remove(s.t.Context(), r, false)
	if err != nil {
		s.t.Fatal(err)
	}
	return g
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func content(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
