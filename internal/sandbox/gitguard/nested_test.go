package gitguard_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/internal/sandbox/gitguard"
)

// indexOf returns an index of version 2 that names submodules.
func indexOf(names ...string) string {
	b := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), uint32(len(names)))
	for _, name := range names {
		b = append(b, make([]byte, 24)...)
		b = binary.BigEndian.AppendUint32(b, 0o160000)
		b = append(b, make([]byte, 12+20)...)
		b = binary.BigEndian.AppendUint16(b, uint16(len(name)))
		b = append(b, name...)
		for b = append(b, 0); (len(b)-12)%8 != 0; {
			b = append(b, 0)
		}
	}
	return string(b) + strings.Repeat("\x00", 20)
}

// TestSubmodulesAreLookedAtWhereverTheyAre: git status in the outer repository runs what
// they configure.
func TestSubmodulesAreLookedAtWhereverTheyAre(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		made []string // names and texts
		path string   // of the configuration
	}{
		"skipped":       {[]string{".git/index", indexOf("vendor/x"), "vendor/x/.git/config", evil}, "vendor/x/.git/config"},
		"deep":          {[]string{".git/index", indexOf("a/b/c/d/e/f/g/h"), "a/b/c/d/e/f/g/h/.git/config", evil}, "a/b/c/d/e/f/g/h/.git/config"},
		"in each other": {[]string{".git/index", indexOf("build/x"), "build/x/.git/index", indexOf("build/y"), "build/x/build/y/.git/config", evil}, "build/x/build/y/.git/config"},
		"a worktree":    {[]string{".git/worktrees/n/index", indexOf("vendor/x"), ".git/worktrees/n/gitdir", "DIR/build/n/.git\n", "build/n/vendor/x/.git/config", evil}, "build/n/vendor/x/.git/config"},
		"a file":        {[]string{".git/index", indexOf("vendor/x"), "vendor/x/.git", "gitdir: ../y\n", "vendor/y/config", evil}, "vendor/y/config"},
		"a module": {[]string{
			".git/index", indexOf("vendor/x"), "vendor/x/.git", "gitdir: ../../.git/modules/x\n",
			".git/modules/x/index", indexOf("vendor/z"), "vendor/x/vendor/z/.git/config", evil,
		}, "vendor/x/vendor/z/.git/config"},
		"another work tree": {[]string{".git/config", config + "[core]\n\tworktree = ../build/w\n", ".git/index", indexOf("x"), "build/w/x/.git/config", evil}, "build/w/x/.git/config"},
		"shared": {[]string{
			".git/index", split("aaaaaaaaaaaaaaaaaaaa"), ".git/sharedindex." + strings.Repeat("61", 20), indexOf("vendor/x"), "vendor/x/.git/config", evil,
		}, "vendor/x/.git/config"},
	} {
		dir := mustFolder(t)
		before := mustTake(t, dir)
		files(c.made...)(t, dir)
		now := mustAgain(t, before)
		change, ok := changeOf(now.Compare(before), filepath.Join(dir, c.path))
		if !ok || change.Class != gitguard.GitConfig {
			t.Errorf("%s: not found", name)
			continue
		}
		if _, bad := change.Judge(); len(bad) == 0 {
			t.Errorf("%s: nothing is suspicious", name)
		}
		// Without its name in the index it is still looked at.
		must(t, os.RemoveAll(dir+"/.git/index"))
		write(t, filepath.Join(dir, c.path), evil+"#")
		if change, ok = changeOf(mustAgain(t, now).Compare(now), filepath.Join(dir, c.path)); !ok || change.Event != gitguard.Changed {
			t.Errorf("%s: forgotten: %+v", name, change.Event)
		}
	}
}

// split returns an index without entries that builds on another.
func split(id string) string {
	return "DIRC\x00\x00\x00\x02\x00\x00\x00\x00link\x00\x00\x00\x14" + id + strings.Repeat("\x00", 20)
}

// TestIndexesThatNameTooMuchAreReported, and so are those that are not understood.
func TestIndexesThatNameTooMuchAreReported(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 600 {
		many = append(many, fmt.Sprintf("vendor/%d", i))
	}
	for name, attack := range map[string]func(t *testing.T, dir string){
		"too many":          files(".git/index", indexOf(many...)),
		"a way out":         files(".git/index", indexOf("../x")),
		"an absolute path":  files(".git/index", indexOf("/tmp/x")),
		"not understood":    files(".git/index", "evil"),
		"no shared index":   files(".git/index", split("aaaaaaaaaaaaaaaaaaaa")),
		"a bad shared one":  files(".git/index", split("aaaaaaaaaaaaaaaaaaaa"), ".git/sharedindex."+strings.Repeat("61", 20), "evil"),
		"of a worktree":     files(".git/worktrees/n/gitdir", "DIR/n/.git\n", ".git/worktrees/n/index", "evil"),
		"a link":            func(t *testing.T, dir string) { must(t, os.Symlink("../src/deep/main.go", dir+"/.git/index")) },
		"a pipe":            func(t *testing.T, dir string) { must(t, mkfifo(dir+"/.git/index")) },
		"a sparse one":      files(".git/index", sparse("src/deep/")),
		"in a new one":      files("build/.git/index", "evil", ".git/index", indexOf("build")),
		"changed, not more": files(".git/index", "evil2"),
	} {
		dir := mustFolder(t)
		if name == "changed, not more" {
			write(t, dir+"/.git/index", "evil")
		}
		before := mustTake(t, dir)
		attack(t, dir)
		now := mustAgain(t, before)
		i := slices.IndexFunc(now.Compare(before), func(c gitguard.Change) bool { return c.Class == gitguard.Unseen })
		if i < 0 {
			t.Errorf("%s: not reported", name)
			continue
		}
		if err := gitguard.Restore(now.Compare(before)[i]); !errors.Is(err, gitguard.ErrKeep) {
			t.Errorf("%s: %v", name, err)
		}
		if again := mustAgain(t, now).Compare(now); len(again) > 0 {
			t.Errorf("%s: reported again: %s", name, again[0].Path)
		}
	}
	dir := mustFolder(t)
	before := mustTake(t, dir)
	files(".git/index", sparse("elsewhere/"))(t, dir)
	if changes := mustAgain(t, before).Compare(before); len(changes) > 0 {
		t.Errorf("a sparse folder that is not there: %v", changes)
	}
}

// TestAGitlinkOfGit tries it with git itself.
func TestAGitlinkOfGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	for _, version := range []string{"2", "4", "split"} {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		must(t, err)
		git := func(args ...string) {
			t.Helper()
			cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=b"}, args...)...)
			cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
		git("init", "-q")
		before := mustTake(t, dir)
		git("init", "-q", "vendor/x")
		git("-C", "vendor/x", "commit", "-q", "--allow-empty", "-m", "x")
		git("-C", "vendor/x", "config", "core.fsmonitor", "evil")
		git("add", "vendor/x")
		if version == "split" {
			git("update-index", "--split-index")
		} else {
			git("update-index", "--index-version", version)
		}
		changes, err := restoreAll(before)
		if c, ok := changeOf(changes, dir+"/vendor/x/.git/config"); !ok || c.Event != gitguard.Added || err != nil && !errors.Is(err, gitguard.ErrKeep) {
			t.Errorf("%s: %v, %v", version, ok, err)
		}
		if c, ok := changeOf(changes, dir+"/vendor/x/.git"); !ok || c.Event != gitguard.NewRepository {
			t.Errorf("%s: it is no new repository", version)
		}
	}
}

// sparse returns an index with a folder that is not written out.
func sparse(name string) string {
	return strings.Replace(indexOf(name), "\x00\x00\xe0\x00", "\x00\x00\x40\x00", 1)
}
