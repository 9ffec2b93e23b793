package worktree_test

import (
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/worktree"
)

// TestACopyThatWouldBeCommittedIsNotMade: what the repository ignores by changes that are not committed is not ignored in a worktree.
func TestACopyThatWouldBeCommittedIsNotMade(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.write(".gitignore", content(s.repo+"/.gitignore")+"secret.txt\n")
	s.write("secret.txt", "secret")
	s.write(".env", "A=1")
	s.write(".worktreeinclude", "secret.txt\n.env\n")
	m := s.make(worktree.Ask{Name: "x"})
	if exists(m.Path+"/secret.txt") || !exists(m.Path+"/.env") || !strings.Contains(strings.Join(m.Notes, "\n"), "secret.txt (") {
		t.Errorf("%q %v", m.Notes, m.Copied)
	}
	if got := s.gitIn(m.Path, "status", "--porcelain"); got != "" {
		t.Errorf("the worktree has %q", got)
	}
}

// TestAFolderThatDoesNotIgnoreItselfIsNotUsed: the repository would commit its worktrees.
func TestAFolderThatDoesNotIgnoreItselfIsNotUsed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.write(".worktrees/.gitignore", "!*\n")
	if _, err := s.keeper.Make(t.Context(), worktree.Ask{Dir: s.repo, Name: "x"}); err == nil || !strings.Contains(err.Error(), ".gitignore") {
		t.Errorf("%v", err)
	}
	s.write(".worktrees/.gitignore", "/*\n")
	s.make(worktree.Ask{Name: "x"})
}

// TestTheFolderOfAllWorktreesIsNoneToBeginIn: a session that is started there begins at the top.
func TestTheFolderOfAllWorktreesIsNoneToBeginIn(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	first := s.make(worktree.Ask{Name: "x"})
	if m := s.make(worktree.Ask{Dir: filepath.Dir(first.Path), Name: "y"}); m.Start != m.Path || exists(m.Path+"/.worktrees") {
		t.Errorf("it begins in %s", m.Start)
	}
}

// TestARepositoryOfAnotherUserSaysSo instead of that it has no commit.
func TestARepositoryOfAnotherUserSaysSo(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.environ = append(s.environ, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
	if _, err := s.keeper.Make(t.Context(), worktree.Ask{Dir: s.repo, Name: "x"}); err == nil || !strings.Contains(err.Error(), "ownership") {
		t.Errorf("%v", err)
	}
}
