package gitguard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/internal/sandbox/gitguard"
)

const evil = "[core]\n\tfsmonitor = evil\n"

// changeOf returns the change of a path, and whether there is one.
func changeOf(changes []gitguard.Change, path string) (gitguard.Change, bool) {
	i := slices.IndexFunc(changes, func(c gitguard.Change) bool { return c.Path == path })
	if i < 0 {
		return gitguard.Change{}, false
	}
	return changes[i], true
}

// TestNothingHidesWhatWasKnown: changes of what an earlier snapshot knew are found and
// undone, whatever else there is now.
func TestNothingHidesWhatWasKnown(t *testing.T) {
	t.Parallel()
	for name, attack := range map[string]func(t *testing.T, dir string){
		"other spellings": func(t *testing.T, dir string) {
			for _, other := range []string{".GIT", ".giT", ".Git", ".gIT", ".gIt"} {
				write(t, filepath.Join(dir, other, "HEAD"), "x")
				write(t, filepath.Join(dir, "z/n", other, "HEAD"), "x")
			}
		},
		"folders that sort first": func(t *testing.T, dir string) {
			for i := range 200 {
				write(t, fmt.Sprintf("%s/a%03d/b/c/f", dir, i), "")
			}
		},
		"full folders": func(t *testing.T, dir string) {
			for i := range 1100 {
				must(t, os.WriteFile(fmt.Sprintf("%s/a%04d", dir, i), nil, 0o644))
				must(t, os.Mkdir(fmt.Sprintf("%s/z/a%04d", dir, i), 0o755))
			}
		},
		"files of tools": func(t *testing.T, dir string) {
			for i := range 100 {
				for j := range 50 {
					write(t, fmt.Sprintf("%s/a%03d/.vscode/%d", dir, i, j), "")
				}
			}
		},
		"worktrees and hooks": func(t *testing.T, dir string) {
			for i := range 300 {
				write(t, fmt.Sprintf("%s/z/n/.git/worktrees/%d/commondir", dir, i), "../..\n")
				write(t, fmt.Sprintf("%s/z/n/.git/hooks/a%d", dir, i), "")
				write(t, fmt.Sprintf("%s/z/n/.git/modules/a%d/HEAD", dir, i), "")
			}
		},
		"a repository around it": files("HEAD", "x", "objects/x", "", "refs/x", "", "z/HEAD", "x", "z/objects", "", "z/refs", ""),
		"a skipped folder":       func(t *testing.T, dir string) { write(t, dir+"/z/node_modules/x", "") },
	} {
		for way, take := range ways {
			t.Run(name+" "+way, func(t *testing.T) {
				t.Parallel()
				dir := mustFolder(t)
				write(t, dir+"/z/n/.git/HEAD", "x")
				write(t, dir+"/z/n/.git/config", config)
				write(t, dir+"/z/n/.git/hooks/zz", "true")
				write(t, dir+"/z/n/.git/worktrees/zz/gitdir", dir+"/elsewhere/.git\n")
				write(t, dir+"/z/n/.envrc", "true")
				write(t, dir+"/z/n/o/f", "")
				before := take(t, dir)
				attack(t, dir)
				changed := files(
					".git/config", evil, "z/n/.git/config", evil, "z/n/.git/hooks/zz", evil, "z/n/.git/worktrees/zz/gitdir", evil, "z/n/.envrc", evil,
					".git/hooks/pre-commit", evil,
				)
				added := files(".git/hooks/update", evil, "z/n/.git/hooks/update", evil, "z/n/.git/config.worktree", evil, "z/n/o/.envrc", evil)
				changed(t, dir)
				added(t, dir)
				now := mustAgain(t, before)
				for _, c := range now.Compare(before) {
					if c.Event == gitguard.Removed {
						t.Errorf("removed: %s", c.Path)
					}
				}
				if _, err := restoreAll(before); err != nil && !strings.Contains(err.Error(), gitguard.ErrKeep.Error()) {
					t.Error(err)
				}
				err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
					if strings.Contains(path, "set-aside") || err != nil || !d.Type().IsRegular() {
						return err
					}
					if text, err := os.ReadFile(path); err != nil || string(text) == evil {
						t.Errorf("left: %s, %v", path, err)
					}
					return nil
				})
				must(t, err)
			})
		}
	}
}

// TestWhatIsClosedIsNotGone: who takes the rights of a folder away hides what is in it.
func TestWhatIsClosedIsNotGone(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root may read all; TestAttackClosesARepository runs as another user")
	}
	dir := mustFolder(t)
	before := mustTake(t, dir)
	write(t, dir+"/.git/config", evil)
	write(t, dir+"/.git/hooks/pre-commit", evil)
	must(t, os.Chmod(dir+"/.git", 0))
	changes := mustAgain(t, before).Compare(before)
	for _, c := range changes {
		if c.Event != gitguard.Changed {
			t.Errorf("%s: %s", c.Path, c.Event)
		}
	}
	if _, err := restoreAll(before); err != nil || len(changes) == 0 {
		t.Errorf("%d changes, %v", len(changes), err)
	}
	for _, c := range mustTake(t, dir).Compare(before) {
		t.Errorf("left: %s %s", c.Path, c.Event)
	}
}

// TestWhatGitTakesForARepository is looked at, whatever it is made of.
func TestWhatGitTakesForARepository(t *testing.T) {
	t.Parallel()
	link := func(to, name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
			must(t, os.Symlink(to, filepath.Join(dir, name)))
		}
	}
	for name, c := range map[string]struct {
		made []func(t *testing.T, dir string)
		path string // of the configuration
	}{
		"folders":             {[]func(*testing.T, string){files("src/HEAD", "x", "src/objects/x", "", "src/refs/x", "", "src/config", evil)}, "src/config"},
		"links":               {[]func(*testing.T, string){link("ref", "src/HEAD"), link("deep", "src/objects"), link("deep", "src/refs"), files("src/config", evil)}, "src/config"},
		"files":               {[]func(*testing.T, string){files("src/HEAD", "x", "src/objects", "", "src/refs", "", "src/config", evil)}, "src/config"},
		"a part":              {[]func(*testing.T, string){files("src/HEAD", "x", "src/commondir", "../other", "other/config", evil)}, "other/config"},
		"a part, as usual":    {[]func(*testing.T, string){files("o/worktrees/x/HEAD", "x", "o/worktrees/x/commondir", "../..\n", "o/config", evil)}, "o/config"},
		"a part of .git":      {[]func(*testing.T, string){files("src/.git/HEAD", "x", "src/.git/commondir", "../../o", "o/config", evil)}, "o/config"},
		"a file to a part":    {[]func(*testing.T, string){files("src/.git", "gitdir: ../p\n", "p/HEAD", "x", "p/commondir", "../o", "o/config", evil)}, "o/config"},
		"its own":             {[]func(*testing.T, string){files("src/.git", "gitdir: ../p\n", "p/commondir", "../o", "p/config.worktree", evil, "o/config", "")}, "p/config.worktree"},
		"a link":              {[]func(*testing.T, string){files("o/p/config", evil), link("../o/p", "src/.git")}, "o/p/config"},
		"a link to a part":    {[]func(*testing.T, string){files("o/config", evil, "p/commondir", "../o"), link("../p", "src/.git")}, "o/config"},
		"below one":           {[]func(*testing.T, string){files("HEAD", "x", "objects/x", "", "refs/x", "", "src/new/.git/config", evil)}, "src/new/.git/config"},
		"names in large":      {[]func(*testing.T, string){files("src/head", "x", "src/Objects", "", "src/REFS", "", "src/config", evil)}, "src/config"},
		"with a secret in it": {[]func(*testing.T, string){files("src/.env", "x", "src/HEAD", "x", "src/objects", "", "src/refs", "", "src/config", evil)}, "src/config"},
	} {
		dir := mustFolder(t)
		before := mustTake(t, dir)
		for _, f := range c.made {
			f(t, dir)
		}
		change, ok := changeOf(mustAgain(t, before).Compare(before), filepath.Join(dir, c.path))
		if !ok || change.Class != gitguard.GitConfig {
			t.Errorf("%s: not found", name)
			continue
		}
		if _, bad := change.Judge(); len(bad) == 0 {
			t.Errorf("%s: nothing is suspicious", name)
		}
	}
}

// TestWhatLeadsOutIsDeleted: a new entry of git that leads where nothing is looked at.
func TestWhatLeadsOutIsDeleted(t *testing.T) {
	t.Parallel()
	outside, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	write(t, outside+"/HEAD", "x")
	write(t, outside+"/config", evil)
	for name, attack := range map[string]func(t *testing.T, dir string){
		"a file":           files("src/.git", "gitdir: "+outside+"\n"),
		"a link":           func(t *testing.T, dir string) { must(t, os.Symlink(outside, dir+"/src/.git")) },
		"a file to a part": files("src/.git", "gitdir: ../p\n", "p/HEAD", "x", "p/commondir", outside+"\n"),
		"a file to a link": func(t *testing.T, dir string) {
			must(t, os.Symlink(outside, dir+"/p"))
			write(t, dir+"/src/.git", "gitdir: ../p\n")
		},
		"with an end": files("src/.git", "gitdir: "+outside+"\x00x\n"),
		"of a part":   files("src/.git/HEAD", "x", "src/.git/commondir", outside+"\n"),
		"a part":      files("src/HEAD", "x", "src/commondir", outside+"\n"),
	} {
		dir := mustFolder(t)
		before := mustTake(t, dir)
		attack(t, dir)
		changes, err := restoreAll(before)
		if len(changes) == 0 || err != nil && !strings.Contains(err.Error(), gitguard.ErrKeep.Error()) {
			t.Errorf("%s: %d changes, %v", name, len(changes), err)
		}
		for _, path := range []string{"src/.git/commondir", "src/commondir"} {
			if _, err := os.Lstat(filepath.Join(dir, path)); err == nil {
				t.Errorf("%s: %s is still there", name, path)
			}
		}
		if info, err := os.Lstat(dir + "/src/.git"); err == nil && !info.IsDir() {
			t.Errorf("%s: it is still there", name)
		}
	}
}

func TestManySpellingsAreRepositoriesOfTheirOwn(t *testing.T) {
	t.Parallel()
	dir := mustFolder(t)
	if _, err := os.Stat(dir + "/.GIT"); err == nil {
		t.Skip("they are one file here")
	}
	write(t, dir+"/.GIT/config", evil)
	f, err := gitguard.Find(dir)
	must(t, err)
	var names []string
	for _, r := range f.Repos {
		names = append(names, r.Name)
	}
	if want := []string{".GIT", ".git"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}
