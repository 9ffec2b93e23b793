//go:build linux && (amd64 || arm64)

package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
)

// TestGitWorksInAWorktreeBehindWalls: status and commits, but no hook and no setting of the repository can be
// written, and its files are closed. The end removes the worktree when the commit is elsewhere.
func TestGitWorksInAWorktreeBehindWalls(t *testing.T) {
	s := walled(t, "")
	s.answer = hermes.Deny
	s.repository()
	main := s.dir
	trees, m := s.inWorktree("walls")
	if layer := s.layer(); layer == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no walls")
		}
		t.Skip("no walls here")
	}
	s.say(
		command(t, "git status --short --branch; echo changed > a.txt; git add -A && git -c user.name=a -c user.email=a@b commit -qm own && git log --oneline | wc -l"),
		command(t, "echo evil > '"+main+"/.git/hooks/post-checkout'; echo evil >> '"+main+"/.git/config'; echo evil > .git; echo evil > '"+main+"/a.txt'; echo tried"),
	)
	if got := s.model.results(); !strings.Contains(got, "## hermes/walls") {
		t.Errorf("the model reads %s", got)
	}
	if got := s.git(m.Path, "log", "-1", "--format=%s"); got != "own" {
		t.Errorf("the last commit is %q", got)
	}
	if strings.Contains(read(filepath.Join(main, ".git", "config"))+read(filepath.Join(main, ".git", "hooks", "post-checkout"))+read(filepath.Join(main, "a.txt"))+read(filepath.Join(m.Path, ".git")), "evil") {
		t.Error("the repository was changed")
	}
	var said []string
	trees.End(t.Context(), func(text string) { said = append(said, text) })
	if len(said) != 1 || !strings.Contains(said[0], "commits that no other branch has: 1") {
		t.Errorf("the end says %q", said)
	}
	s.git(main, "merge", "-q", "hermes/walls")
	if _, err := trees.Remove(t.Context(), m.Record, false); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(m.Path); err == nil {
		t.Error("the worktree is still there")
	}
}

// layer is that of the walls of the session, "" if there are none.
func (s *scene) layer() string {
	if line := s.app.Sandbox(s.t.Context()); strings.Contains(line, "off") || strings.Contains(line, "no sandbox") {
		return ""
	}
	return "some"
}
