package gitguard_test

import (
	"errors"
	"fmt"
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

// named is a folder with a repository, in a home with a configuration of git.
type named struct {
	home, dir string
	user      gitguard.User
}

func mustNamed(t testing.TB, repository, global string) named {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	n := named{home: home, dir: filepath.Join(home, "project")}
	write(t, n.dir+"/.git/HEAD", "ref: refs/heads/main\n")
	write(t, n.dir+"/.git/config", config+repository)
	write(t, home+"/.gitconfig", "[user]\n\tname = U\n"+global)
	n.user = gitguard.User{Home: home, Files: []string{home + "/.gitconfig"}}
	return n
}

func (n named) mustTake(t testing.TB) gitguard.Snapshot {
	t.Helper()
	s, err := n.user.Take(n.dir)
	must(t, err)
	return s
}

// TestWhatTheConfigurationNamesIsRestored: a file that the configuration names, as a program
// or as more configuration, comes back as it was, and one that was not there is removed.
func TestWhatTheConfigurationNamesIsRestored(t *testing.T) {
	t.Parallel()
	const evil = "[core]\n\tfsmonitor = evil\n"
	for _, c := range []struct{ repository, global, file, why string }{
		{"[core]\nhooksPath = .githooks\n", "", ".githooks/pre-commit", "git runs it, because core.hooksPath names it"},
		{"[core]\nhooksPath = .githooks\n", "", ".githooks/lib/common.sh", "git runs it, because core.hooksPath names it"},
		{"", "[core]\nhooksPath = .githooks\n", ".githooks/pre-commit", "git runs it, because core.hooksPath names it"},
		{"", "[core]\nhooksPath = myhooks\n", ".git/myhooks/update", "git runs it, because core.hooksPath names it"},
		{"", "[core]\nhooksPath = ~/project/my hooks\n", "my hooks/pre-push", "git runs it, because core.hooksPath names it"},
		{"[core]\nhooksPath = .\n", "", "pre-commit", "git runs it, because core.hooksPath names it"},
		{"[core]\nhooksPath = .git\n", "", ".git/pre-commit", "git runs it, because core.hooksPath names it"},
		{"[include]\npath = ../.gitconfig\n", "", ".gitconfig", "git obeys it, because include.path names it"},
		{"[includeIf \"gitdir:/nowhere/\"]\npath = ../conf/x\n", "", "conf/x", "git obeys it, because includeIf.gitdir:/nowhere/.path names it"},
		{"", "[include]\npath = ~/project/conf\n", "conf", "git obeys it, because include.path names it"},
		{"[core]\nattributesFile = attributes\n", "", "attributes", "git obeys it, because core.attributesFile names it"},
		{"[core]\nfsmonitor = ./watch\n", "", "watch", "git runs it, because core.fsmonitor names it"},
		{"[core]\nfsmonitor = .git/watch\n", "", ".git/watch", "git runs it, because core.fsmonitor names it"},
		{"[core]\nsshCommand = ssh -F ./ssh/config\n", "", "ssh/config", "git runs it, because core.sshCommand names it"},
		{"[core]\neditor = 'tools/ed' -w\npager = x\n", "", "tools/ed", "git runs it, because core.editor names it"},
		{"[pager]\nlog = DIR/tools/pager -R\n", "", "tools/pager", "git runs it, because pager.log names it"},
		{"[filter \"x\"]\nclean = ./tools/clean.sh %f\n", "", "tools/clean.sh", "git runs it, because filter.x.clean names it"},
		{"[filter \"x\"]\nprocess = sh -c 'exec tools/p.sh'\n", "", "tools/p.sh", "git runs it, because filter.x.process names it"},
		{"[diff \"x\"]\ntextconv = ../project/tools/t\n", "", "tools/t", "git runs it, because diff.x.textconv names it"},
		{"[merge \"x\"]\ndriver = tools/m %O %A %B\n", "", "tools/m", "git runs it, because merge.x.driver names it"},
		{"[mergetool \"x\"]\ncmd = tools/m \\\"$LOCAL\\\"\n", "", "tools/m", "git runs it, because mergetool.x.cmd names it"},
		{"[gpg \"ssh\"]\nprogram = tools/gpg\n", "", "tools/gpg", "git runs it, because gpg.ssh.program names it"},
		{"[credential]\nhelper = \"!f() { ./tools/c \\\"$@\\\"; }; f\"\n", "", "tools/c", "git runs it, because credential.helper names it"},
		{"[sequence]\neditor = ./tools/s\n", "", "tools/s", "git runs it, because sequence.editor names it"},
		{"[alias]\nx = !./x.sh\n", "", "x.sh", "git runs it, because alias.x names it"},
		{"", "[alias]\nx = \"!$(git rev-parse --show-toplevel)/tools/x.sh\"\n", "tools/x.sh", "git runs it, because alias.x names it"},
		{"", "[alias]\nx = !\\\"$PWD\\\"/tools/x.sh\ny = !$ROOT/tools/y.sh\n", "tools/x.sh", "git runs it, because alias.x names it"},
		{"", "[alias]\nx = -c core.fsmonitor=./tools/f status\n", "tools/f", "git runs it, because alias.x names it"},
		{"", "[alias]\nx = !$HOME/project/x.sh\n", "x.sh", "git runs it, because alias.x names it"},
		{"[trailer \"x\"]\ncmd = tools/t\n", "", "tools/t", "git runs it, because trailer.x.cmd names it"},
		{"[hook \"x\"]\ncommand = tools/t\n", "", "tools/t", "git runs it, because hook.x.command names it"},
		{"[submodule \"x\"]\nupdate = !tools/t\n", "", "tools/t", "git runs it, because submodule.x.update names it"},
		{"", "[init]\ntemplateDir = ~/project/template\n", "template/hooks/pre-commit", "git runs it, because init.templateDir names it"},
		{"[core]\neditor = DIR/my tools/ed\n", "", "my tools/ed", "git runs it, because core.editor names it"},
	} {
		for _, there := range []bool{true, false} {
			n := mustNamed(t, "", c.global)
			write(t, n.dir+"/.git/config", config+strings.ReplaceAll(c.repository, "DIR", n.dir))
			at := filepath.Join(n.dir, c.file)
			if there {
				write(t, at, "[user]\n\tname = before\n")
			}
			before := n.mustTake(t)
			write(t, at, evil)
			changes, err := restoreAll(before)
			i := slices.IndexFunc(changes, func(c gitguard.Change) bool { return c.Path == at })
			if i < 0 || err != nil || changes[i].Why != c.why {
				t.Errorf("%s%s: %s was there: %v: changes %+v, %v", c.repository, c.global, c.file, there, changes, err)
				continue
			}
			text, err := os.ReadFile(at)
			if there && string(text) != "[user]\n\tname = before\n" || !there && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s%s: %s was there: %v, and is %q, %v", c.repository, c.global, c.file, there, text, err)
			}
		}
	}
}

// TestWhatNothingNamesIsLeftAlone: words that are no paths, and files that are only read as
// texts, are ordinary files.
func TestWhatNothingNamesIsLeftAlone(t *testing.T) {
	t.Parallel()
	n := mustNamed(t, "[filter \"lfs\"]\nprocess = git-lfs filter-process\nclean = git-lfs clean -- %f\n[alias]\nt = !make test\nb = !go build ./src\n[blame]\nignoreRevsFile = ./ignored\n",
		"[core]\nhooksPath = ~/hooks\nexcludesFile = ~/project/excludes\n[commit]\ntemplate = .github/commit.txt\n[core]\npager = less\n")
	write(t, n.home+"/hooks/pre-commit", "the user's")
	before := n.mustTake(t)
	for _, file := range []string{"git-lfs", "make", "test", "src/main.go", "ignored", "excludes", ".github/commit.txt", "less", "filter-process"} {
		write(t, filepath.Join(n.dir, file), "x")
	}
	write(t, n.home+"/hooks/pre-commit", "changed by the user")
	for _, c := range mustAgain(t, before).Compare(before) {
		t.Errorf("%s %s: %s", c.Path, c.Event, c.Why)
	}
	if list, unread := before.Named(); len(unread) > 0 || slices.ContainsFunc(list, func(n gitguard.Named) bool { return strings.HasSuffix(n.Path, "/src") }) && len(list) > 4 {
		t.Errorf("%v, %v", list, unread)
	}
}

// TestAnIncludedFileIsJudgedAsConfiguration: what is harmless in it stays.
func TestAnIncludedFileIsJudgedAsConfiguration(t *testing.T) {
	t.Parallel()
	n := mustNamed(t, "[include]\npath = ../.gitconfig\n", "")
	write(t, n.dir+"/.gitconfig", "[core]\n\teditor = ed\n")
	before := n.mustTake(t)
	write(t, n.dir+"/.gitconfig", "[core]\n\teditor = ed\n\tpager = evil\n[user]\n\tname = X\n")
	for _, c := range mustAgain(t, before).Compare(before) {
		undone, err := gitguard.KeepHarmless(c)
		if c.Class != gitguard.GitConfig || err != nil || len(undone) != 1 {
			t.Errorf("%v %v %v", c.Class, undone, err)
		}
	}
	if text, _ := os.ReadFile(n.dir + "/.gitconfig"); strings.Contains(string(text), "evil") || !strings.Contains(string(text), "name = X") || !strings.Contains(string(text), "editor = ed") {
		t.Errorf("%s", text)
	}
}

// TestASettingOfACommandNamesNothing: it is undone, and what it named is not touched.
func TestASettingOfACommandNamesNothing(t *testing.T) {
	t.Parallel()
	n := mustNamed(t, "", "")
	write(t, n.dir+"/src/main.go", "work")
	before := n.mustTake(t)
	write(t, n.dir+"/.git/config", config+"[core]\n\thooksPath = src\n\tfsmonitor = ./main.go\n")
	write(t, n.dir+"/src/new.go", "work")
	write(t, n.dir+"/main.go", "work")
	now := mustAgain(t, before)
	changes := now.Compare(before)
	if len(changes) != 1 || changes[0].Path != n.dir+"/.git/config" {
		t.Fatalf("%v", changes)
	}
	must(t, gitguard.Restore(changes[0]))
	before = now.Undo(changes)
	for range 3 {
		now = mustAgain(t, before)
		for _, c := range now.Compare(before) {
			t.Errorf("%s %s", c.Path, c.Event)
		}
		before = now
	}
	write(t, n.dir+"/src/main.go", "more work")
	if changes := mustAgain(t, before).Compare(before); len(changes) > 0 {
		t.Errorf("%v", changes)
	}
}

// TestASettingThatIsRemovedStillCounts: a program cannot change the configuration and what
// it named at once, also if the user set it after the first snapshot.
func TestASettingThatIsRemovedStillCounts(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		n := mustNamed(t, "[include]\npath = ../.gitconfig\n", "")
		write(t, n.dir+"/.githooks/pre-commit", "the user's")
		const names = "[core]\n\thooksPath = .githooks\n"
		write(t, n.dir+"/.gitconfig", names)
		if late {
			write(t, n.dir+"/.gitconfig", "")
		}
		before := n.mustTake(t)
		write(t, n.dir+"/.gitconfig", names)
		before = mustAgain(t, before)
		write(t, n.dir+"/.gitconfig", "")
		write(t, n.dir+"/.githooks/pre-commit", "evil")
		if _, err := restoreAll(before); err != nil {
			t.Error(err)
		}
		for file, want := range map[string]string{".gitconfig": names, ".githooks/pre-commit": "the user's"} {
			if text, _ := os.ReadFile(filepath.Join(n.dir, file)); string(text) != want {
				t.Errorf("late %v: %s is %q", late, file, text)
			}
		}
	}
}

// TestLinksAreFollowedToWhatRuns: a named file, or a hook, may be a link to a script.
func TestLinksAreFollowedToWhatRuns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	for name, prepare := range map[string]func(t *testing.T, n named){
		"a hook of git": func(t *testing.T, n named) {
			must(t, os.MkdirAll(n.dir+"/.git/hooks", 0o755))
			must(t, os.Symlink("../../scripts/run", n.dir+"/.git/hooks/pre-commit"))
		},
		"the hooks of git": func(t *testing.T, n named) {
			must(t, os.Symlink("../scripts", n.dir+"/.git/hooks"))
		},
		"a folder beside hooks": func(t *testing.T, n named) {
			write(t, n.dir+"/.git/config", "[core]\nhooksPath = .githooks\n")
			write(t, n.dir+"/.githooks/pre-commit", "exec .githooks/lib/run")
			must(t, os.Symlink("../scripts", n.dir+"/.githooks/lib"))
		},
		"a hook beside": func(t *testing.T, n named) {
			write(t, n.dir+"/.git/config", "[core]\nhooksPath = .githooks\n")
			must(t, os.MkdirAll(n.dir+"/.githooks", 0o755))
			must(t, os.Symlink("../scripts/run", n.dir+"/.githooks/pre-commit"))
		},
		"the folder of hooks": func(t *testing.T, n named) {
			write(t, n.dir+"/.git/config", "[core]\nhooksPath = .githooks\n")
			must(t, os.Symlink("scripts", n.dir+"/.githooks"))
		},
		"a folder on the way": func(t *testing.T, n named) {
			write(t, n.dir+"/.git/config", "[core]\nfsmonitor = tools/run\n")
			must(t, os.Symlink(n.dir+"/scripts", n.dir+"/tools"))
		},
		"a program of the home": func(t *testing.T, n named) {
			write(t, n.home+"/.gitconfig", "[core]\neditor = ~/bin/run\n")
			must(t, os.Symlink("project/scripts", n.home+"/bin"))
		},
	} {
		n := mustNamed(t, "", "")
		write(t, n.dir+"/scripts/run", "the user's")
		prepare(t, n)
		before := n.mustTake(t)
		write(t, n.dir+"/scripts/run", "evil")
		if _, err := restoreAll(before); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if text, _ := os.ReadFile(n.dir + "/scripts/run"); string(text) != "the user's" {
			t.Errorf("%s: git would run %q", name, text)
		}
		for _, link := range []string{".githooks", "tools"} {
			if _, err := os.Readlink(filepath.Join(n.dir, link)); err != nil {
				continue
			}
			must(t, os.Remove(filepath.Join(n.dir, link)))
			write(t, filepath.Join(n.dir, link, "run"), "evil")
			if _, err := restoreAll(before); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := os.Readlink(filepath.Join(n.dir, link)); err != nil {
				t.Errorf("%s: the link did not come back: %v", name, err)
			}
		}
	}
}

// TestTheUsersConfigurationMayBeInTheFolder, as that of those who keep it in a repository.
func TestTheUsersConfigurationMayBeInTheFolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	n := mustNamed(t, "", "")
	write(t, n.dir+"/gitconfig", "[include]\n\tpath = .gitlocal\n")
	must(t, os.Remove(n.home+"/.gitconfig"))
	must(t, os.Symlink("project/gitconfig", n.home+"/.gitconfig"))
	write(t, n.dir+"/local", "")
	must(t, os.Symlink("project/local", n.home+"/.gitlocal"))
	before := n.mustTake(t)
	for _, file := range []string{"gitconfig", "local"} {
		write(t, filepath.Join(n.dir, file), "[core]\n\tfsmonitor = evil\n")
	}
	changes := mustAgain(t, before).Compare(before)
	if len(changes) != 2 || changes[0].Class != gitguard.GitConfig || changes[1].Class != gitguard.GitConfig {
		t.Errorf("%+v", changes)
	}
}

// TestRepositoriesAroundTheFolderName: the folder may be a part of a repository, or a work
// tree or submodule of one that is elsewhere.
func TestRepositoriesAroundTheFolderName(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, n named) (dir string){
		"a part": func(t *testing.T, n named) string {
			write(t, n.dir+"/.git/config", "[core]\nhooksPath = part/hooks\n")
			return n.dir + "/part"
		},
		"a worktree": func(t *testing.T, n named) string {
			write(t, n.dir+"/.git/config", "[core]\nhooksPath = hooks\n")
			write(t, n.dir+"/.git/worktrees/w/commondir", "../..\n")
			write(t, n.dir+"/.git/worktrees/w/gitdir", n.home+"/w/.git\n")
			write(t, n.home+"/w/.git", "gitdir: "+n.dir+"/.git/worktrees/w\n")
			return n.home + "/w"
		},
		"a submodule": func(t *testing.T, n named) string {
			write(t, n.dir+"/.git/modules/s/config", "[core]\nhooksPath = hooks\n")
			write(t, n.dir+"/s/.git", "gitdir: ../.git/modules/s\n")
			return n.dir + "/s"
		},
		"a work tree elsewhere": func(t *testing.T, n named) string {
			write(t, n.dir+"/.git/config", "[core]\nworktree = ../../project/tree\nfsmonitor = hooks/pre-commit\n")
			return n.dir + "/tree"
		},
	} {
		n := mustNamed(t, "", "")
		dir := prepare(t, n)
		write(t, dir+"/hooks/pre-commit", "the user's")
		before, err := n.user.Take(dir)
		must(t, err)
		write(t, dir+"/hooks/pre-commit", "evil")
		if changes := mustAgain(t, before).Compare(before); len(changes) != 1 || gitguard.Restore(changes[0]) != nil {
			t.Errorf("%s: %v", name, changes)
		}
	}
}

// TestANewRepositoryWithNamedHooksIsReported, and not deleted: it may have been there before
// it was one.
func TestANewRepositoryWithNamedHooksIsReported(t *testing.T) {
	t.Parallel()
	n := mustNamed(t, "", "[core]\nhooksPath = .githooks\n")
	before := n.mustTake(t)
	write(t, n.dir+"/sub/.githooks/pre-commit", "x")
	write(t, n.dir+"/sub/.git/HEAD", "ref: refs/heads/main\n")
	now := mustAgain(t, before)
	found := false
	for _, c := range now.Compare(before) {
		if c.Path == n.dir+"/sub/.githooks" {
			found = true
			if err := gitguard.Restore(c); !errors.Is(err, gitguard.ErrKeep) || c.Why == "" {
				t.Errorf("%v, %q", err, c.Why)
			}
		}
	}
	if again := mustAgain(t, now).Compare(now); !found || len(again) > 0 {
		t.Errorf("found %v, and once more %v", found, again)
	}
}

// TestWhatCannotBeReadIsSaid: nothing is left out silently.
func TestWhatCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, n named){
		"not understood": func(t *testing.T, n named) { write(t, n.home+"/.gitconfig", "evil") },
		"too large":      func(t *testing.T, n named) { write(t, n.home+"/.gitconfig", strings.Repeat("#\n", 1<<20)) },
		"a folder": func(t *testing.T, n named) {
			must(t, os.Remove(n.home+"/.gitconfig"))
			write(t, n.home+"/.gitconfig/x", "")
		},
		"of the repository": func(t *testing.T, n named) { write(t, n.dir+"/.git/config", "evil") },
		"too many": func(t *testing.T, n named) {
			for i := range 100 {
				write(t, fmt.Sprintf("%s/%d", n.dir, i), "")
			}
			var b strings.Builder
			for i := range 100 {
				fmt.Fprintf(&b, "[include]\npath = ~/project/%d\n", i)
			}
			write(t, n.home+"/.gitconfig", b.String())
		},
	} {
		n := mustNamed(t, "", "")
		change(t, n)
		if _, unread := n.mustTake(t).Named(); len(unread) != 1 {
			t.Errorf("%s: %q", name, unread)
		}
	}
	// Files that include each other, and devices, are usual.
	n := mustNamed(t, "[include]\npath = config\npath = ../a\n", "[include]\npath = .gitconfig\npath = nothing\npath = project/nothing\npath = "+os.DevNull)
	write(t, n.dir+"/a", "[include]\npath = .git/config\n")
	if _, unread := n.mustTake(t).Named(); len(unread) != 0 {
		t.Errorf("%q", unread)
	}
}

func TestUserOf(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	xdg, own := filepath.Join(home, "x"), filepath.Join(home, "own")
	got := gitguard.UserOf(home, []string{"A=b", "XDG_CONFIG_HOME=" + xdg, "GIT_CONFIG_GLOBAL=" + own})
	want := gitguard.User{Home: home, Files: []string{filepath.Join(xdg, "git", "config"), filepath.Join(home, ".gitconfig"), own}}
	if runtime.GOOS != "windows" {
		want.Files = slices.Insert(want.Files, 0, "/etc/gitconfig")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkTakeAndCompareWithNamedHooks is BenchmarkTakeAndCompare with core.hooksPath and a
// configuration of the user.
func BenchmarkTakeAndCompareWithNamedHooks(b *testing.B) {
	dir := ordinary(b)
	home := b.TempDir()
	write(b, dir+"/.git/config", config+"[core]\n\thooksPath = .githooks\n")
	write(b, dir+"/.githooks/pre-commit", "#!/bin/sh\n")
	write(b, home+"/.gitconfig", "[user]\n\tname = U\n[alias]\n\tst = status\n\tx = !make test\n[core]\n\tpager = less\n")
	before, err := gitguard.UserOf(home, nil).Take(dir)
	must(b, err)
	time.Sleep(4 * time.Second) // what changed just now is read again
	if before, err = before.Again(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		now, err := before.Again()
		if err != nil || len(now.Compare(before)) > 0 {
			b.Fatal(err)
		}
		before = now
	}
}
