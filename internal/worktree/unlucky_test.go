package worktree_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"hermes/internal/git"
	"hermes/internal/worktree"
)

// TestNothingIsLostWithBadLuck: what settings hide, and what only the history of the worktree knows.
func TestNothingIsLostWithBadLuck(t *testing.T) {
	t.Parallel()
	commit := func(s *scene, at, name string) {
		s.write(at+"/"+name, name)
		s.gitIn(at, "add", "-A")
		s.gitIn(at, "commit", "-qm", name)
	}
	for name, c := range map[string]struct {
		do   func(s *scene, at string)
		want string // "" is nothing
	}{
		"a commit left without a branch": {func(s *scene, at string) {
			s.gitIn(at, "checkout", "-q", "--detach")
			commit(s, at, "x")
			s.gitIn(at, "checkout", "-q", "hermes/x")
		}, "commits that no branch has any more: 1"},
		"commits that were reset": {func(s *scene, at string) {
			commit(s, at, "x")
			commit(s, at, "y")
			s.gitIn(at, "reset", "-q", "--hard", "HEAD~2")
		}, "commits that no branch has any more: 2"},
		"an amended and merged commit": {func(s *scene, at string) {
			commit(s, at, "x")
			s.gitIn(at, "commit", "-q", "--amend", "-m", "y")
			s.git("merge", "-q", "hermes/x")
		}, ""},
		"a rebased and merged commit": {func(s *scene, at string) {
			commit(s, at, "x")
			commit(s, s.repo, "main")
			s.gitIn(at, "rebase", "-q", "main")
			s.git("merge", "-q", "hermes/x")
		}, ""},
		"a reset to what is merged": {func(s *scene, at string) {
			commit(s, at, "x")
			s.git("merge", "-q", "hermes/x")
			s.gitIn(at, "reset", "-q", "--hard", "HEAD~1")
		}, ""},
		"a reference of its own": {func(s *scene, at string) {
			commit(s, at, "x")
			s.gitIn(at, "update-ref", "refs/worktree/mine", "HEAD")
			s.git("merge", "-q", "hermes/x")
		}, "references of its own: refs/worktree/mine"},
		"a mode that settings hide": {func(s *scene, at string) {
			s.git("config", "core.fileMode", "false")
			_ = os.Chmod(at+"/a.txt", 0o755)
		}, "1 uncommitted change: a.txt"},
		"a change of the same size and time": {func(s *scene, at string) {
			s.git("config", "core.checkStat", "minimal")
			s.git("config", "core.trustctime", "false")
			old := time.Now().Add(-time.Hour)
			_ = os.Chtimes(at+"/a.txt", old, old)
			s.gitIn(at, "update-index", "--refresh")
			s.write(s.base+"/new", "two\n")
			_ = os.Chtimes(s.base+"/new", old, old)
			_ = os.Rename(s.base+"/new", at+"/a.txt")
		}, "1 uncommitted change: a.txt"},
		"another name of its branch": {func(s *scene, at string) {
			commit(s, at, "x")
			s.git("symbolic-ref", "refs/heads/alias", "refs/heads/hermes/x")
		}, "commits that no other branch has: 1"},
		"a renamed branch": {func(s *scene, at string) { commit(s, at, "x"); s.gitIn(at, "branch", "-m", "mine") }, ""},
		"a folder within":  {func(s *scene, at string) { s.gitIn(at, "worktree", "add", "-q", "node_modules/in") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && strings.Contains(name, "mode") {
				t.Skip("it has no such modes")
			}
			s := newScene(t)
			m := s.make(worktree.Ask{Name: "x"})
			c.do(s, m.Path)
			_, err := s.keeper.Remove(t.Context(), m.Record, false)
			var loss *worktree.LossError
			if kept := errors.As(err, &loss); kept != (c.want != "") || kept && !strings.Contains(err.Error(), c.want) {
				t.Errorf("remove: %v, want %q", err, c.want)
			}
		})
	}
}

// TestABranchThatIsCheckedOutElsewhereStays: without it the other folder would be on no commit.
func TestABranchThatIsCheckedOutElsewhereStays(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.make(worktree.Ask{Name: "x"})
	s.gitIn(m.Path, "checkout", "-q", "--detach")
	s.git("checkout", "-q", "hermes/x")
	if g := s.remove(m.Record); g.Kept != "hermes/x" || exists(m.Path) {
		t.Errorf("%+v", g)
	}
	if got := s.git("status", "--porcelain", "--branch"); got != "## hermes/x" {
		t.Errorf("the repository: %q", got)
	}
}

// TestAMovedFolderKeepsItsGit: a folder that was moved by hand finds its state again with `git worktree repair`.
func TestAMovedFolderKeepsItsGit(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.make(worktree.Ask{Name: "x"})
	s.gitIn(m.Path, "checkout", "-q", "--detach")
	s.write(m.Path+"/a.txt", "own\n")
	s.gitIn(m.Path, "commit", "-qam", "own")
	to := filepath.Join(s.base, "moved")
	if err := os.Rename(m.Path, to); err != nil {
		t.Fatal(err)
	}
	_, err := s.keeper.Remove(t.Context(), m.Record, false)
	var loss *worktree.LossError
	if !errors.As(err, &loss) {
		t.Fatalf("%v", err)
	}
	s.gitIn(to, "worktree", "repair")
	if got := s.gitIn(to, "log", "-1", "--format=%s"); got != "own" {
		t.Errorf("the last commit is %q", got)
	}
}

// TestALinkInsteadOfTheFolderIsNotFollowed: nothing outside of the repository is removed.
func TestALinkInsteadOfTheFolderIsNotFollowed(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"outside", "my repo/inside"} {
		s := newScene(t)
		m := s.make(worktree.Ask{Name: "x"})
		all := filepath.Dir(m.Path)
		other := filepath.Join(s.base, to)
		s.write(other+"/x/precious.txt", "x")
		if err := os.Rename(all, all+"-old"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(other, all); err != nil {
			t.Skip(err)
		}
		if _, err := s.keeper.Remove(t.Context(), m.Record, true); err == nil || !exists(other+"/x/precious.txt") {
			t.Errorf("%s: %v, there: %v", to, err, exists(other+"/x/precious.txt"))
		}
	}
}

// TestARemovalThatNeverBeganIsNone: after a kill before it, somebody may have worked in the folder.
func TestARemovalThatNeverBeganIsNone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.make(worktree.Ask{Name: "x"})
	s.state(m.Record, worktree.Removing)
	s.write(m.Path+"/new.txt", "x")
	s.make(worktree.Ask{Name: "y"})
	if r, _ := s.keeper.Of(m.Path); !exists(m.Path+"/new.txt") || r.State != worktree.Ready {
		t.Errorf("%+v", r)
	}
}

// TestARemovalThatBeganIsFinished, and a new folder in its place is not removed.
func TestARemovalThatBeganIsFinished(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.make(worktree.Ask{Name: "x"})
	s.state(m.Record, worktree.Removing)
	aside := filepath.Join(filepath.Dir(m.Path), ".removing-x")
	if err := os.Rename(m.Path, aside); err != nil {
		t.Fatal(err)
	}
	s.write(m.Path+"/mine.txt", "x")
	s.make(worktree.Ask{Name: "y"})
	if r, _ := s.keeper.Of(m.Path); exists(aside) || !exists(m.Path+"/mine.txt") || r.State != worktree.Removed || s.git("branch", "--list", "hermes/x") != "" {
		t.Errorf("%+v", r)
	}
}

// TestWhatCannotBeRemovedStopsNothingElse, and says why when it is tried again.
func TestWhatCannotBeRemovedStopsNothingElse(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("nothing is refused to root")
	}
	m := s.make(worktree.Ask{Name: "x"})
	s.write(m.Path+"/node_modules/in/file", "x")
	in := filepath.Join(filepath.Dir(m.Path), ".removing-x", "node_modules", "in")
	if err := os.Chmod(m.Path+"/node_modules/in", 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := s.keeper.Remove(t.Context(), m.Record, false); err == nil {
		t.Fatal("it was removed")
	}
	s.make(worktree.Ask{Name: "y"})
	r, err := s.keeper.Named(s.repo, "x")
	if err == nil {
		_, err = s.keeper.Remove(t.Context(), r, false)
	}
	if err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("%v", err)
	}
	if err := os.Chmod(in, 0o700); err != nil {
		t.Fatal(err)
	}
	if s.remove(r); exists(filepath.Dir(filepath.Dir(in))) {
		t.Error("it is still there")
	}
}

// TestLookingStartsNoProgram of a signature that the settings show.
func TestLookingStartsNoProgram(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a script of sh")
	}
	s := newScene(t)
	m := s.make(worktree.Ask{Name: "x"})
	ran, program := filepath.Join(s.base, "ran"), filepath.Join(s.base, "program")
	s.write(program, "#!/bin/sh\ntouch '"+ran+"'\n")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	s.write("commit", "tree "+s.git("rev-parse", "HEAD^{tree}")+"\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n"+
		"gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n")
	signed := s.git("hash-object", "-t", "commit", "-w", "commit")
	s.git("config", "gpg.program", program)
	s.git("config", "log.showSignature", "true")
	s.git("update-ref", "--create-reflog", "-m", "WIP on hermes/x: a", "refs/stash", signed)
	s.gitIn(m.Path, "reset", "-q", "--hard", signed)
	if s.git("log", "-1", signed); !exists(ran) {
		t.Fatal("git does not start it at all")
	}
	if err := os.Remove(ran); err != nil {
		t.Fatal(err)
	}
	if lost := strings.Join(s.keeper.Look(t.Context(), m.Record), "\n"); exists(ran) || !strings.Contains(lost, "stashed") {
		t.Errorf("it ran: %v; lost: %s", exists(ran), lost)
	}
}

// onRead lets something happen when git is asked for the nth time to read, which gets what it returns.
func (s *scene) onRead(nth int, do func(git.Repository) git.Repository) {
	read := s.keeper.Read
	s.keeper.Read = func(dir string) (git.Repository, func()) {
		r, done := read(dir)
		if nth--; nth == 0 {
			s.keeper.Read, r = read, do(r)
		}
		return r, done
	}
}

// TestACancelledLookRemovesNothing, also when the removal is forced.
func TestACancelledLookRemovesNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.make(worktree.Ask{Name: "x"})
	s.write(m.Path+"/new.txt", "x")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.onRead(1, func(r git.Repository) git.Repository { cancel(); return r })
	_, err := s.keeper.Remove(ctx, m.Record, true)
	if r, _ := s.keeper.Of(m.Path); !errors.Is(err, context.Canceled) || r.State != worktree.Ready || !exists(m.Path+"/new.txt") {
		t.Errorf("%v: %+v", err, r)
	}
}

// TestABranchThatGitCannotLookForIsNotGone: what is known of a worktree stays until git says what its branch is.
func TestABranchThatGitCannotLookForIsNotGone(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]func(r git.Repository, cancel func()) git.Repository{
		"git fails":     func(r git.Repository, _ func()) git.Repository { r.Dir += "/none"; return r },
		"it is stopped": func(r git.Repository, cancel func()) git.Repository { cancel(); return r },
	} {
		for what, c := range map[string]struct {
			do   func(s *scene, r worktree.Record)
			nth  int // which reading git looks for the branch
			then func(t *testing.T, s *scene, r worktree.Record)
		}{
			"a making that was cut off": {func(s *scene, r worktree.Record) { s.state(r, worktree.Making) }, 1, func(t *testing.T, s *scene, _ worktree.Record) {
				s.make(worktree.Ask{Name: "x"})
			}},
			"a removal": {func(*scene, worktree.Record) {}, 3, func(t *testing.T, s *scene, r worktree.Record) {
				s.make(worktree.Ask{Name: "y"}) // which finishes it
				if r, _ := s.keeper.Of(r.Path); r.State != worktree.Removed || s.git("branch", "--list", "hermes/x") != "" {
					t.Errorf("%+v", r)
				}
			}},
			"a folder that is gone": {func(s *scene, r worktree.Record) { s.git("worktree", "remove", r.Path) }, 1, func(t *testing.T, s *scene, r worktree.Record) {
				if g := s.remove(r); g.Kept != "hermes/x" || g.Tip != r.Base {
					t.Errorf("%+v", g)
				}
			}},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				s := newScene(t)
				m := s.make(worktree.Ask{Name: "x"})
				c.do(s, m.Record)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s.onRead(c.nth, func(r git.Repository) git.Repository { return fails(r, cancel) })
				if g, err := s.keeper.Remove(ctx, m.Record, false); err == nil || ctx.Err() != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("%+v %v", g, err)
				}
				c.then(t, s, m.Record)
			})
		}
	}
}

// TestARecordThatCannotBeReadIsNotAnEnd: the worktree is kept, and its removal is tried again and then succeeds.
func TestARecordThatCannotBeReadIsNotAnEnd(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.make(worktree.Ask{Name: "x"})
	files, err := filepath.Glob(filepath.Join(s.keeper.Folder, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole := content(files[0])
	s.write(files[0], whole[:len(whole)/2])
	r, ok := s.keeper.Of(filepath.Join(m.Path, "sub"))
	if !ok || r.Path != m.Path || r.State != worktree.Ready {
		t.Fatalf("of its folder it is known: %v %+v", ok, r)
	}
	for _, r := range []worktree.Record{r, m.Record} {
		if said, kept, later := s.keeper.End(t.Context(), r); !kept || !later || !strings.Contains(said, files[0]) || !exists(m.Path) {
			t.Errorf("%v %v %q", kept, later, said)
		}
	}
	s.write(files[0], whole)
	s.remove(m.Record)
}

// TestAFolderThatIsGoneAndCannotBeLookedAtIsTriedAgain: git did not say what would be lost.
func TestAFolderThatIsGoneAndCannotBeLookedAtIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.make(worktree.Ask{Name: "x"})
	if err := os.RemoveAll(m.Path); err != nil {
		t.Fatal(err)
	}
	if _, known := worktree.Uses(m.Path); !known {
		t.Skip("it is kept here")
	}
	s.onRead(1, func(r git.Repository) git.Repository { r.Dir += "/none"; return r })
	if said, kept, later := s.keeper.End(t.Context(), m.Record); !kept || !later || !strings.Contains(said, "git worktree repair") {
		t.Errorf("%v %v %q", kept, later, said)
	}
	if said, kept, _ := s.keeper.End(t.Context(), m.Record); kept {
		t.Errorf("then: %q", said)
	}
}

// TestARemovalThatIsStoppedAtItsBranchIsFinished with the next change of the repository.
func TestARemovalThatIsStoppedAtItsBranchIsFinished(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.make(worktree.Ask{Name: "x"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	write := s.keeper.Write
	s.keeper.Write = func(top string) (git.Repository, func()) { cancel(); return write(top) }
	if g, err := s.keeper.Remove(ctx, m.Record, false); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v %v", g, err)
	}
	s.keeper.Write = write
	s.make(worktree.Ask{Name: "y"})
	if r, _ := s.keeper.Of(m.Path); r.State != worktree.Removed || s.git("branch", "--list", "hermes/x") != "" {
		t.Errorf("%+v, branches %q", r, s.git("branch"))
	}
}

// TestAWorktreeWhoseRepositoryIsGoneIsForgotten: there is no git to ask.
func TestAWorktreeWhoseRepositoryIsGoneIsForgotten(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.make(worktree.Ask{Name: "x"})
	if err := os.RemoveAll(s.repo); err != nil {
		t.Fatal(err)
	}
	if g := s.remove(m.Record); g.Kept != "" || g.State != worktree.Removed {
		t.Errorf("%+v", g)
	}
}

// state changes what is known of a worktree, as a kill leaves it.
func (s *scene) state(r worktree.Record, to worktree.State) {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.keeper.Folder, "*.json"))
	if err != nil || len(files) == 0 {
		s.t.Fatal("no records", err)
	}
	for _, f := range files {
		if text := content(f); strings.Contains(text, `"name": "`+r.Name+`"`) {
			s.write(f, strings.Replace(text, `"state": "`+string(r.State)+`"`, `"state": "`+string(to)+`"`, 1))
		}
	}
}
