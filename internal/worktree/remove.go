package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/internal/git"
)

// LossError says that something would be lost.
type LossError struct {
	Record Record
	Lost   []string
}

func (e *LossError) Error() string {
	return fmt.Sprintf("the worktree %s is kept: %s", e.Record.Path, strings.Join(e.Lost, "; "))
}

// Gone is a worktree that was removed.
type Gone struct {
	Record
	// Kept is the branch that stays, because it has commits of its own; "" if it was deleted, or
	// was none.
	Kept string
	// Lost is what was in the worktree, if it was forced.
	Lost []string
}

// Remove removes a worktree, and its branch if another one has all of its commits. If
// something would be lost, the error is a LossError, unless it is forced: then uncommitted
// files go, and the branch stays. uses names what works in the folder, beside what the package sees itself.
func (k *Keeper) Remove(ctx context.Context, r Record, force bool, uses ...string) (Gone, error) {
	lock, err := k.alone(ctx, r.Main)
	if err != nil {
		return Gone{}, err
	}
	defer lock.Release()
	path, tried := r.Path, r.State == Removing
	if r, err = k.read(k.file(path)); err == nil && tried && r.State == Removed { // just now
		return Gone{Record: r}, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Gone{}, fmt.Errorf("its record %s cannot be read: %w; if it is damaged, delete that file and run `git worktree remove %s`", filepath.Join(k.Folder, k.file(path)), err, path)
	}
	if err != nil || r.State != Ready && r.State != Removing { // another process was first
		return Gone{}, ErrUnknown
	}
	g := Gone{Record: r}
	if r.State == Removing { // it was tried before this
		return g, k.finish(ctx, &g)
	}
	if _, err := os.Lstat(r.Path); errors.Is(err, os.ErrNotExist) { // by the user
		if g.Lost = k.lookGone(ctx, r); len(g.Lost) > 0 && !force {
			return g, &LossError{r, g.Lost}
		}
		read, done := k.Read(r.Main)
		defer done()
		if g.Tip, err = tipOf(ctx, read, r); err != nil {
			return g, err
		}
		if g.Tip != "" {
			g.Kept = r.Branch
		}
		return g, errors.Join(removeOwn(r), k.removed(&g))
	}
	lost := k.Look(ctx, r)
	if g.Lost = lost; len(uses)+len(lost) > 0 && !force {
		return g, &LossError{r, slices.Concat(uses, lost)}
	}
	read, done := k.Read(r.Main)
	defer done()
	if g.Tip, err = tip(ctx, read, r); err != nil && !force {
		return g, &LossError{r, []string{"its last commit cannot be found"}}
	}
	if ctx.Err() != nil { // what is there was not seen, whatever is forced
		return g, context.Cause(ctx)
	}
	g.State, g.Forced = Removing, len(lost) > 0
	if err := k.save(g.Record); err != nil { // so that it is finished after a crash
		return g, err
	}
	if err := k.aside(r); err != nil {
		r.State = Ready
		return Gone{Record: r}, errors.Join(fmt.Errorf("remove the worktree %s: %w", r.Path, err), k.save(r))
	}
	return g, k.finish(ctx, &g)
}

// asideName is the name of a worktree's folder while that is removed. No worktree has such a name.
func asideName(r Record) string { return ".removing-" + r.Name }

// aside gives the folder of a worktree another name in one step: from then on its path leads no one into it,
// and a removal that was cut off is told from one that never began.
func (k *Keeper) aside(r Record) error {
	root, err := folderOf(r.Main, folderName)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.RemoveAll(asideName(r)); err != nil { // of one before it
		return err
	}
	return root.Rename(r.Name, asideName(r))
}

// again goes on with a removal that was cut off. One that had not begun is given up: somebody may
// work there since.
func (k *Keeper) again(ctx context.Context, r Record) error {
	_, err := os.Lstat(filepath.Join(filepath.Dir(r.Path), asideName(r)))
	_, there := os.Lstat(r.Path)
	if errors.Is(err, os.ErrNotExist) && there == nil {
		r.State, r.Forced = Ready, false
		return k.save(r)
	}
	return k.finish(ctx, &Gone{Record: r})
}

// finish removes the files of a worktree, git's folder of it, and its branch if other ones have all of its
// commits. The files are removed as files, which starts no program and follows no link.
func (k *Keeper) finish(ctx context.Context, g *Gone) error {
	if err := errors.Join(removeBelow(g.Main, asideName(g.Record), folderName), removeOwn(g.Record)); err != nil {
		return fmt.Errorf("remove the worktree %s: %w", g.Path, err)
	}
	read, done := k.Read(g.Main)
	defer done()
	at, err := tipOf(ctx, read, g.Record)
	if err != nil {
		return err
	}
	if at != "" {
		if g.Kept = g.Branch; contained(ctx, read, g.Branch) && !checkedOut(ctx, read, g.Branch) && k.deleteBranch(ctx, g.Record, at) == nil {
			g.Kept = ""
		}
	}
	if ctx.Err() != nil { // else a branch that git could not delete stays for good
		return context.Cause(ctx)
	}
	return k.removed(g)
}

func (k *Keeper) removed(g *Gone) error {
	g.State, g.Removed = Removed, k.Now().UTC()
	return k.save(g.Record)
}

// deleteBranch deletes the branch of a worktree if it is at a commit.
func (k *Keeper) deleteBranch(ctx context.Context, r Record, at string) error {
	write, done := k.Write(r.Main)
	defer done()
	_, err := write.Change(ctx, "update-ref", "-d", "refs/heads/"+r.Branch, at)
	return err
}

// contained reports whether other branches have all commits of one.
func contained(ctx context.Context, g git.Repository, branch string) bool {
	not, err := others(ctx, g, branch)
	if err != nil {
		return false
	}
	out, err := g.Run(ctx, slices.Concat([]string{"rev-list", "--count", "refs/heads/" + branch}, not)...)
	return err == nil && strings.TrimSpace(out) == "0"
}

// others are the arguments of rev-list that leave out what branches other than one have. Another name of that branch is not another one.
func others(ctx context.Context, g git.Repository, branch string) ([]string, error) {
	names, err := g.Run(ctx, "for-each-ref", "--format=%(symref) %(refname)", "refs/heads")
	if err != nil {
		return nil, err
	}
	args := []string{"--not", "--exclude=" + branch}
	for name := range strings.Lines(names) {
		if alias, ok := strings.CutPrefix(strings.TrimSpace(name), "refs/heads/"+branch+" refs/heads/"); ok {
			args = append(args, "--exclude="+alias)
		}
	}
	return append(args, "--branches", "--remotes", "--tags"), nil
}

// checkedOut reports whether a folder is on a branch, or it cannot be found out.
func checkedOut(ctx context.Context, g git.Repository, branch string) bool {
	out, err := g.Run(ctx, "worktree", "list", "--porcelain")
	return err != nil || slices.Contains(strings.Split(out, "\n"), "branch refs/heads/"+branch)
}

func tip(ctx context.Context, g git.Repository, r Record) (string, error) {
	out, err := r.run(ctx, g, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	return strings.TrimSpace(out), err
}

// tipOf returns the last commit of the branch of a worktree, "" if there is no such branch or no repository any more.
func tipOf(ctx context.Context, g git.Repository, r Record) (string, error) {
	if _, err := os.Lstat(filepath.Join(r.Main, ".git")); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	out, err := g.Run(ctx, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/"+r.Branch)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("look for the branch %s of a worktree: %w", r.Branch, err)
	}
	for line := range strings.Lines(out) { // also those below its name
		if at, ok := strings.CutPrefix(strings.TrimSpace(line), "refs/heads/"+r.Branch+" "); ok {
			return at, nil
		}
	}
	return "", nil
}

// unmake removes a worktree whose making was cut off, with its branch. Nothing has worked in it. The
// files are removed as files: git may not know of them yet.
func (k *Keeper) unmake(ctx context.Context, r Record) error {
	if r.State != Making || r.Path == "" {
		return nil
	}
	if err := removeBelow(r.Main, r.Name, folderName); err != nil {
		return fmt.Errorf("clean up the worktree %s, which was not finished: %w", r.Path, err)
	}
	if err := removeOwn(r); err != nil {
		return fmt.Errorf("clean up the worktree %s, which was not finished: %w", r.Path, err)
	}
	// A git that was killed with its maker leaves this, and no other one has to do with the branch.
	if heads, err := os.OpenRoot(filepath.Join(r.Main, ".git", "refs", "heads")); err == nil && !r.OldBranch {
		_ = heads.Remove(r.Branch + ".lock") // else deleting the branch says so
		_ = heads.Close()
	}
	read, done := k.Read(r.Main)
	defer done()
	at, err := tipOf(ctx, read, r)
	if err != nil {
		return err
	}
	if at != "" && at == r.Base && !r.OldBranch {
		if err := k.deleteBranch(ctx, r, r.Base); err != nil {
			return fmt.Errorf("clean up the branch %s of a worktree that was not finished: %w", r.Branch, err)
		}
	}
	if err := k.forget(r); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// removeOwn removes git's folder of a worktree that is not there any more.
func removeOwn(r Record) error {
	trees := filepath.Join(r.Main, ".git", "worktrees")
	entries, err := os.ReadDir(trees)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	for _, e := range entries {
		to, err := os.ReadFile(filepath.Join(trees, e.Name(), "gitdir"))
		if err == nil && strings.TrimSpace(string(to)) == filepath.Join(r.Path, ".git") {
			if err := removeBelow(r.Main, e.Name(), ".git", "worktrees"); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeBelow removes an entry of a folder below a top folder with all that is in it, and follows no link, also
// not instead of the folder.
func removeBelow(top, name string, folder ...string) error {
	root, err := folderOf(top, folder...)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	for range 40 { // a git whose Hermes was killed may write there until it ends
		if err = root.RemoveAll(name); err == nil || errors.Is(err, os.ErrPermission) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// folderOf opens a folder below a top folder, if none of its parts is a link.
func folderOf(top string, folder ...string) (*os.Root, error) {
	root, err := os.OpenRoot(top)
	for _, name := range folder {
		if err != nil {
			return nil, err
		}
		in := root
		defer in.Close()
		info, err2 := in.Lstat(name)
		if err2 != nil {
			return nil, err2
		}
		if root, err = in.OpenRoot(name); err != nil {
			return nil, err
		}
		if now, err := root.Stat("."); err != nil || !os.SameFile(info, now) {
			return nil, errors.Join(err, root.Close(), fmt.Errorf("%s is a link; nothing is removed through it", filepath.Join(in.Name(), name)))
		}
	}
	return root, err
}
