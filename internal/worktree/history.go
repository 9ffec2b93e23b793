package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"hermes/internal/text"
)

// maxLeft bounds how many commits that were left are looked for.
const maxLeft = 1000

// left finds commits that were left without a branch, by a checkout or a reset: only the history of the worktree knows them.
// Those that an amended commit or a rebase replaced are none.
func (l *looker) left(ctx context.Context) error {
	out, err := l.record.run(ctx, l.git, "log", "-g", "--no-show-signature", "--format=%H %gs", "HEAD", "--")
	if err != nil {
		return err
	}
	var old []string
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, line := range lines[:max(len(lines)-1, 0)] {
		_, what, _ := strings.Cut(line, " ")
		before, _, _ := strings.Cut(lines[i+1], " ")
		if (strings.HasPrefix(what, "checkout:") || strings.HasPrefix(what, "reset:")) && !slices.Contains(old, before) {
			old = append(old, before)
		}
	}
	if len(old) > maxLeft {
		return errors.New("its history is too long")
	}
	if len(old) == 0 {
		return nil
	}
	out, err = l.record.run(ctx, l.git, slices.Concat([]string{"rev-list", "--count", "--ignore-missing"}, old, []string{"--not", "HEAD", "--branches", "--remotes", "--tags"})...)
	if n := strings.TrimSpace(out); err == nil && n != "0" {
		l.lost("commits that no branch has any more: %s", n)
	}
	return err
}

// own finds references that go with the worktree.
func (l *looker) own(ctx context.Context) error {
	out, err := l.record.run(ctx, l.git, "for-each-ref", "--format=%(refname)", "refs/worktree")
	if names := strings.Fields(out); len(names) > 0 {
		l.lost("references of its own: %s", some(names))
	}
	return err
}

// seeing are the settings of git that let it see each change, whatever those of the repository hide.
func (l *looker) seeing() []string {
	see := []string{"-c", "core.checkStat=default", "-c", "core.trustctime=true"}
	// Where even this file can be executed, the disk has no such modes.
	if info, err := os.Stat(filepath.Join(l.record.Own, "gitdir")); err == nil && info.Mode()&0o111 == 0 && runtime.GOOS != "windows" {
		see = append(see, "-c", "core.fileMode=true")
	}
	return see
}

// lookGone returns what would be lost with git's folder of a worktree whose own folder is gone, perhaps
// because the user moved it. Its branch stays.
func (k *Keeper) lookGone(ctx context.Context, r Record) []string {
	l := &looker{record: r}
	to, err := os.ReadFile(filepath.Join(r.Own, "gitdir"))
	if err != nil || strings.TrimSpace(string(to)) != filepath.Join(r.Path, ".git") {
		return nil // it went with the folder, or knows where that is
	}
	var done func()
	l.git, done = k.Read(r.Main)
	defer done()
	_ = l.locked(ctx) // never fails
	out, err := l.git.Run(ctx, "--git-dir="+r.Own, "rev-list", "--count", "HEAD", "--not", "--branches", "--remotes", "--tags")
	const moved = "its folder is gone; if you moved it, run `git worktree repair` in it"
	if err != nil {
		l.lost(unseen+"%s; "+moved, text.OneLine(text.Visible(err.Error()), 200))
		return l.found
	}
	if n := strings.TrimSpace(out); n != "0" {
		l.lost("commits that no branch has: %s", n)
	}
	if len(l.found) > 0 {
		l.lost(moved)
	}
	return l.found
}
