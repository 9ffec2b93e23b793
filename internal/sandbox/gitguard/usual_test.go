package gitguard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUsualChangesAreThoseThatMakeNothingRun: what git writes for worktrees and submodules
// is usual, and the same files with anything else are not.
func TestUsualChangesAreThoseThatMakeNothingRun(t *testing.T) {
	t.Parallel()
	const modules = "[submodule \"lib\"]\n\tpath = lib\n\turl = https://example.org/lib.git\n"
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		path   string
		usual  bool
	}{
		"a worktree":               {files(".git/worktrees/n/commondir", "../..\n", ".git/worktrees/n/gitdir", "DIR/n/.git\n"), ".git/worktrees/n/commondir", true},
		"its way back":             {files(".git/worktrees/n/commondir", "../..\n", ".git/worktrees/n/gitdir", "DIR/n/.git\n"), ".git/worktrees/n/gitdir", true},
		"a way out":                {files(".git/worktrees/n/gitdir", "/elsewhere/.git\n"), ".git/worktrees/n/gitdir", false},
		"a way to a file":          {files(".git/worktrees/n/gitdir", "DIR/n/config\n"), ".git/worktrees/n/gitdir", false},
		"another repository":       {files(".git/worktrees/n/commondir", "../../../evil\n"), ".git/worktrees/n/commondir", false},
		"a longer way":             {files(".git/worktrees/n/commondir", "../..\n\n"), ".git/worktrees/n/commondir", false},
		"a changed one":            {files(".git/worktrees/w/commondir", "/evil\n"), ".git/worktrees/w/commondir", false},
		"of the repository itself": {files(".git/commondir", "../..\n"), ".git/commondir", false},
		"a link": {func(t *testing.T, dir string) {
			must(t, os.MkdirAll(dir+"/.git/worktrees/n", 0o755))
			must(t, os.Symlink(dir+"/src", dir+"/.git/worktrees/n/commondir"))
		}, ".git/worktrees/n/commondir", false},
		"a removed worktree": {func(t *testing.T, dir string) { must(t, os.RemoveAll(dir+"/.git/worktrees/w")) }, ".git/worktrees/w/commondir", true},
		"a removed file":     {func(t *testing.T, dir string) { must(t, os.Remove(dir+"/.git/worktrees/w/commondir")) }, ".git/worktrees/w/commondir", false},
		"a submodule":        {files(".gitmodules", modules), ".gitmodules", true},
		"a way out of it":    {files(".gitmodules", "[submodule \"lib\"]\n\tpath = ../lib\n"), ".gitmodules", false},
		"an option":          {files(".gitmodules", "[submodule \"lib\"]\n\tpath = -lib\n"), ".gitmodules", false},
		"a program":          {files(".gitmodules", modules+"\tupdate = !evil\n"), ".gitmodules", false},
		"a program as url":   {files(".gitmodules", "[submodule \"lib\"]\n\tpath = lib\n\turl = ext::evil\n"), ".gitmodules", false},
		"other settings":     {files(".gitmodules", modules+"[user]\n\tname = x\n"), ".gitmodules", false},
		"no settings":        {files(".gitmodules", "evil"), ".gitmodules", false},
		"a link for it":      {func(t *testing.T, dir string) { must(t, os.Symlink("src/deep/main.go", dir+"/.gitmodules")) }, ".gitmodules", false},
		"a hook":             {files(".git/hooks/post-merge", "../..\n"), ".git/hooks/post-merge", false},
		"a tool's file":      {files(".vscode/settings.json", modules), ".vscode/settings.json", false},
	} {
		dir := mustFolder(t)
		before := mustTake(t, dir)
		c.change(t, dir)
		now, err := before.Again()
		must(t, err)
		found := false
		for _, change := range now.Compare(before) {
			if change.Path == filepath.Join(dir, c.path) {
				found = true
				if got := change.Usual(); got != c.usual {
					t.Errorf("%s: usual is %v", name, got)
				}
			}
		}
		if !found {
			t.Errorf("%s: there is no change of %s", name, c.path)
		}
	}
}

// files writes names and texts; DIR/ in a text is the folder.
func files(list ...string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		for i := 0; i < len(list); i += 2 {
			write(t, filepath.Join(dir, list[i]), strings.ReplaceAll(list[i+1], "DIR/", dir+"/"))
		}
	}
}

// TestALinkInPlaceOfSettingsIsSuspicious: what it leads to can change later.
func TestALinkInPlaceOfSettingsIsSuspicious(t *testing.T) {
	t.Parallel()
	dir := mustFolder(t)
	write(t, dir+"/.git/config", "[core]\n\tbare = false\n")
	before := mustTake(t, dir)
	must(t, os.Remove(dir+"/.git/config"))
	must(t, os.Symlink("../src/deep/main.go", dir+"/.git/config"))
	now, err := before.Again()
	must(t, err)
	for _, c := range now.Compare(before) {
		if _, bad := c.Judge(); len(bad) == 0 {
			t.Errorf("%s: nothing is suspicious", c.Path)
		}
	}
}
