package gitguard_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hermes/internal/sandbox/gitguard"
)

// again says that the tests run for the second time.
const again = "GITGUARD_AGAIN"

// TestRestoreIsNotStoppedForAnOrdinaryUser: for root, modes stop nothing.
func TestRestoreIsNotStoppedForAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 || os.Getenv(again) != "" {
		t.Skip("this is an ordinary user already")
	}
	const user = 65534
	dir, err := os.MkdirTemp("", "gitguard")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	binary := filepath.Join(dir, "gitguard.test")
	must(t, os.WriteFile(binary, self, 0o755))
	must(t, os.Chown(dir, user, user))
	cmd := exec.Command(binary, "-test.run=^TestRestore", "-test.timeout=2m")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), again+"=1", "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestRestoreIsNotStopped: a program does what it can so that what it changed stays.
func TestRestoreIsNotStopped(t *testing.T) {
	t.Parallel()
	const evil = "#!/bin/sh\necho owned\n"
	long := strings.Repeat("n", 255)
	for name, attack := range map[string]func(t *testing.T, dir, git string){
		"read-only folders": func(t *testing.T, dir, git string) {
			write(t, git+"/hooks/post-checkout", evil)
			write(t, git+"/hooks/pre-commit", evil)
			write(t, git+"/commondir", "../evil\n")
			chmod(t, 0o555, git+"/hooks", git, dir)
		},
		"a read-only new folder": func(t *testing.T, dir, git string) {
			write(t, dir+"/.idea/a/b/c", evil)
			chmod(t, 0o555, dir+"/.idea/a/b", dir+"/.idea/a", dir+"/.idea")
		},
		"a closed new folder": func(t *testing.T, dir, git string) {
			write(t, dir+"/.idea/a/b/c", evil)
			chmod(t, 0, dir+"/.idea/a/b", dir+"/.idea/a", dir+"/.idea")
		},
		"a closed configuration": func(t *testing.T, dir, git string) {
			write(t, git+"/config", evil)
			chmod(t, 0, git+"/config")
		},
		"closed hooks": func(t *testing.T, dir, git string) {
			write(t, git+"/hooks/post-checkout", evil)
			write(t, git+"/hooks/pre-commit", evil)
			chmod(t, 0, git+"/hooks")
		},
		"hooks that cannot be listed": func(t *testing.T, dir, git string) {
			write(t, git+"/hooks/post-checkout", evil)
			chmod(t, 0o311, git+"/hooks")
		},
		"hooks that can only be listed": func(t *testing.T, dir, git string) {
			write(t, git+"/hooks/post-checkout", evil)
			chmod(t, 0o600, git+"/hooks")
		},
		"a repository that is closed": func(t *testing.T, dir, git string) {
			write(t, git+"/hooks/post-checkout", evil)
			chmod(t, 0, git)
		},
		"worktrees that cannot be listed": func(t *testing.T, dir, git string) {
			write(t, git+"/worktrees/e/commondir", "../../../evil\n")
			chmod(t, 0o311, git+"/worktrees")
		},
		"a folder that cannot be listed": func(t *testing.T, dir, git string) {
			write(t, dir+"/src/.envrc", evil)
			chmod(t, 0o311, dir+"/src")
		},
		"mode of a folder and its file": func(t *testing.T, dir, git string) {
			chmod(t, 0o4777, git+"/hooks/pre-commit")
			chmod(t, 0o100, git+"/hooks")
		},
		"a sticky folder": func(t *testing.T, dir, git string) {
			write(t, git+"/hooks/post-checkout", evil)
			must(t, os.Chmod(git+"/hooks", os.ModeSticky|0o500))
		},
		"a folder too deep for its path": func(t *testing.T, dir, git string) {
			must(t, os.Mkdir(dir+"/.idea", 0o700))
			deep(t, dir+"/.idea", 1100, "deep")
		},
		"a path of 5,000 bytes": func(t *testing.T, dir, git string) {
			must(t, os.Mkdir(dir+"/.idea", 0o700))
			deep(t, dir+"/.idea", 20, long)
		},
		"a full folder for a hook": func(t *testing.T, dir, git string) {
			must(t, os.Remove(git+"/hooks/pre-commit"))
			for i := range 3000 {
				write(t, fmt.Sprintf("%s/hooks/pre-commit/%d", git, i), evil)
			}
			chmod(t, 0o100, git+"/hooks/pre-commit")
		},
		"a socket for config": func(t *testing.T, dir, git string) {
			must(t, os.Remove(git+"/config"))
			must(t, syscall.Mknod(git+"/config", syscall.S_IFSOCK|0o600, 0))
		},
		"a name that is no text": func(t *testing.T, dir, git string) { write(t, git+"/hooks/\xff\xfe\n", evil) },
		"a long name": func(t *testing.T, dir, git string) {
			write(t, dir+"/.vscode/"+long, evil)
			write(t, git+"/hooks/"+long+"/x", evil)
		},
		"a folder for a file with a long name": func(t *testing.T, dir, git string) {
			must(t, os.Remove(dir+"/.vscode/"+long))
			write(t, dir+"/.vscode/"+long+"/x", evil)
		},
		"a file for a folder": func(t *testing.T, dir, git string) {
			must(t, os.RemoveAll(git+"/worktrees/w"))
			write(t, git+"/worktrees/w", evil)
			must(t, os.RemoveAll(git+"/hooks"))
			write(t, git+"/hooks", evil)
		},
		"a link for a folder that is not remembered": func(t *testing.T, dir, git string) {
			must(t, os.Rename(git+"/worktrees/w", dir+"/w"))
			must(t, os.Symlink("../../w", git+"/worktrees/w"))
			write(t, dir+"/w/commondir", "../evil\n")
			write(t, dir+"/w/config.worktree", evil)
		},
		"names for what is set aside": func(t *testing.T, dir, git string) {
			must(t, os.Remove(git+"/config"))
			write(t, git+"/config/x", evil)
			for i := range 120 {
				write(t, fmt.Sprintf("%s/config.set-aside-%d/x", git, i), evil)
			}
		},
		"folders beside the one that was moved": func(t *testing.T, dir, git string) {
			must(t, os.Rename(git, dir+"/zzz"))
			for i := range 2000 {
				must(t, os.Mkdir(fmt.Sprintf("%s/%d", dir, i), 0o700))
			}
		},
		"a second name": func(t *testing.T, dir, git string) {
			must(t, os.Link(git+"/config", dir+"/second"))
			write(t, dir+"/second", evil)
			chmod(t, 0o400, dir+"/second")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := mustFolder(t)
			write(t, dir+"/.vscode/"+long, "the user's")
			git := dir + "/.git"
			t.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+rwX", dir).Run() })
			before := mustTake(t, dir)
			attack(t, dir, git)
			if _, err := restoreAll(before); err != nil {
				t.Error(err)
			}
			for _, c := range mustAgain(t, before).Compare(before) {
				t.Errorf("left: %q %s", c.Path, c.Event)
			}
			for path, want := range map[string]string{git + "/hooks/pre-commit": "#!/bin/sh\ntrue\n", git + "/config": config, dir + "/.vscode/" + long: "the user's", git + "/commondir": "", dir + "/src/.envrc": ""} {
				if text, err := os.ReadFile(path); string(text) != want || err != nil && want != "" {
					t.Errorf("%q: %q, %v", path, text, err)
				}
			}
			for _, path := range []string{git, git + "/hooks"} {
				if info, err := os.Stat(path); err != nil || info.Mode() != os.ModeDir|0o755 {
					t.Errorf("%s: %v, %v", path, info.Mode(), err)
				}
			}
		})
	}
}

func chmod(t *testing.T, mode os.FileMode, paths ...string) {
	t.Helper()
	for _, path := range paths {
		must(t, syscall.Chmod(path, uint32(mode)))
	}
}

// deep makes folders in each other.
func deep(t *testing.T, path string, levels int, name string) {
	t.Helper()
	at, err := os.OpenRoot(path)
	must(t, err)
	for range levels {
		must(t, at.Mkdir(name, 0o700))
		next, err := at.OpenRoot(name)
		must(t, err)
		at.Close()
		at = next
	}
	at.Close()
}

// TestRestoreOnAFullDisk: what a program wrote does not stay, and what could not be
// written is written later. It runs in a process of its own, whose limit it is.
func TestRestoreOnAFullDisk(t *testing.T) {
	const alone = "GITGUARD_TEST_FULL_DISK"
	if os.Getenv(alone) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRestoreOnAFullDisk$")
		cmd.Env = append(os.Environ(), alone+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	dir := mustFolder(t)
	before := mustTake(t, dir)
	write(t, dir+"/.git/config", "[core]\n\tfsmonitor = evil\n")
	changes := mustAgain(t, before).Compare(before)
	if len(changes) != 1 {
		t.Fatal(changes)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var was syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was))
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 8, Max: was.Max}))
	err := gitguard.Restore(changes[0])
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was))
	if text, _ := os.ReadFile(dir + "/.git/config"); err == nil || len(text) != 0 {
		t.Errorf("%v, %q", err, text)
	}
	if list, err := os.ReadDir(dir + "/.git"); err != nil || len(list) != 4 {
		t.Errorf("%v, %v", list, err)
	}
	now := mustAgain(t, before)
	if now.Shows(changes[0]) {
		t.Error("it is said to be there")
	}
	for _, c := range now.Compare(before) {
		must(t, gitguard.Restore(c))
	}
	if text, _ := os.ReadFile(dir + "/.git/config"); string(text) != config {
		t.Errorf("%q", text)
	}
}

// TestRestoreSaysThatThereIsNothingToRestore: nothing is told that was not done.
func TestRestoreSaysThatThereIsNothingToRestore(t *testing.T) {
	t.Parallel()
	dir := mustFolder(t)
	before := mustTake(t, dir)
	must(t, os.Rename(dir+"/.git", dir+"/x"))
	write(t, dir+"/.idea/x", "x")
	changes := mustAgain(t, before).Compare(before)
	must(t, os.Rename(dir+"/x", dir+"/.git"))
	must(t, os.RemoveAll(dir+"/.idea"))
	if len(changes) < 3 {
		t.Errorf("%d changes", len(changes))
	}
	for _, c := range changes {
		if err := gitguard.Restore(c); !errors.Is(err, gitguard.ErrAsBefore) {
			t.Errorf("%s: %v", c.Path, err)
		}
	}
}

// TestRestoreDoesNotOpenWhatWasClosedBefore: what was in it is not known.
func TestRestoreDoesNotOpenWhatWasClosedBefore(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root looks into everything")
	}
	dir := mustFolder(t)
	write(t, dir+"/src/.envrc", "the user's")
	chmod(t, 0o311, dir+"/src")
	t.Cleanup(func() { _ = os.Chmod(dir+"/src", 0o700) })
	before := mustTake(t, dir)
	if changes := mustAgain(t, before).Compare(before); len(changes) != 0 {
		t.Errorf("%v", changes)
	}
	write(t, dir+"/src/new", "x")
	changes := mustAgain(t, before).Compare(before)
	if len(changes) != 1 || changes[0].Event != gitguard.Locked || !errors.Is(gitguard.Restore(changes[0]), gitguard.ErrKeep) {
		t.Errorf("%v", changes)
	}
	if text, err := os.ReadFile(dir + "/src/.envrc"); string(text) != "the user's" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestASnapshotSaysThatItIsNotOfEverything: what was beyond it is not known to be new.
func TestASnapshotSaysThatItIsNotOfEverything(t *testing.T) {
	t.Parallel()
	dir := mustFolder(t)
	before := mustTake(t, dir)
	if before.Full {
		t.Fatal("it is full")
	}
	for i := range 18 {
		for j := range 250 {
			write(t, fmt.Sprintf("%s/!%d/.vscode/%d", dir, i, j), "")
		}
	}
	full := mustAgain(t, before)
	if !full.Full {
		t.Error("more than the bound was not noticed")
	}
	for i := range 4 {
		must(t, os.RemoveAll(fmt.Sprintf("%s/!%d", dir, i)))
	}
	write(t, dir+"/src/.envrc", "maybe the user's")
	now := mustAgain(t, full)
	for _, c := range now.Compare(full) {
		if c.Path == dir+"/src/.envrc" {
			if err := gitguard.Restore(c); !errors.Is(err, gitguard.ErrKeep) {
				t.Errorf("%v", err)
			}
		}
	}
	if now.Full {
		t.Error("it is still full")
	}
	for _, c := range now.Compare(before) {
		if c.Path == dir+"/src/.envrc" {
			must(t, gitguard.Restore(c))
			return
		}
	}
	t.Error("what is new was not noticed")
}
