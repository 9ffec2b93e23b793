// Package worktree makes Git worktrees for sessions, says what would be lost with one, and
// removes those that hold nothing.
//
// A worktree is the folder .worktrees/NAME in its repository, on the new branch hermes/NAME.
// Inside of the repository it is on the same disk, belongs to the same user, is found by
// who looks for it, and is behind the same walls; the file .worktrees/.gitignore keeps it
// out of git, searches and snapshots of the repository, and nothing below .git is edited for
// that. What the package knows of its worktrees is in a folder of the caller's: commands in a
// worktree can write all of the repository, but not that.
//
// Git runs as in package git: no program of the settings of a repository starts. The package
// does not know what a session is. Start at Keeper; look.go says what would be lost.
package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/git"
	"hermes/internal/order"
)

// State is what is known of a worktree.
type State string

// The states.
const (
	Making   State = "making" // its maker works, or was killed; nothing uses it
	Ready    State = "ready"
	Removing State = "removing"
	Removed  State = "removed"
)

// Record is one worktree as its maker knows it.
type Record struct {
	Path   string `json:"path"`  // its top folder, absolute, links followed
	Start  string `json:"start"` // the folder in it where sessions begin
	Main   string `json:"main"`  // the top folder of the repository
	Own    string `json:"own"`   // git's folder of the worktree; "" while it is made
	Name   string `json:"name"`
	Branch string `json:"branch"`
	// OldBranch says that the branch was there before.
	OldBranch bool `json:"old_branch,omitempty"`
	// Base is the commit that it began from, and Tip the one that it was at when it was removed.
	Base    string    `json:"base"`
	Tip     string    `json:"tip,omitempty"`
	State   State     `json:"state"`
	Made    time.Time `json:"made"`
	Removed time.Time `json:"removed,omitzero"`
	Forced  bool      `json:"forced,omitempty"` // it was removed with what was in it
	// Copied are the ignored files that were copied into it, with the SHA-256 of their content in hex.
	Copied map[string]string `json:"copied,omitempty"`
}

// Keeper makes, lists and removes worktrees. It may be used concurrently, also by several
// processes.
type Keeper struct {
	// Folder is where the records are kept.
	Folder string
	Now    func() time.Time
	// Read returns git that only reads in a folder, and Write one that also changes the
	// repository with a top folder. done is called when it is used no more.
	Read  func(dir string) (r git.Repository, done func())
	Write func(top string) (r git.Repository, done func())
}

// ErrUnknown means that there is no such worktree.
var ErrUnknown = errors.New("there is no such worktree; list them with `hermes worktree list`")

const (
	// folderName is that of the folder with the worktrees, in their repository.
	folderName = ".worktrees"
	// lockWait is how long a change waits for another one in the same repository.
	lockWait = time.Minute
	// keepRemoved is how long it is remembered what became of a worktree.
	keepRemoved = 180 * 24 * time.Hour
	maxRecord   = 4 << 20 // bytes
)

// Records returns all that is known, the newest first. Those that cannot be read are left out.
func (k *Keeper) Records() ([]Record, error) {
	entries, err := os.ReadDir(k.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Record
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		if r, err := k.read(e.Name()); err == nil {
			all = append(all, r)
		}
	}
	order.By(all, func(a, b Record) int { return b.Made.Compare(a.Made) })
	return all, err
}

// Of returns the worktree that a folder is or is in. It need not exist any more. Of one that exists and whose record
// cannot be read it returns where it is, as Ready; Remove then says why.
func (k *Keeper) Of(dir string) (Record, bool) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	all, _ := k.Records() // what cannot be read is looked for below
	i := slices.IndexFunc(all, func(r Record) bool { return below(dir, r.Path) })
	if i >= 0 {
		return all[i], true
	}
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		trees := filepath.Dir(at)
		if filepath.Base(trees) != folderName {
			continue
		}
		_, there := os.Lstat(at)
		if _, err := os.Lstat(filepath.Join(k.Folder, k.file(at))); there == nil && !errors.Is(err, fs.ErrNotExist) {
			return Record{Path: at, Start: dir, Main: filepath.Dir(trees), Name: filepath.Base(at), State: Ready}, true
		}
	}
	return Record{}, false
}

// Named returns the worktree with a name in the repository of a folder. The path of a worktree
// is a name everywhere.
func (k *Keeper) Named(dir, name string) (Record, error) {
	all, err := k.Records()
	if err != nil {
		return Record{}, err
	}
	main, _ := mainOf(dir)
	for _, r := range all {
		if (r.State == Ready || r.State == Removing) && (r.Path == name || r.Main == main && (r.Name == name || r.Branch == name)) {
			return r, nil
		}
	}
	return Record{}, fmt.Errorf("%q: %w", name, ErrUnknown)
}

func (k *Keeper) file(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:12]) + ".json"
}

func (k *Keeper) read(name string) (r Record, err error) {
	info, err := os.Lstat(filepath.Join(k.Folder, name))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRecord {
		return r, errors.Join(err, errors.New("it is no record"))
	}
	src, err := os.ReadFile(filepath.Join(k.Folder, name))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(src, &r); err != nil {
		return r, err
	}
	if !filepath.IsAbs(r.Path) || k.file(r.Path) != name || filepath.Dir(r.Path) != filepath.Join(r.Main, folderName) || filepath.Base(r.Path) != r.Name {
		return r, errors.New("it is no record of a worktree")
	}
	return r, nil
}

func (k *Keeper) save(r Record) error {
	out, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(k.Folder, 0o700); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(k.Folder, k.file(r.Path)), append(out, '\n'), atomicfile.Options{})
}

func (k *Keeper) forget(r Record) error {
	return os.Remove(filepath.Join(k.Folder, k.file(r.Path)))
}

// alone waits until nothing else changes worktrees of a repository, and cleans up what was cut
// off there.
func (k *Keeper) alone(ctx context.Context, main string) (*atomicfile.Lock, error) {
	if err := os.MkdirAll(k.Folder, 0o700); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(main))
	lock, err := atomicfile.Acquire(ctx, filepath.Join(k.Folder, "repository-"+hex.EncodeToString(sum[:12])), "hermes worktree", lockWait)
	if err != nil {
		return nil, err
	}
	all, err := k.Records()
	for _, r := range all {
		if r.Main == main && r.State == Making { // whoever made it would have the lock
			err = errors.Join(err, k.unmake(ctx, r))
		}
		if r.State == Removing && r.Main == main {
			_ = k.again(ctx, r) // else the next one tries; what cannot be removed must not stop all others
		}
		if r.State == Removed && k.Now().Sub(r.Removed) > keepRemoved {
			_ = k.forget(r) // else it is known a little longer
		}
	}
	if err != nil {
		_ = lock.Release() // the first error says what went wrong
		return nil, err
	}
	return lock, nil
}

// below reports whether a path is a folder or in it.
func below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// run runs git in the worktree, whatever its file .git says by now.
func (r Record) run(ctx context.Context, g git.Repository, args ...string) (string, error) {
	out, err := g.Run(ctx, slices.Concat([]string{"--git-dir=" + r.Own, "--work-tree=" + r.Path}, args)...)
	if err == nil && len(out) >= git.MaxOutput {
		return "", errors.New("git says too much")
	}
	return out, err
}

// fields returns the parts of an output that ends each with NUL.
func fields(out string) []string {
	if out == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
}
