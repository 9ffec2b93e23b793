package gitguard_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/sandbox/gitguard"
)

func write(t testing.TB, at, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const config = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.org/a.git\n"

// mustFolder makes a folder with a repository in the form that git makes, without git.
func mustFolder(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	g := filepath.Join(dir, ".git")
	write(t, g+"/HEAD", "ref: refs/heads/main\n")
	write(t, g+"/config", config)
	for _, sample := range []string{"pre-commit", "pre-push", "update", "post-update", "commit-msg"} {
		write(t, g+"/hooks/"+sample+".sample", "#!/bin/sh\n")
	}
	write(t, g+"/hooks/pre-commit", "#!/bin/sh\ntrue\n")
	must(t, os.Chmod(g+"/hooks/pre-commit", 0o755))
	write(t, g+"/modules/a/b/HEAD", "x")
	write(t, g+"/modules/a/b/config", "[core]\n\tworktree = ../../../../b\n")
	write(t, g+"/worktrees/w/commondir", "../..\n")
	write(t, g+"/worktrees/w/gitdir", "/elsewhere/.git\n")
	write(t, dir+"/.vscode/tasks.json", "{}")
	write(t, dir+"/src/deep/main.go", "package main")
	return dir
}

func mustTake(t testing.TB, dir string) gitguard.Snapshot {
	t.Helper()
	s, err := gitguard.Take(dir)
	must(t, err)
	return s
}

// mustWatch is mustTake for a snapshot that others follow.
func mustWatch(t testing.TB, dir string) gitguard.Snapshot {
	t.Helper()
	s, err := gitguard.User{}.Watch(dir)
	must(t, err)
	t.Cleanup(s.Close)
	return s
}

// ways are those to take a first snapshot.
var ways = map[string]func(testing.TB, string) gitguard.Snapshot{"taken": mustTake, "watched": mustWatch}

func mustAgain(t testing.TB, s gitguard.Snapshot) gitguard.Snapshot {
	t.Helper()
	s, err := s.Again()
	must(t, err)
	return s
}

func TestRestoreUndoesWhatAProgramChanged(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the attacks are made of links and modes")
	}
	const run = "#!/bin/sh\necho owned\n"
	for name, attack := range map[string]func(t *testing.T, dir, git string){
		"new hook":        func(t *testing.T, dir, git string) { write(t, git+"/hooks/post-checkout", run) },
		"changed hook":    func(t *testing.T, dir, git string) { write(t, git+"/hooks/pre-commit", run) },
		"mode of a hook":  func(t *testing.T, dir, git string) { must(t, os.Chmod(git+"/hooks/pre-commit", 0o644)) },
		"deleted hooks":   func(t *testing.T, dir, git string) { must(t, os.RemoveAll(git+"/hooks")) },
		"config":          func(t *testing.T, dir, git string) { write(t, git+"/config", config+"[core]\n\thooksPath = x\n") },
		"no config":       func(t *testing.T, dir, git string) { must(t, os.Remove(git+"/config")) },
		"config.worktree": func(t *testing.T, dir, git string) { write(t, git+"/config.worktree", "[core]\n\tfsmonitor = x\n") },
		"commondir":       func(t *testing.T, dir, git string) { write(t, git+"/commondir", "../evil\n") },
		"module config":   func(t *testing.T, dir, git string) { write(t, git+"/modules/a/b/config", "[core]\n\tpager = x\n") },
		"module hook":     func(t *testing.T, dir, git string) { write(t, git+"/modules/a/b/hooks/update", run) },
		"worktree":        func(t *testing.T, dir, git string) { write(t, git+"/worktrees/w/commondir", "../../../evil\n") },
		"editor":          func(t *testing.T, dir, git string) { write(t, dir+"/.vscode/settings.json", "{}") },
		"envrc":           func(t *testing.T, dir, git string) { write(t, dir+"/src/.envrc", "evil") },
		"cargo":           func(t *testing.T, dir, git string) { write(t, dir+"/.cargo/config.toml", "evil") },
		"remotes":         func(t *testing.T, dir, git string) { write(t, git+"/remotes/origin", "URL: ext::sh\n") },
		"config of 50 MB": func(t *testing.T, dir, git string) { write(t, git+"/config", strings.Repeat("#\n", 25<<20)) },
		"hook of 50 MB":   func(t *testing.T, dir, git string) { write(t, git+"/hooks/pre-push", strings.Repeat("#\n", 25<<20)) },
		"pipe for a hook": func(t *testing.T, dir, git string) { must(t, mkfifo(git+"/hooks/pre-push")) },
		"pipe for config": func(t *testing.T, dir, git string) {
			must(t, os.Remove(git+"/config"))
			must(t, mkfifo(git+"/config"))
		},
		"folder as config": func(t *testing.T, dir, git string) { must(t, os.Remove(git+"/config")); write(t, git+"/config/x", "") },
		"link for a hook":  func(t *testing.T, dir, git string) { must(t, os.Symlink("../../src/x", git+"/hooks/update")) },
		"link for hooks": func(t *testing.T, dir, git string) {
			must(t, os.Rename(git+"/hooks", dir+"/hooks2"))
			must(t, os.Symlink("../src", git+"/hooks"))
		},
		"link for git": func(t *testing.T, dir, git string) {
			must(t, os.Rename(git, dir+"/x"))
			must(t, os.Symlink("x", git))
			write(t, dir+"/x/hooks/update", run)
		},
		"git moved away": func(t *testing.T, dir, git string) {
			must(t, os.Rename(git, dir+"/x"))
			write(t, git+"/HEAD", "x")
			write(t, git+"/hooks/update", run)
		},
		"ten thousand hooks": func(t *testing.T, dir, git string) {
			for i := range 10_000 {
				must(t, os.WriteFile(filepath.Join(git, "hooks", strings.Repeat("h", 1+i%100)+string(rune('a'+i/100%26))+strings.Repeat("k", i/2600)), nil, 0o755))
			}
			for i := range 400 {
				must(t, os.WriteFile(filepath.Join(git, "hooks", "many"+strings.Repeat("i", i%200)+strings.Repeat("j", i/200)), nil, 0o755))
			}
		},
	} {
		for way, take := range ways {
			t.Run(name+" "+way, func(t *testing.T) {
				t.Parallel()
				dir := mustFolder(t)
				before := take(t, dir)
				attack(t, dir, filepath.Join(dir, ".git"))
				if changes, err := restoreAll(before); len(changes) == 0 || err != nil {
					t.Errorf("%d changes, %v", len(changes), err)
				}
				for _, c := range mustTake(t, dir).Compare(before) {
					t.Errorf("left: %s %s", c.Path, c.Event)
				}
				if text, err := os.ReadFile(dir + "/.git/hooks/pre-commit"); err != nil || string(text) != "#!/bin/sh\ntrue\n" {
					t.Errorf("%q, %v", text, err)
				}
			})
		}
	}
}

// TestASwapBeforeRestoreLeadsNowhere swaps folders for links to the outside between the
// comparison and the restoring.
func TestASwapBeforeRestoreLeadsNowhere(t *testing.T) {
	t.Parallel()
	for _, swapped := range []string{".git", ".git/hooks"} {
		dir := mustFolder(t)
		outside := filepath.Join(t.TempDir(), "outside")
		for _, name := range []string{"config", "hooks/post-checkout", "hooks/pre-commit", "post-checkout", "pre-commit"} {
			write(t, filepath.Join(outside, name), "the user's")
		}
		before := mustTake(t, dir)
		write(t, dir+"/.git/hooks/post-checkout", "evil")
		write(t, dir+"/.git/hooks/pre-commit", "evil")
		write(t, dir+"/.git/config", "evil")
		changes := mustAgain(t, before).Compare(before)
		must(t, os.Rename(filepath.Join(dir, swapped), filepath.Join(dir, "moved")))
		must(t, os.Symlink(outside, filepath.Join(dir, swapped)))
		failed := 0
		for _, c := range changes {
			if gitguard.Restore(c) != nil {
				failed++
			}
		}
		if len(changes) != 3 || failed < 2 {
			t.Errorf("%d changes, %d refused", len(changes), failed)
		}
		for _, name := range []string{"config", "hooks/post-checkout", "hooks/pre-commit", "post-checkout", "pre-commit"} {
			if text, err := os.ReadFile(filepath.Join(outside, name)); err != nil || string(text) != "the user's" {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
	}
}

// TestNothingIsReadThroughALink: what is remembered is written back later.
func TestNothingIsReadThroughALink(t *testing.T) {
	t.Parallel()
	dir := mustFolder(t)
	secret := filepath.Join(t.TempDir(), "config")
	write(t, secret, "SECRET")
	must(t, os.Remove(dir+"/.git/config"))
	must(t, os.Symlink(secret, dir+"/.git/config"))
	before := mustTake(t, dir)
	must(t, os.Remove(dir+"/.git/config"))
	for _, c := range mustAgain(t, before).Compare(before) {
		if c.Old != nil {
			t.Errorf("%s: %q", c.Path, c.Old)
		}
		must(t, gitguard.Restore(c))
	}
	if to, err := os.Readlink(dir + "/.git/config"); err != nil || to != secret {
		t.Errorf("the link was not restored: %q, %v", to, err)
	}
}

func TestALargeFileIsComparedButNotRestored(t *testing.T) {
	t.Parallel()
	dir := mustFolder(t)
	big := bytes.Repeat([]byte("# x\n"), 1<<20)
	must(t, os.WriteFile(dir+"/.git/config", big, 0o644))
	before := mustTake(t, dir)
	if changes := mustAgain(t, before).Compare(before); len(changes) > 0 {
		t.Errorf("%v", changes)
	}
	big[len(big)-3] = 'y'
	must(t, os.WriteFile(dir+"/.git/config", big, 0o644))
	changes := mustAgain(t, before).Compare(before)
	if len(changes) != 1 || !errors.Is(gitguard.Restore(changes[0]), gitguard.ErrKeep) {
		t.Errorf("%d changes", len(changes))
	}
}

func TestANewRepositoryIsReported(t *testing.T) {
	t.Parallel()
	for name, made := range map[string][]string{
		"folder":        {"src/deep/.git/HEAD", "src/deep/.git/config"},
		"another case":  {"src/deep/.GIT/HEAD", "src/deep/.GIT/config"},
		"bare":          {"src/HEAD", "src/objects/x", "src/refs/x", "src/config"},
		"bare of files": {"src/HEAD", "src/objects", "src/refs", "src/config"},
		"part of one":   {"src/HEAD", "src/commondir", "src/config"},
		"file":          {"src/.git"},
		"beside":        {"HEAD", "objects/x", "refs/x", "src/.git/HEAD"},
	} {
		dir := mustFolder(t)
		before := mustWatch(t, dir)
		for _, file := range made {
			write(t, filepath.Join(dir, file), "gitdir: ../.git/modules/a/b\n")
		}
		changes := mustAgain(t, before).Compare(before)
		i := slices.IndexFunc(changes, func(c gitguard.Change) bool {
			return c.Event == gitguard.NewRepository && (name != "beside" || strings.HasSuffix(c.Path, ".git"))
		})
		if i < 0 {
			t.Errorf("%s: not reported: %v", name, changes)
			continue
		}
		if err := gitguard.Restore(changes[i]); !errors.Is(err, gitguard.ErrKeep) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAFileThatNamesARepositoryMustBeKnownThere: a command can write a file .git that
// names any repository of the user.
func TestAFileThatNamesARepositoryMustBeKnownThere(t *testing.T) {
	t.Parallel()
	other, tree := mustFolder(t), mustFolder(t)
	must(t, os.RemoveAll(tree+"/.git"))
	target := other + "/.git/worktrees/w"
	write(t, target+"/gitdir", other+"/.git/config\n") // names a file, but not that of tree
	write(t, tree+"/.git", "gitdir: "+target+"\n")
	find := func() gitguard.Repo {
		f, err := gitguard.Find(tree)
		must(t, err)
		if len(f.Repos) != 1 {
			t.Fatal(f.Repos)
		}
		return f.Repos[0]
	}
	if got := find(); got.Git != "" {
		t.Errorf("followed: %+v", got)
	}
	write(t, target+"/gitdir", tree+"/.git\n")
	want := gitguard.Repo{Dir: ".", Name: ".git", Form: gitguard.File, Git: other + "/.git", Outside: true}
	if diff := cmp.Diff(want, find()); diff != "" {
		t.Error(diff)
	}
	before := mustTake(t, tree)
	write(t, other+"/.git/hooks/update", "evil")
	changes := mustAgain(t, before).Compare(before)
	if len(changes) != 1 || changes[0].Path != other+"/.git/hooks/update" || gitguard.Restore(changes[0]) != nil {
		t.Errorf("%v", changes)
	}
	// A folder that is a worktree of a repository that is elsewhere again.
	write(t, target+"/commondir", mustFolder(t)+"/.git\n")
	if got := find(); got.Git != "" {
		t.Errorf("followed: %+v", got)
	}
}

func TestASearchIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/node_modules/a/.git/config", "")
	write(t, dir+"/a/b/c/d/e/f/.git/config", "")
	for i := range 300 {
		write(t, filepath.Join(dir, "many", strings.Repeat("x", i+1)[:min(i+1, 200)]+string(rune('a'+i%26)), "f"), "")
	}
	f, err := gitguard.Find(dir)
	must(t, err)
	if len(f.Repos) != 0 || !slices.Contains(f.Unlooked, "node_modules") || len(f.Unlooked) != 65 {
		t.Errorf("%v, %v", f.Repos, f.Unlooked)
	}
}

func ordinary(b *testing.B) string {
	dir := mustFolder(b)
	for _, sub := range []string{"cmd/a", "cmd/b", "internal/a", "internal/b", "internal/c", "docs", "web/src/app", "web/public", "test/data"} {
		write(b, filepath.Join(dir, sub, "f"), "")
	}
	return dir
}

func BenchmarkTakeAndCompare(b *testing.B) {
	dir := ordinary(b)
	time.Sleep(4 * time.Second) // what changed just now is read again
	before := mustTake(b, dir)
	for b.Loop() {
		now, err := before.Again()
		if err != nil || len(now.Compare(before)) > 0 {
			b.Fatal(err)
		}
		before = now
	}
}

// BenchmarkFindInAProjectOf20000Files has 2,000 folders of ten files.
func BenchmarkFindInAProjectOf20000Files(b *testing.B) {
	dir := b.TempDir()
	for i := range 2000 {
		for j := range 10 {
			write(b, filepath.Join(dir, "pkg"+string(rune('a'+i%20)), "sub"+string(rune('a'+i/20%10)), string(rune('a'+i/200)), string(rune('a'+j))), "")
		}
	}
	for b.Loop() {
		if _, err := gitguard.Find(dir); err != nil {
			b.Fatal(err)
		}
	}
}

// restoreAll restores everything that changed since a snapshot. It looks again afterwards,
// as a folder that was moved back may hold more.
func restoreAll(before gitguard.Snapshot) ([]gitguard.Change, error) {
	const rounds = 6
	var all []gitguard.Change
	var errs []error
	for range rounds {
		now, err := before.Again()
		if err != nil {
			return all, err
		}
		errs = nil
		for _, c := range now.Compare(before) {
			if !slices.ContainsFunc(all, func(a gitguard.Change) bool { return a.Path == c.Path }) {
				all = append(all, c)
			}
			if err := gitguard.Restore(c); !errors.Is(err, gitguard.ErrAsBefore) {
				errs = append(errs, err)
			}
		}
		if len(errs) == 0 {
			break
		}
	}
	return all, errors.Join(errs...)
}
