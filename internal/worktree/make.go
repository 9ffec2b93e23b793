package worktree

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes/internal/git"
	"hermes/internal/text"
)

// Ask says which worktree to make.
type Ask struct {
	// Dir is the folder that it is made for: sessions begin in the same one of the worktree.
	Dir string
	// Name is the wanted name; "" makes one. It is made fit for a folder and a branch.
	Name string
	// Sync lets it begin from the remote branch that the current one follows, if that is ahead.
	Sync bool
	// Again makes a removed one again, at its path and from its last commit.
	Again *Record
}

// Made is a new worktree.
type Made struct {
	Record
	// Notes tell the user what it began from and what was copied or left out.
	Notes []string
}

// ErrNoRepository means that a folder is in no repository.
var ErrNoRepository = errors.New("not in a Git repository; begin one with `git init`, or work without a worktree")

// Make makes a worktree. When it returns, either all of it is there or nothing.
func (k *Keeper) Make(ctx context.Context, a Ask) (Made, error) {
	dir, err := filepath.EvalSymlinks(a.Dir)
	if err != nil {
		return Made{}, err
	}
	main, err := mainOf(dir)
	if err != nil {
		return Made{}, err
	}
	lock, err := k.alone(ctx, main)
	if err != nil {
		return Made{}, err
	}
	defer lock.Release()
	m := &maker{keeper: k, ask: a, dir: dir, top: git.Root(dir)}
	m.Main = main
	var done func()
	m.git, done = k.Read(dir)
	defer done()
	if err := m.plan(ctx); err != nil {
		return Made{}, err
	}
	if err := m.folder(ctx); err != nil {
		return Made{}, err
	}
	if err := k.save(m.Record); err != nil { // before anything is made, so that it is found
		return Made{}, err
	}
	if err := os.Mkdir(m.Path, 0o777); err != nil { // it is somebody else's
		return Made{}, errors.Join(err, k.forget(m.Record))
	}
	if err := m.make(ctx); err != nil {
		return Made{}, errors.Join(err, k.unmake(context.WithoutCancel(ctx), m.Record))
	}
	return m.Made, nil
}

// mainOf returns the top folder of the repository itself that a folder is in, also from a
// worktree.
func mainOf(dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	top := git.Root(dir)
	if top == "" {
		_, head := os.Stat(filepath.Join(dir, "HEAD"))
		if _, objects := os.Stat(filepath.Join(dir, "objects")); head == nil && objects == nil {
			return "", fmt.Errorf("%s is a bare repository, which has no files to work on; clone it, or start in a worktree of it with --in", dir)
		}
		return "", fmt.Errorf("%s is %w", dir, ErrNoRepository)
	}
	info, err := os.Lstat(filepath.Join(top, ".git"))
	if err != nil || info.IsDir() {
		return top, err
	}
	if l, ok := git.LinkedAt(top); ok {
		return l.Main, nil
	}
	return "", fmt.Errorf("%s is a submodule, or its repository is bare or cannot be found; make a worktree with `git worktree add`, and start there with --in", top)
}

// maker makes one worktree.
type maker struct {
	Made
	keeper   *Keeper
	ask      Ask
	dir, top string
	git      git.Repository
}

func (m *maker) note(format string, args ...any) {
	m.Notes = append(m.Notes, fmt.Sprintf(format, args...))
}

// plan decides name, branch and commit.
func (m *maker) plan(ctx context.Context) error {
	if _, err := m.git.Run(ctx, "rev-parse", "--git-dir"); err != nil { // such as one that belongs to somebody else
		return fmt.Errorf("git cannot use the repository %s: %s", m.top, text.OneLine(text.Visible(err.Error()), 200))
	}
	head, err := m.commit(ctx, "HEAD")
	if err != nil {
		return fmt.Errorf("%s has no commit yet, so that a worktree of it would be empty; make the first commit, or work without a worktree", m.top)
	}
	rel, err := filepath.Rel(m.top, m.dir)
	if err != nil {
		return err
	}
	if below(rel, folderName) { // it has no worktrees of its own
		rel = "."
	}
	if again := m.ask.Again; again != nil {
		m.Name, m.Base, m.Branch = again.Name, again.Tip, again.Branch
		if rel, err = filepath.Rel(again.Path, again.Start); err != nil {
			return err
		}
	} else {
		if m.Base = head; m.ask.Sync {
			m.sync(ctx, head)
		}
		if m.Name = clean(m.ask.Name); m.Name == "" {
			m.Name = m.keeper.Now().Format("0102-1504-") + random()
		}
		m.Branch = "hermes/" + m.Name
		if _, err := m.commit(ctx, "refs/heads/hermes"); err == nil { // a branch cannot be a folder of others
			m.Branch = "hermes-" + m.Name
		}
	}
	m.Path = filepath.Join(m.Main, folderName, m.Name)
	m.Start = filepath.Join(m.Path, rel)
	m.State, m.Made.Made = Making, m.keeper.Now().UTC()
	if _, err := os.Lstat(m.Path); err == nil {
		return fmt.Errorf("there is a worktree %q already, %s; choose another name, or remove it with `hermes worktree remove %s`", m.Name, m.Path, m.Name)
	}
	at, err := m.commit(ctx, "refs/heads/"+m.Branch)
	if m.OldBranch = err == nil && m.ask.Again != nil && at == m.Base; err == nil && !m.OldBranch {
		return fmt.Errorf("there is a branch %s already; choose another name", m.Branch)
	}
	return nil
}

func (m *maker) commit(ctx context.Context, ref string) (string, error) {
	out, err := m.git.Run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	return strings.TrimSpace(out), err
}

// sync lets the worktree begin from the remote branch that the current one follows. Commits that are not
// there stay the beginning.
func (m *maker) sync(ctx context.Context, head string) {
	branch, err := m.git.Run(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	if branch = strings.TrimSpace(branch); err != nil || branch == "" {
		return // no branch, such as in a rebase
	}
	remote, err := m.git.Run(ctx, "config", "--get", "branch."+branch+".remote")
	merge, err2 := m.git.Run(ctx, "config", "--get", "branch."+branch+".merge")
	remote, merge = strings.TrimSpace(remote), strings.TrimPrefix(strings.TrimSpace(merge), "refs/heads/")
	if err != nil || err2 != nil || remote == "" || remote == "." || merge == "" {
		return // it follows none
	}
	if err := m.git.Fetch(ctx, remote, merge); err != nil {
		m.note("Could not get %s from %s (%s); the worktree begins from the local commit.", text.VisibleName(merge), text.VisibleName(remote), text.OneLine(text.Visible(err.Error()), 200))
		return
	}
	there, err := m.commit(ctx, "refs/remotes/"+remote+"/"+merge)
	if err != nil || there == head {
		return
	}
	if _, err := m.git.Run(ctx, "merge-base", "--is-ancestor", head, there); err != nil {
		m.note("%s has commits that %s/%s does not have; the worktree begins from the local commit.", text.VisibleName(branch), text.VisibleName(remote), text.VisibleName(merge))
		return
	}
	m.Base = there
	m.note("The worktree begins from %s/%s, which is ahead of %s.", text.VisibleName(remote), text.VisibleName(merge), text.VisibleName(branch))
}

// make makes what was planned.
func (m *maker) make(ctx context.Context) error {
	write, done := m.keeper.Write(m.Main)
	defer done()
	filters, err := write.Filters(ctx)
	if err != nil {
		return err
	}
	args := []string{"worktree", "add", "--quiet", "--no-track", "-b", m.Branch, "--", m.Path, m.Base}
	if m.OldBranch {
		args = []string{"worktree", "add", "--quiet", "--", m.Path, m.Branch}
	}
	if _, err := write.Change(ctx, args...); err != nil {
		return fmt.Errorf("make the worktree %s: %w", m.Path, err)
	}
	l, ok := git.LinkedAt(m.Path)
	if !ok {
		return fmt.Errorf("make the worktree %s: git made something else there", m.Path)
	}
	m.Own = l.Own
	if len(filters) > 0 && usesFilters(m.Path) {
		m.note("Filters were not run, so files of Git LFS and the like are as git stores them; run `git lfs pull` there if they are needed.")
	}
	if err := m.include(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(m.Start, 0o777); err != nil { // one that git does not know
		m.Start = m.Path
	}
	ready := m.Record
	ready.State = Ready
	if err := m.keeper.save(ready); err != nil {
		return err // as one that is being made, it is removed
	}
	m.Record = ready
	return nil
}

// folder makes the folder of all worktrees, which ignores itself.
func (m *maker) folder(ctx context.Context) error {
	at := filepath.Join(m.Main, folderName)
	if err := os.Mkdir(at, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := os.Lstat(at); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a folder of its own, so no worktree is made there; rename it", at)
	}
	ignore := filepath.Join(at, ".gitignore")
	f, err := os.OpenFile(ignore, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		g := m.git
		g.Dir = m.Main
		if _, err := g.Run(ctx, "check-ignore", "--quiet", "--", m.Path); err != nil {
			return fmt.Errorf("git does not ignore %s, so the worktree would be committed with the repository; add the line * to %s", m.Path, ignore)
		}
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("# Worktrees of Hermes.\n*\n")
	if err = errors.Join(err, f.Close()); err != nil { // half of it would refuse every later worktree
		err = errors.Join(err, os.Remove(ignore))
	}
	return err
}

// usesFilters reports whether the top folder of a worktree names filters.
func usesFilters(top string) bool {
	src, err := os.ReadFile(filepath.Join(top, ".gitattributes"))
	return err == nil && strings.Contains(string(src), "filter=")
}

// clean makes a name fit for a folder and a branch.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name)
	for _, twice := range []string{"--", ".."} {
		for strings.Contains(name, twice) {
			name = strings.ReplaceAll(name, twice, twice[:1])
		}
	}
	name = strings.Trim(name[:min(len(name), 50)], "-_.")
	for strings.HasSuffix(name, ".lock") { // no branch ends so
		name = strings.TrimRight(strings.TrimSuffix(name, ".lock"), "-_.")
	}
	return name
}

func random() string {
	var tail [3]byte
	_, _ = rand.Read(tail[:]) // never fails, by its contract
	return hex.EncodeToString(tail[:])
}
