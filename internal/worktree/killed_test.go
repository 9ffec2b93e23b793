package worktree_test

import (
	"bufio"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes/internal/git"
	"hermes/internal/proc"
	"hermes/internal/worktree"
)

// TestAKilledMakerLeavesNothing: whenever it is killed, the next change of the repository cleans up,
// and what is there is whole.
func TestAKilledMakerLeavesNothing(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no SIGKILL")
	}
	s := newScene(t)
	for i := range 100 {
		s.write("many/"+strconv.Itoa(i), strings.Repeat("x", 2000))
	}
	s.write(".worktreeinclude", "*.log\n")
	for i := range 100 {
		s.write("logs/"+strconv.Itoa(i)+".log", strings.Repeat("x", 2000))
	}
	s.git("add", "-A")
	s.git("commit", "-qm", "many")
	began := time.Now()
	s.remove(s.make(worktree.Ask{Name: "measured"}).Record)
	long := time.Since(began)
	for round := range 6 {
		c := exec.Command(os.Args[0], "-test.run=^TestMakerProcess$")
		c.Env = append(s.environ, "MAKE_A_WORKTREE_IN="+s.repo, "KEEP_RECORDS_IN="+s.keeper.Folder)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for lines.Scan() && lines.Text() != "begins" {
		}
		time.Sleep(time.Duration(rand.Int64N(int64(long)))) // the moment is what varies
		_ = c.Process.Kill()
		_ = c.Wait()
		m := s.make(worktree.Ask{Name: "next" + strconv.Itoa(round)})
		if got := s.gitIn(m.Path, "status", "--porcelain"); got != "" || len(m.Copied) != 100 {
			t.Fatalf("the next one has %q and %d copies", got, len(m.Copied))
		}
		all, err := s.keeper.Records()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if r.State == worktree.Making {
				t.Fatalf("half-made: %+v", r)
			}
			if r.State == worktree.Ready {
				if lost := s.keeper.Look(t.Context(), r); len(lost) > 0 {
					t.Fatalf("%s: %q", r.Name, lost)
				}
				s.remove(r)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(s.repo, ".worktrees", "[^.]*")); len(left) > 0 {
			t.Fatalf("folders left: %v", left)
		}
		if got := s.git("branch", "--list", "hermes/*"); got != "" || strings.Count(s.git("worktree", "list"), "\n") > 0 {
			t.Fatalf("branches left: %s, worktrees: %s", got, s.git("worktree", "list"))
		}
	}
}

// TestMakerProcess is the process that is killed.
func TestMakerProcess(t *testing.T) {
	dir := os.Getenv("MAKE_A_WORKTREE_IN")
	if dir == "" {
		t.Skip("only in a process of its own")
	}
	var guard proc.Guard
	at := func(dir string) (git.Repository, func()) {
		return git.Repository{Dir: dir, Env: os.Environ, Guard: &guard}, func() {}
	}
	k := &worktree.Keeper{Folder: os.Getenv("KEEP_RECORDS_IN"), Now: time.Now, Read: at, Write: at}
	_, _ = os.Stdout.WriteString("begins\n")
	if _, err := k.Make(t.Context(), worktree.Ask{Dir: dir, Name: "killed"}); err != nil {
		t.Fatal(err)
	}
}
