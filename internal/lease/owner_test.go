package lease_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hermes/internal/lease"
	"hermes/internal/liveness"
)

// leases returns a list of owners as the store does.
func leases(owners ...string) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) { return owners, nil }
}

// mustLocks makes the locks of a living process and of a killed one in a folder.
func mustLocks(t *testing.T, dir string) (living, killed string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a lock cannot be left there without its process")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	living, killed = filepath.Join(dir, "00000000000000aa.lock"), filepath.Join(dir, "00000000000000bb.lock")
	held, err := liveness.Hold(living)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Release() })
	of, err := os.ReadFile(living)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(killed, of, 0o600); err != nil { // its file, without the lock
		t.Fatal(err)
	}
	return living, killed
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestOnlyTheLockSaysWhetherAnOwnerLives: neither the host nor the process id decides.
func TestOnlyTheLockSaysWhetherAnOwnerLives(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	mustLocks(t, dir)
	host, _ := os.Hostname()
	gone := lease.Gone(dir)
	for name, tt := range map[string]struct {
		owner string
		want  bool
	}{
		"another container of the same name, where the id means nothing": {host + ":999999999:00000000000000aa", false},
		"a living process of another host":                               {"elsewhere:1:00000000000000aa", false},
		"a killed process whose id is used again":                        {fmt.Sprintf("%s:%d:00000000000000bb", host, os.Getpid()), true},
		"a killed process in another container":                          {"elsewhere:1:00000000000000bb", true},
		"a process without a lock, which a read-only home cannot have":   {host + ":999999999:00000000000000cc", false},
		"a process of an earlier version":                                {host + ":999999999:00000000", false},
		"a number that is a path":                                        {host + ":1:../run/00000000000000bb", false},
		"nothing":                                                        {"", false},
	} {
		if got := gone(tt.owner); got != tt.want {
			t.Errorf("%s: gone is %v", name, got)
		}
	}
}

// TestLocksOfEndedProcessesAreRemovedInAnyHome: also where the name of its folder looks like
// a pattern. Those of living ones stay, and those with leases.
func TestLocksOfEndedProcessesAreRemovedInAnyHome(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain", "me [work]", "a*b?", "[", `a\b`} {
		dir := filepath.Join(t.TempDir(), name, "run")
		if err := lease.Tidy(t.Context(), dir, leases()); err != nil { // before the first lock
			t.Errorf("%s: %v", name, err)
		}
		living, killed := mustLocks(t, dir)
		if err := lease.Tidy(t.Context(), dir, leases("elsewhere:1:00000000000000bb")); err != nil || !exists(killed) {
			t.Errorf("%s: the lock of an ended process with a lease is gone, %v", name, err)
		}
		broken := errors.New("disk full")
		if err := lease.Tidy(t.Context(), dir, func(context.Context) ([]string, error) { return nil, broken }); !errors.Is(err, broken) || !exists(killed) {
			t.Errorf("%s: without an answer: %v", name, err)
		}
		if err := lease.Tidy(t.Context(), dir, leases()); err != nil || exists(killed) {
			t.Errorf("%s: the lock of a process that has ended is there, %v", name, err)
		}
		if !exists(living) {
			t.Errorf("%s: the lock of a living process is gone", name)
		}
	}
}

func TestAnOwnerKeepsItsFileWithItsLeases(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]bool{"none is left": false, "one is left": true, "unknown": true} {
		dir := filepath.Join(t.TempDir(), "run")
		o, err := lease.NewOwner(dir)
		if err != nil {
			t.Fatal(err)
		}
		host, _ := os.Hostname()
		if !strings.HasPrefix(o.Name, fmt.Sprintf("%s:%d:", strings.ReplaceAll(host, ":", "_"), os.Getpid())) {
			t.Errorf("the name is %s", o.Name)
		}
		if lease.Gone(dir)(o.Name) {
			t.Errorf("%s: the owner runs and counts as gone", name)
		}
		owners := map[string]func(context.Context) ([]string, error){
			"none is left": leases("another:1:00000000000000bb"), "one is left": leases("another:1:00000000000000bb", o.Name),
			"unknown": func(context.Context) ([]string, error) { return nil, errors.New("disk full") },
		}[name]
		if err := o.Close(owners); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		list, err := os.ReadDir(dir)
		if (len(list) > 0) != kept || err != nil {
			t.Errorf("%s: the folder has %v, %v", name, list, err)
		}
		if runtime.GOOS != "windows" && lease.Gone(dir)(o.Name) != kept {
			t.Errorf("%s: the owner counts as gone: %t", name, !kept)
		}
	}
	if o, err := lease.NewOwner(filepath.Join(t.TempDir(), "a\x00b")); err == nil || o.Name == "" || o.Close(leases()) != nil {
		t.Errorf("a folder that cannot be made: %+v, %v", o, err)
	}
}
