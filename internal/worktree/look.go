package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/git"
	"hermes/internal/text"
)

// unseen begins what is listed as a loss because it could not be looked at.
const unseen = "it cannot be looked at: "

// Look returns what would be lost with a worktree, in words for the user; nothing if all of it
// is somewhere else. What cannot be found out counts as a loss.
func (k *Keeper) Look(ctx context.Context, r Record) []string {
	l := &looker{record: r}
	if here, ok := git.LinkedAt(r.Path); !ok || here.Own != r.Own {
		return []string{"its file .git does not lead to its repository any more"}
	}
	g, done := k.Read(r.Main)
	defer done()
	var err error
	if l.git, err = g.Unfiltered(ctx); err != nil {
		return []string{unseen + text.OneLine(text.Visible(err.Error()), 200)}
	}
	for _, look := range []func(context.Context) error{l.locked, l.files, l.index, l.commits, l.left, l.own, l.stashes} {
		if err := look(ctx); err != nil {
			l.lost(unseen+"%s", text.OneLine(text.Visible(err.Error()), 200))
		}
	}
	return l.found
}

// looker finds what would be lost.
type looker struct {
	record Record
	git    git.Repository
	found  []string
}

func (l *looker) lost(format string, args ...any) {
	l.found = append(l.found, fmt.Sprintf(format, args...))
}

// unfinished are the files in git's folder of a worktree that say that something is going on, or that
// something is only there.
var unfinished = [...]struct{ name, is string }{
	{"rebase-merge", "a rebase is not finished"}, {"rebase-apply", "a rebase or git am is not finished"}, {"MERGE_HEAD", "a merge is not finished"},
	{"CHERRY_PICK_HEAD", "a cherry-pick is not finished"}, {"REVERT_HEAD", "a revert is not finished"}, {"BISECT_LOG", "a bisection is not finished"},
	{"sequencer", "a cherry-pick or revert is not finished"}, {"modules", "a submodule was cloned in it"},
}

func (l *looker) locked(context.Context) error {
	if why, err := os.ReadFile(filepath.Join(l.record.Own, "locked")); err == nil {
		l.lost("it is locked%s", reason(string(why)))
	}
	for _, u := range unfinished {
		if _, err := os.Lstat(filepath.Join(l.record.Own, u.name)); err == nil {
			l.lost("%s", u.is)
		}
	}
	return nil
}

func reason(why string) string {
	if why = strings.TrimSpace(why); why == "" {
		return ""
	}
	return " (" + text.OneLine(text.Visible(why), 100) + ")"
}

// files finds changed files, new ones, and ignored ones that are neither copies nor can be made again.
func (l *looker) files(ctx context.Context) error {
	out, err := l.record.run(ctx, l.git, slices.Concat(l.seeing(), []string{"status", "--porcelain=v1", "-z", "--ignore-submodules=dirty", "--untracked-files=normal", "--ignored=traditional"})...)
	if err != nil {
		return err
	}
	var changed, untracked, ignored []string
	list := fields(out)
	for i := 0; i < len(list); i++ {
		if len(list[i]) < 4 {
			return errors.New("git said something that is not understood")
		}
		mark, name := list[i][:2], list[i][3:]
		switch mark {
		case "??":
			untracked = append(untracked, name)
		case "!!":
			if !l.again(name) {
				ignored = append(ignored, name)
			}
		default:
			changed = append(changed, name)
		}
		if strings.ContainsAny(mark, "RC") {
			i++ // the name before
		}
	}
	l.named("uncommitted change", "uncommitted changes", changed)
	l.named("new file", "new files", untracked)
	l.named("ignored file or folder", "ignored files and folders", ignored)
	return nil
}

func (l *looker) named(one, more string, names []string) {
	if len(names) > 0 {
		l.lost("%s: %s", text.Plural(len(names), one, more), some(names))
	}
}

// maxIgnored bounds how many files of an ignored folder are looked at.
const maxIgnored = 20_000

// again reports whether an ignored file or folder holds only unchanged copies and what tools make again.
func (l *looker) again(name string) bool {
	root, err := os.OpenRoot(l.record.Path)
	if err != nil {
		return false
	}
	defer root.Close()
	left := maxIgnored
	err = fs.WalkDir(root.FS(), strings.TrimSuffix(name, "/"), func(at string, e fs.DirEntry, err error) error {
		if left--; err != nil || left < 0 {
			return errors.Join(err, errKept)
		}
		switch {
		case e.IsDir() && made(root, at):
			return fs.SkipDir
		case e.IsDir():
			if _, err := root.Lstat(path.Join(at, ".git")); err == nil {
				return errKept // a repository
			}
			return nil
		case !l.copied(root, at):
			return errKept
		}
		return nil
	})
	return err == nil
}

// errKept ends a walk: something must be kept.
var errKept = errors.New("it holds something")

// copied reports whether a file is the unchanged copy of one that the repository still has.
func (l *looker) copied(root *os.Root, at string) bool {
	want, ok := l.record.Copied[at]
	if !ok {
		return false
	}
	info, err := root.Lstat(at)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCopiedFile {
		return false
	}
	f, err := root.Open(at)
	if err != nil {
		return false
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return err == nil && hex.EncodeToString(sum.Sum(nil)) == want
}

// made reports whether a folder is one that tools fill again: by its name, or because it says so
// with the file CACHEDIR.TAG.
func made(root *os.Root, at string) bool {
	if slices.Contains([]string{"node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"}, path.Base(at)) {
		return true
	}
	f, err := root.Open(path.Join(at, "CACHEDIR.TAG"))
	if err != nil {
		return false
	}
	defer f.Close()
	const tag = "Signature: 8a477f597d28d172789f06886806bc55"
	head := make([]byte, len(tag))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == tag
}

// index finds files whose changes git is told not to look at, and submodules with files.
func (l *looker) index(ctx context.Context) error {
	out, err := l.record.run(ctx, l.git, "ls-files", "-v", "-s", "-z")
	if err != nil {
		return err
	}
	var unseen, modules []string
	for _, entry := range fields(out) {
		head, name, ok := strings.Cut(entry, "\t")
		if !ok || len(head) < 3 {
			return errors.New("git said something that is not understood")
		}
		at := filepath.Join(l.record.Path, filepath.FromSlash(name))
		if strings.HasPrefix(head[2:], "160000") {
			if list, err := os.ReadDir(at); len(list) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
				modules = append(modules, name)
			}
			continue
		}
		if tag := head[0]; tag == 'S' || tag >= 'a' && tag <= 'z' { // skip-worktree, assume-unchanged
			if _, err := os.Lstat(at); err == nil {
				unseen = append(unseen, name)
			}
		}
	}
	l.named("file that git is told not to compare", "files that git is told not to compare", unseen)
	l.named("submodule with files", "submodules with files", modules)
	return nil
}

// commits finds commits that no other branch, tag or remote has.
func (l *looker) commits(ctx context.Context) error {
	tips := []string{"HEAD"}
	if _, err := l.record.run(ctx, l.git, "rev-parse", "--verify", "--quiet", "refs/heads/"+l.record.Branch); err == nil {
		tips = append(tips, "refs/heads/"+l.record.Branch)
	}
	not, err := others(ctx, l.git, l.record.Branch)
	if err != nil {
		return err
	}
	out, err := l.record.run(ctx, l.git, slices.Concat([]string{"rev-list", "--count"}, tips, not)...)
	if err != nil {
		return err
	}
	if n := strings.TrimSpace(out); n != "0" {
		l.lost("commits that no other branch has: %s", n)
	}
	return nil
}

// stashes finds what was stashed on the branch.
func (l *looker) stashes(ctx context.Context) error {
	if _, err := l.record.run(ctx, l.git, "rev-parse", "--verify", "--quiet", "refs/stash"); err != nil {
		return nil
	}
	out, err := l.record.run(ctx, l.git, "log", "-g", "--no-show-signature", "--format=%gs", "refs/stash", "--")
	if err != nil {
		return err
	}
	if strings.Contains(strings.ToLower(out), "on "+l.record.Branch+":") {
		l.lost("something was stashed on its branch")
	}
	return nil
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
