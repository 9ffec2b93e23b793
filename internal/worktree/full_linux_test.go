package worktree_test

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"hermes/internal/git"
	"hermes/internal/worktree"
)

// TestAFullDiskRefusesNoLaterWorktree: what could be written of the file .gitignore of all worktrees is removed.
func TestAFullDiskRefusesNoLaterWorktree(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := exec.Command(os.Args[0], "-test.run=^TestMakerOnAFullDisk$")
	c.Env = append(s.environ, "MAKE_ONE_ON_A_FULL_DISK_IN="+s.repo, "KEEP_RECORDS_IN="+s.keeper.Folder)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !exists(filepath.Join(s.repo, ".worktrees")) {
		t.Fatal("it did not come so far")
	}
	s.make(worktree.Ask{Name: "x"})
}

// TestMakerOnAFullDisk is a process that can write nothing once it has its lock.
func TestMakerOnAFullDisk(t *testing.T) {
	dir := os.Getenv("MAKE_ONE_ON_A_FULL_DISK_IN")
	if dir == "" {
		t.Skip("only in a process of its own")
	}
	signal.Ignore(syscall.SIGXFSZ) // so that writing is an error
	k := &worktree.Keeper{Folder: os.Getenv("KEEP_RECORDS_IN"), Now: time.Now, Read: func(dir string) (git.Repository, func()) {
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		limit.Cur = 0
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		return git.Repository{Dir: dir, Env: os.Environ}, func() {}
	}}
	if _, err := k.Make(t.Context(), worktree.Ask{Dir: dir, Name: "full"}); !errors.Is(err, syscall.EFBIG) {
		t.Fatal(err)
	}
}
