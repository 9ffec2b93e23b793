package worktree_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hermes/internal/git"
	"hermes/internal/worktree"
)

// TestAWorktreeIsACopyOnABranch: it begins from the last commit in the same subfolder, git in
// the repository does not see it, and it goes away without a trace.
func TestAWorktreeIsACopyOnABranch(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.write("a.txt", "changed in the repository\n")
	m := s.make(worktree.Ask{Dir: filepath.Join(s.repo, "sub"), Name: "Fix: the Build/.."})
	if want := filepath.Join(s.repo, ".worktrees", "fix-the-build"); m.Path != want || m.Start != filepath.Join(want, "sub") || m.Branch != "hermes/fix-the-build" {
		t.Fatalf("%+v", m.Record)
	}
	if got := content(filepath.Join(m.Path, "a.txt")); got != "one\n" {
		t.Errorf("a.txt is %q", got)
	}
	if got := s.git("status", "--porcelain"); got != "M a.txt" {
		t.Errorf("status of the repository: %q", got)
	}
	if got := s.gitIn(m.Start, "status", "--porcelain", "--branch"); got != "## hermes/fix-the-build" {
		t.Errorf("status of the worktree: %q", got)
	}
	if r, ok := s.keeper.Of(filepath.Join(m.Path, "sub")); !ok || r.Path != m.Path || r.State != worktree.Ready {
		t.Errorf("of: %+v %v", r, ok)
	}
	if _, err := s.keeper.Make(t.Context(), worktree.Ask{Dir: s.repo, Name: "fix-the-build"}); err == nil || !strings.Contains(err.Error(), "another name") {
		t.Errorf("the same name: %v", err)
	}
	if g := s.remove(m.Record); g.Kept != "" {
		t.Errorf("removed: %+v", g)
	}
	if exists(m.Path) || s.git("branch", "--list", "hermes/*") != "" || strings.Contains(s.git("worktree", "list"), "fix-the-build") {
		t.Error("something is left")
	}
	if r, ok := s.keeper.Of(m.Start); !ok || r.State != worktree.Removed || r.Tip != m.Base {
		t.Errorf("what is known afterwards: %+v %v", r, ok)
	}
}

// TestAWorktreeOfAWorktree belongs to the repository and begins from what is checked out where it was asked for.
func TestAWorktreeOfAWorktree(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	first := s.make(worktree.Ask{Name: "first"})
	s.write(filepath.Join(first.Path, "new.txt"), "new\n")
	s.gitIn(first.Path, "add", "-A")
	s.gitIn(first.Path, "commit", "-qm", "second")
	second := s.make(worktree.Ask{Dir: first.Path, Name: "second"})
	if filepath.Dir(second.Path) != filepath.Dir(first.Path) || !exists(filepath.Join(second.Path, "new.txt")) {
		t.Errorf("%+v", second.Record)
	}
}

func TestARemovedWorktreeIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.make(worktree.Ask{Dir: filepath.Join(s.repo, "sub"), Name: "x"})
	gone := s.remove(m.Record)
	s.write("a.txt", "later\n")
	s.git("commit", "-qam", "later")
	again := s.make(worktree.Ask{Again: &gone.Record})
	if again.Path != m.Path || again.Start != m.Start || content(filepath.Join(again.Path, "a.txt")) != "one\n" {
		t.Errorf("%+v", again.Record)
	}
	s.write(filepath.Join(again.Path, "a.txt"), "in the worktree\n")
	s.gitIn(again.Path, "commit", "-qam", "own")
	forced, err := s.keeper.Remove(t.Context(), again.Record, true)
	if err != nil || forced.Kept != "hermes/x" {
		t.Fatalf("%+v %v", forced, err)
	}
	back := s.make(worktree.Ask{Again: &forced.Record})
	if !back.OldBranch || content(filepath.Join(back.Path, "a.txt")) != "in the worktree\n" {
		t.Errorf("on the old branch: %+v", back.Record)
	}
}

// TestNoWorktree says what to do where none can be made, and leaves nothing.
func TestNoWorktree(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	empty, bare, plain := filepath.Join(s.base, "empty"), filepath.Join(s.base, "bare.git"), filepath.Join(s.base, "plain")
	s.mkdir(plain)
	s.gitIn(s.base, "init", "-q", empty)
	s.gitIn(s.base, "init", "-q", "--bare", bare)
	s.gitIn(s.base, "-c", "protocol.file.allow=always", "clone", "-q", s.repo, filepath.Join(s.base, "super"))
	s.gitIn(filepath.Join(s.base, "super"), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", s.repo, "module")
	for dir, want := range map[string]string{empty: "no commit yet", bare: "bare repository", plain: "git init", filepath.Join(s.base, "super", "module"): "submodule"} {
		_, err := s.keeper.Make(t.Context(), worktree.Ask{Dir: dir})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", dir, err)
		}
		if errors.Is(err, worktree.ErrNoRepository) != (dir == plain) {
			t.Errorf("%s: %v", dir, err)
		}
		if exists(filepath.Join(dir, ".worktrees")) {
			t.Errorf("%s has worktrees", dir)
		}
	}
	if err := os.Symlink(plain, filepath.Join(s.repo, ".worktrees")); err == nil {
		if _, err := s.keeper.Make(t.Context(), worktree.Ask{Dir: s.repo}); err == nil || !strings.Contains(err.Error(), "rename it") {
			t.Errorf("a link: %v", err)
		}
		if left, _ := os.ReadDir(plain); len(left) > 0 {
			t.Errorf("behind the link is %v", left)
		}
	}
}

// TestARepositoryInTheMiddleOfARebase gives its commit; the rebase goes on as if nothing was.
func TestARepositoryInTheMiddleOfARebase(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.git("checkout", "-qb", "other")
	s.write("a.txt", "other\n")
	s.git("commit", "-qam", "other")
	s.git("checkout", "-q", "main")
	s.write("a.txt", "main\n")
	s.git("commit", "-qam", "main")
	c := exec.Command("git", "rebase", "other")
	c.Dir, c.Env = s.repo, s.environ
	if err := c.Run(); err == nil {
		t.Fatal("no conflict")
	}
	m := s.make(worktree.Ask{Sync: true})
	if got := content(filepath.Join(m.Path, "a.txt")); got != "other\n" {
		t.Errorf("a.txt is %q", got)
	}
	if got := s.git("status"); !strings.Contains(got, "rebase in progress") {
		t.Errorf("status: %s", got)
	}
	s.remove(m.Record)
}

// TestNoProgramOfARepositoryRuns: hooks, filters, the monitor and the remote's programs of a hostile repository stay off.
func TestNoProgramOfARepositoryRuns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts")
	}
	s := newScene(t)
	ran := filepath.Join(s.base, "ran")
	evil := "touch '" + ran + "'; cat"
	s.write(".gitattributes", "*.txt filter=evil\n*.md filter=long\n")
	s.write("c.md", "three\n")
	s.git("add", "-A")
	s.git("commit", "-qm", "attributes")
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc"} {
		at := filepath.Join(s.repo, ".git", "hooks", hook)
		s.write(at, "#!/bin/sh\ntouch '"+ran+"'\n")
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range map[string]string{
		"filter.evil.smudge": evil, "filter.evil.clean": evil, "filter.evil.required": "true", "filter.long.process": evil, "core.fsmonitor": evil,
		"core.editor": evil, "core.sshCommand": evil, "core.gitProxy": evil, "credential.helper": "!" + evil, "remote.origin.url": "ssh://localhost:1/x", "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
		"remote.origin.uploadpack": evil, "branch.main.remote": "origin", "branch.main.merge": "refs/heads/main", "diff.external": evil, "core.pager": evil,
	} {
		s.git("config", key, value)
	}
	m := s.make(worktree.Ask{Name: "x", Sync: true})
	if got := content(filepath.Join(m.Path, "a.txt")); got != "one\n" {
		t.Errorf("a.txt is %q", got)
	}
	if notes := strings.Join(m.Notes, "\n"); !strings.Contains(notes, "could start a program") || !strings.Contains(notes, "Filters were not run") {
		t.Errorf("notes: %s", notes)
	}
	s.write(m.Path+"/c.md", "other\n")
	if lost := s.keeper.Look(t.Context(), m.Record); len(lost) != 1 {
		t.Errorf("would be lost: %q", lost)
	}
	s.write(m.Path+"/c.md", "three\n")
	s.remove(m.Record)
	if exists(ran) {
		t.Error("a program ran")
	}
	s.gitIn(s.repo, "status")
	if !exists(ran) {
		t.Error("the programs of this test do not run at all")
	}
}

// TestAWorktreeBeginsFromTheRemoteBranch if that is ahead; else it says why not.
func TestAWorktreeBeginsFromTheRemoteBranch(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	clone := filepath.Join(s.base, "clone")
	s.gitIn(s.base, "-c", "protocol.file.allow=always", "clone", "-q", s.repo, clone)
	s.write("a.txt", "newer\n")
	s.git("commit", "-qam", "newer")
	m := s.make(worktree.Ask{Dir: clone, Sync: true})
	if got := content(filepath.Join(m.Path, "a.txt")); got != "newer\n" || !strings.Contains(strings.Join(m.Notes, "\n"), "ahead of main") {
		t.Errorf("a.txt is %q, notes %q", got, m.Notes)
	}
	if left := s.keeper.Look(t.Context(), m.Record); len(left) > 0 {
		t.Errorf("would be lost: %q", left)
	}
	if old := s.make(worktree.Ask{Dir: clone}); content(filepath.Join(old.Path, "a.txt")) != "one\n" {
		t.Error("it was synchronized unasked")
	}
	s.write(filepath.Join(clone, "own.txt"), "own\n")
	s.gitIn(clone, "add", "own.txt")
	s.gitIn(clone, "commit", "-qm", "own")
	if m := s.make(worktree.Ask{Dir: clone, Sync: true}); !exists(filepath.Join(m.Path, "own.txt")) || !strings.Contains(strings.Join(m.Notes, "\n"), "does not have") {
		t.Errorf("own commits: %q", m.Notes)
	}
	if err := os.Rename(s.repo, s.repo+" moved"); err != nil {
		t.Fatal(err)
	}
	if m := s.make(worktree.Ask{Dir: clone, Sync: true}); !exists(filepath.Join(m.Path, "own.txt")) || !strings.Contains(strings.Join(m.Notes, "\n"), "Could not get") {
		t.Errorf("without the remote: %q", m.Notes)
	}
}

// TestIgnoredFilesAreCopiedByRule: only ignored regular files that the patterns match, within
// the limits, and never through a link.
func TestIgnoredFilesAreCopiedByRule(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.make(worktree.Ask{}) // another one is nothing to copy
	s.write(".worktreeinclude", ".worktrees/\n.env\nkeys/*\n!keys/not.pem\nunknown.txt\na.txt\nbig.log\n")
	s.write(".env", "TOKEN=1\n")
	s.write("keys/a b.pem", "key\n")
	s.write("keys/not.pem", "not\n")
	s.write("unknown.txt", "not ignored\n")
	s.write("other.log", "not named\n")
	s.write("big.log", strings.Repeat("x", 17<<20))
	secret := filepath.Join(s.base, "secret")
	s.write(secret, "secret\n")
	if err := os.Symlink(secret, filepath.Join(s.repo, "keys", "link.pem")); err != nil {
		t.Skip(err)
	}
	if err := os.Chmod(filepath.Join(s.repo, ".env"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := s.make(worktree.Ask{})
	if got := content(filepath.Join(m.Path, ".env")); got != "TOKEN=1\n" || content(filepath.Join(m.Path, "keys", "a b.pem")) != "key\n" {
		t.Errorf(".env is %q", got)
	}
	if info, err := os.Stat(filepath.Join(m.Path, ".env")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	for _, name := range []string{"unknown.txt", "other.log", "big.log", ".worktrees", "keys/link.pem", "keys/not.pem"} {
		if exists(filepath.Join(m.Path, name)) {
			t.Errorf("%s was copied", name)
		}
	}
	notes := strings.Join(m.Notes, "\n")
	if !strings.Contains(notes, "Copied 2 ignored files by .worktreeinclude: .env, keys/a b.pem.") || !strings.Contains(notes, "big.log (larger than") || !strings.Contains(notes, "keys/link.pem (it is not a regular file)") || strings.Contains(notes, ".worktrees") {
		t.Errorf("notes: %s", notes)
	}
	if lost := s.keeper.Look(t.Context(), m.Record); len(lost) > 0 {
		t.Errorf("copies would be lost: %q", lost)
	}
	s.write(filepath.Join(m.Path, ".env"), "TOKEN=2\n")
	if lost := strings.Join(s.keeper.Look(t.Context(), m.Record), "\n"); !strings.Contains(lost, "1 ignored file or folder: .env") {
		t.Errorf("a changed copy: %q", lost)
	}
}

// TestCopiesStayInTheWorktree: a link that is checked out leads no copy out of it.
func TestCopiesStayInTheWorktree(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	outside := filepath.Join(s.base, "outside")
	s.mkdir(outside)
	if err := os.Symlink(outside, filepath.Join(s.repo, "conf")); err != nil {
		t.Skip(err)
	}
	s.git("add", "conf")
	s.git("commit", "-qm", "a link")
	if err := os.Remove(filepath.Join(s.repo, "conf")); err != nil {
		t.Fatal(err)
	}
	s.write("conf/.env", "TOKEN=1\n")
	s.write(".worktreeinclude", ".env\n")
	m := s.make(worktree.Ask{})
	if exists(filepath.Join(outside, ".env")) || !strings.Contains(strings.Join(m.Notes, "\n"), "Not copied: conf/.env") {
		t.Errorf("notes: %q", m.Notes)
	}
}

// TestALinkedFolderIsKnown only if the repository names it as well.
func TestALinkedFolderIsKnown(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.make(worktree.Ask{})
	l, ok := git.LinkedAt(m.Path)
	if !ok || l.Main != s.repo || l.Own != m.Own {
		t.Errorf("%+v %v", l, ok)
	}
	forged := filepath.Join(s.base, "forged")
	s.write(filepath.Join(forged, ".git"), content(filepath.Join(m.Path, ".git")))
	if l, ok := git.LinkedAt(forged); ok {
		t.Errorf("a forged one is %+v", l)
	}
	if l, ok := git.LinkedAt(s.repo); ok {
		t.Errorf("the repository is %+v", l)
	}
}

// TestAWorktreeThatCannotBeSavedLeavesNothing: neither folder nor branch, so that it can be made later.
func TestAWorktreeThatCannotBeSavedLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	write := s.keeper.Write
	s.keeper.Write = func(top string) (git.Repository, func()) {
		s.keeper.Write = write
		files, err := filepath.Glob(filepath.Join(s.keeper.Folder, "*.json"))
		if err != nil || len(files) != 1 {
			t.Fatalf("records: %q %v", files, err)
		}
		if err := errors.Join(os.Remove(files[0]), os.Mkdir(files[0], 0o755)); err != nil { // a folder is not replaced
			t.Fatal(err)
		}
		return write(top)
	}
	_, err := s.keeper.Make(t.Context(), worktree.Ask{Dir: s.repo, Name: "x"})
	if err == nil || exists(filepath.Join(s.repo, ".worktrees", "x")) || s.git("branch", "--list", "hermes/x") != "" {
		t.Fatalf("%v, branches: %s", err, s.git("branch", "--list"))
	}
	s.make(worktree.Ask{Name: "x"})
}
