package worktree_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hermes/internal/worktree"
)

// TestNothingIsLost: whatever is only in a worktree keeps it, with a reason.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(s *scene, at string)
		want string // "" is nothing
	}{
		"a change":           {func(s *scene, at string) { s.write(at+"/a.txt", "x") }, "1 uncommitted change: a.txt"},
		"a staged change":    {func(s *scene, at string) { s.write(at+"/a.txt", "x"); s.gitIn(at, "add", "-A") }, "1 uncommitted change"},
		"a rename":           {func(s *scene, at string) { s.gitIn(at, "mv", "a.txt", "c.txt") }, "1 uncommitted change: c.txt"},
		"a deletion":         {func(s *scene, at string) { _ = os.Remove(at + "/a.txt") }, "1 uncommitted change"},
		"a new file":         {func(s *scene, at string) { s.write(at+"/new.txt", "x") }, "1 new file: new.txt"},
		"a new repository":   {func(s *scene, at string) { s.gitIn(at, "init", "-q", "in") }, "1 new file: in/"},
		"an ignored file":    {func(s *scene, at string) { s.write(at+"/x.log", "x") }, "1 ignored file or folder: x.log"},
		"an ignored folder":  {func(s *scene, at string) { s.write(at+"/cache/x", "x") }, "1 ignored file or folder: cache/"},
		"an ignored clone":   {func(s *scene, at string) { s.gitIn(at, "init", "-q", "cache") }, "1 ignored file or folder: cache/"},
		"what is made again": {func(s *scene, at string) { s.write(at+"/node_modules/a/index.js", "x") }, ""},
		"a tagged cache": {func(s *scene, at string) {
			s.write(at+"/cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n")
			s.write(at+"/cache/x", "x")
		}, ""},
		"a false tag": {func(s *scene, at string) { s.write(at+"/cache/CACHEDIR.TAG", "Signature\n") }, "1 ignored file or folder"},
		"a commit":    {func(s *scene, at string) { s.write(at+"/a.txt", "x"); s.gitIn(at, "commit", "-qam", "x") }, "commits that no other branch has: 1"},
		"a merged commit": {func(s *scene, at string) {
			s.write(at+"/a.txt", "x")
			s.gitIn(at, "commit", "-qam", "x")
			s.git("merge", "-q", "hermes/x")
		}, ""},
		"another branch": {func(s *scene, at string) {
			s.gitIn(at, "checkout", "-qb", "own")
			s.write(at+"/a.txt", "x")
			s.gitIn(at, "commit", "-qam", "x")
		}, ""},
		"no branch": {func(s *scene, at string) {
			s.gitIn(at, "checkout", "-q", "--detach")
			s.write(at+"/a.txt", "x")
			s.gitIn(at, "commit", "-qam", "x")
		}, "commits that no other branch has: 1"},
		"a stash":            {func(s *scene, at string) { s.write(at+"/a.txt", "x"); s.gitIn(at, "stash", "-q") }, "something was stashed on its branch"},
		"a stash of another": {func(s *scene, at string) { s.write("a.txt", "x"); s.git("stash", "-q") }, ""},
		"a lock":             {func(s *scene, at string) { s.git("worktree", "lock", "--reason", "mine", at) }, "it is locked (mine)"},
		"a merge":            {func(s *scene, at string) { conflict(s, at, "merge") }, "a merge is not finished"},
		"a rebase":           {func(s *scene, at string) { conflict(s, at, "rebase") }, "a rebase is not finished"},
		"a hidden change": {func(s *scene, at string) {
			s.gitIn(at, "update-index", "--assume-unchanged", "a.txt")
			s.write(at+"/a.txt", "x")
		}, "1 file that git is told not to compare: a.txt"},
		"a skipped change": {func(s *scene, at string) {
			s.gitIn(at, "update-index", "--skip-worktree", "a.txt")
			s.write(at+"/a.txt", "x")
		}, "1 file that git is told not to compare: a.txt"},
		"settings that hide": {func(s *scene, at string) {
			s.git("config", "status.showUntrackedFiles", "no")
			s.write(at+"/new.txt", "x")
		}, "1 new file"},
		"an exclude":          {func(s *scene, at string) { s.write(".git/info/exclude", "new.txt\n"); s.write(at+"/new.txt", "x") }, "1 ignored file or folder: new.txt"},
		"a false .git":        {func(s *scene, at string) { s.write(at+"/.git", "gitdir: "+s.repo+"/.git\n") }, "does not lead to its repository"},
		"a .git that is gone": {func(s *scene, at string) { _ = os.Remove(at + "/.git") }, "does not lead to its repository"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			m := s.make(worktree.Ask{Name: "x"})
			c.do(s, m.Path)
			lost := strings.Join(s.keeper.Look(t.Context(), m.Record), "\n")
			if c.want == "" && lost != "" || !strings.Contains(lost, c.want) {
				t.Errorf("would be lost: %q, want %q", lost, c.want)
			}
			_, err := s.keeper.Remove(t.Context(), m.Record, false)
			var loss *worktree.LossError
			if errors.As(err, &loss) != (c.want != "") || exists(m.Path) != (c.want != "") {
				t.Errorf("remove: %v, there: %v", err, exists(m.Path))
			}
		})
	}
}

// conflict leaves the worktree in the middle of a merge or rebase.
func conflict(s *scene, at, verb string) {
	s.write("a.txt", "main\n")
	s.git("commit", "-qam", "main")
	s.write(at+"/a.txt", "own\n")
	s.gitIn(at, "commit", "-qam", "own")
	c := exec.Command("git", verb, "main")
	c.Dir, c.Env = at, s.environ
	_ = c.Run() // it stops at the conflict
}

// TestForceKeepsCommits: files go, commits stay on the branch.
func TestForceKeepsCommits(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.make(worktree.Ask{Name: "x"})
	s.write(m.Path+"/a.txt", "x\n")
	s.gitIn(m.Path, "commit", "-qam", "own")
	s.write(m.Path+"/new.txt", "x")
	s.git("worktree", "lock", m.Path)
	g, err := s.keeper.Remove(t.Context(), m.Record, true, "a process works in it")
	if err != nil || exists(m.Path) || g.Kept != "hermes/x" || len(g.Lost) != 3 {
		t.Fatalf("%+v %v", g, err)
	}
	if got := s.git("log", "-1", "--format=%s", "hermes/x"); got != "own" {
		t.Errorf("the branch has %q", got)
	}
}

func TestAUsedWorktreeIsKept(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.make(worktree.Ask{Name: "x"})
	_, err := s.keeper.Remove(t.Context(), m.Record, false, "session s1 works in it")
	if err == nil || !strings.Contains(err.Error(), "session s1") || !exists(m.Path) {
		t.Errorf("%v", err)
	}
}

// TestProcessesInAFolderAreKnown also from a folder below it.
func TestProcessesInAFolderAreKnown(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says")
	}
	dir := filepath.Join(t.TempDir(), "in")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("cat")
	c.Dir = dir
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	uses, known := worktree.Uses(filepath.Dir(dir))
	if !known || len(uses) != 1 || !strings.Contains(uses[0], "cat") {
		t.Errorf("%q %v", uses, known)
	}
	_ = in.Close()
	_ = c.Wait()
	if uses, _ := worktree.Uses(filepath.Dir(dir)); len(uses) > 0 {
		t.Errorf("afterwards: %q", uses)
	}
}

// TestWhatTheUserRemovedIsForgotten keeps its branch.
func TestWhatTheUserRemovedIsForgotten(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.make(worktree.Ask{Name: "x"})
	s.git("worktree", "remove", m.Path)
	if g := s.remove(m.Record); g.Kept != "hermes/x" {
		t.Errorf("%+v", g)
	}
	if _, err := s.keeper.Named(s.repo, "x"); !errors.Is(err, worktree.ErrUnknown) {
		t.Errorf("%v", err)
	}
}

// TestTheEndSaysWhatBecameOfIt in words for the user, with what to do next.
func TestTheEndSaysWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.make(worktree.Ask{Name: "x"})
	s.write(m.Path+"/new.txt", "x")
	said, kept, _ := s.keeper.End(t.Context(), m.Record)
	for _, want := range []string{m.Path, "1 new file: new.txt", "git merge hermes/x", "hermes worktree remove x"} {
		if !kept || !strings.Contains(said, want) {
			t.Errorf("%v %q, want %q", kept, said, want)
		}
	}
	if _, _, later := s.keeper.End(t.Context(), m.Record, "a session works in it"); later {
		t.Error("what holds a new file is tried again")
	}
	if err := os.Remove(m.Path + "/new.txt"); err != nil {
		t.Fatal(err)
	}
	if _, known := worktree.Uses(m.Path); !known {
		return
	}
	if said, kept, later := s.keeper.End(t.Context(), m.Record, "a session works in it"); !kept || !later {
		t.Errorf("in use: %v %v %q", kept, later, said)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if said, kept, later := s.keeper.End(ended, m.Record); !kept || !later {
		t.Errorf("not looked at: %v %v %q", kept, later, said)
	}
	if said, kept, _ := s.keeper.End(t.Context(), m.Record); kept || !strings.Contains(said, "was removed") {
		t.Errorf("%v %q", kept, said)
	}
	if said, kept, _ := s.keeper.End(t.Context(), m.Record); kept || said != "" {
		t.Errorf("again: %v %q", kept, said)
	}
}

// TestARemovalThatWasCutOffIsFinished with the next change of the repository.
func TestARemovalThatWasCutOffIsFinished(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	m := s.make(worktree.Ask{Name: "x"})
	locked := filepath.Join(m.Path, "node_modules")
	s.write(locked+"/in/file", "x")
	if err := os.Chmod(filepath.Join(locked, "in"), 0o500); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("nothing is refused to root")
	}
	if _, err := s.keeper.Remove(t.Context(), m.Record, false); err == nil {
		t.Fatal("it was removed")
	}
	if err := os.Chmod(filepath.Join(filepath.Dir(m.Path), ".removing-x", "node_modules", "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.make(worktree.Ask{Name: "y"})
	if r, _ := s.keeper.Of(m.Path); exists(m.Path) || r.State != worktree.Removed || s.git("branch", "--list", "hermes/x") != "" {
		t.Errorf("%+v", r)
	}
}
