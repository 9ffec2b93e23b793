package gitguard_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"hermes/internal/sandbox/gitguard"
)

// TestAWatchedFolderIsSeenAsItIs: all that a new search would find is found after any
// changes.
func TestAWatchedFolderIsSeenAsItIs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			must(t, err)
			rnd := rand.New(rand.NewPCG(seed, 0))
			name := func() string { return string(rune('a' + rnd.IntN(4))) }
			place := func() string {
				at := dir
				for range rnd.IntN(6) {
					at = filepath.Join(at, name())
				}
				return at
			}
			s := mustWatch(t, dir)
			for step := range 150 {
				for range 1 + rnd.IntN(6) { // any of these may fail: there may be nothing
					switch at := place(); rnd.IntN(7) {
					case 0, 1:
						_ = os.MkdirAll(at, 0o755)
					case 2:
						_ = os.Rename(at, filepath.Join(place(), name()))
					case 3:
						_ = os.RemoveAll(filepath.Join(at, name()))
					case 4:
						_ = os.MkdirAll(filepath.Join(at, ".git"), 0o755)
					case 5:
						_ = os.WriteFile(filepath.Join(at, ".envrc"), nil, 0o644)
					case 6:
						_ = os.Symlink(place(), filepath.Join(at, name()))
					}
				}
				s = mustAgain(t, s)
				for _, c := range mustTake(t, dir).Compare(s) {
					_, err := os.Lstat(c.Path)
					if real, _ := filepath.EvalSymlinks(filepath.Dir(c.Path)); c.Event == gitguard.Removed && (err == nil || real != filepath.Dir(c.Path)) {
						continue // it is deeper than a new search, or was known where a link is now
					}
					t.Fatalf("step %d: %s %s", step, c.Path, c.Event)
				}
			}
		})
	}
}

// TestDeepFoldersAreWatched, those that were there and new ones.
func TestDeepFoldersAreWatched(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("folders are not watched here")
	}
	dir := mustFolder(t)
	deep := "a/b/c/d/e/f/g/h"
	for i := range 500 {
		must(t, os.MkdirAll(fmt.Sprintf("%s/%d/x", dir, i), 0o755))
	}
	write(t, filepath.Join(dir, deep, "f"), "")
	before := mustWatchAll(t, dir)
	for _, path := range []string{deep + "/.git/config", deep + "/new/.envrc", "499/x/config", "499/x/HEAD", "499/x/objects", "499/x/refs"} {
		write(t, filepath.Join(dir, path), evil)
	}
	changes := mustAgain(t, before).Compare(before)
	for _, path := range []string{deep + "/.git/config", deep + "/new/.envrc", "499/x/config"} {
		if _, ok := changeOf(changes, filepath.Join(dir, path)); !ok {
			t.Errorf("%s was not found", path)
		}
	}
}

// TestMoreChangesThanAreToldAreFound: the kernel keeps 16,384.
func TestMoreChangesThanAreToldAreFound(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("folders are not watched here")
	}
	dir := mustFolder(t)
	write(t, dir+"/a/b/c/d/e/f/g/f", "")
	before := mustWatchAll(t, dir)
	for i := range 9000 {
		name := fmt.Sprintf("%s/src/%d", dir, i%100)
		must(t, os.WriteFile(name, nil, 0o644))
		must(t, os.Remove(name))
	}
	write(t, dir+"/a/b/c/d/e/f/g/.git/config", evil)
	must(t, os.Rename(dir+"/src", dir+"/src2"))
	now := mustAgain(t, before)
	if _, ok := changeOf(now.Compare(before), dir+"/a/b/c/d/e/f/g/.git/config"); !ok {
		t.Error("not found")
	}
	write(t, dir+"/src2/deep/.envrc", evil) // what follows is told again
	if _, ok := changeOf(mustAgain(t, now).Compare(now), dir+"/src2/deep/.envrc"); !ok {
		t.Error("not found afterwards")
	}
}

// TestALargeProjectIsLookedAtInParts: what was there is never taken for new.
func TestALargeProjectIsLookedAtInParts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustProject(t, dir, 4000)
	for i := range 4000 / 20 {
		write(t, fmt.Sprintf("%s/p%d/.envrc", dir, i), "the user's")
	}
	before := mustWatch(t, dir)
	for range 20 {
		now := mustAgain(t, before)
		for _, c := range now.Compare(before) {
			t.Fatalf("%s %s", c.Path, c.Event)
		}
		next, err := now.Next()
		must(t, err)
		before = next
	}
	before = mustAll(t, before)
	write(t, dir+"/p150/s19/.git/config", evil)
	if len(mustAgain(t, before).Compare(before)) == 0 && runtime.GOOS == "linux" {
		t.Error("not found")
	}
}

// mustWatchAll is mustWatch until all folders were looked at, which takes several parts on a
// busy machine.
func mustWatchAll(t testing.TB, dir string) gitguard.Snapshot {
	t.Helper()
	return mustAll(t, mustWatch(t, dir))
}

func mustAll(t testing.TB, s gitguard.Snapshot) gitguard.Snapshot {
	t.Helper()
	for s.Partial() {
		next, err := s.Next()
		must(t, err)
		s = next
	}
	return s
}

// mustProject makes folders, 20 in each of a top one.
func mustProject(t testing.TB, dir string, folders int) {
	t.Helper()
	for i := range folders / 20 {
		for j := range 20 {
			must(t, os.MkdirAll(fmt.Sprintf("%s/p%d/s%d", dir, i, j), 0o755))
		}
	}
}

// BenchmarkAgain compares the two ways in a project where nothing changed. The old way looks at
// 128 folders.
func BenchmarkAgain(b *testing.B) {
	for _, folders := range []int{100, 1000, 8000} {
		dir := ordinary(b)
		mustProject(b, dir, folders)
		time.Sleep(4 * time.Second) // what changed just now is read again
		for _, way := range []string{"taken", "watched"} {
			before := mustAll(b, ways[way](b, dir))
			b.Run(fmt.Sprintf("%d %s", folders, way), func(b *testing.B) {
				for b.Loop() {
					now, err := before.Again()
					if err != nil || len(now.Compare(before)) > 0 {
						b.Fatal(err)
					}
					before = now
				}
			})
			b.Run(fmt.Sprintf("%d %s first", folders, way), func(b *testing.B) {
				for b.Loop() {
					if s, err := map[string]func(string) (gitguard.Snapshot, error){"taken": gitguard.Take, "watched": gitguard.User{}.Watch}[way](dir); err != nil {
						b.Fatal(err)
					} else {
						b.StopTimer() // this waits for no command
						s.Close()
						b.StartTimer()
					}
				}
			})
		}
	}
}
