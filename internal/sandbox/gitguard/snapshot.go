package gitguard

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The bounds of a snapshot.
const (
	maxKept   = 1 << 20   // bytes of one file that are kept; of larger ones, a hash
	maxHashed = 128 << 20 // bytes of all files that are read
	maxInTree = 256       // entries of one folder, and of one tool's folder with all below
	maxStates = 4096
)

// Class says who obeys a file.
type Class int

// The classes.
const (
	GitFolder  Class = iota // git's own folder, or the file or link in its place
	GitConfig               // config and config.worktree
	GitPointer              // commondir, gitdir: where git looks for the rest
	GitHook                 // hooks, and everything beside them
	GitRemote               // the old files that name remotes
	ToolFile                // what the user's other tools run
)

// state is what was at a path.
type state struct {
	root    string
	rel     string
	class   Class
	mode    fs.FileMode // type and permissions; a folder without permissions
	size    int64
	content []byte
	sum     [sha256.Size]byte
	whole   bool // content is all of the file
	unread  bool // beyond the bound, or unreadable
	link    string
	crowded bool // a folder with more entries than are read
	inode   stamp
	rights  fs.FileMode // of a folder; they are put back, and not compared
}

func (s state) equal(t state) bool {
	return s.mode == t.mode && s.size == t.size && s.link == t.link && s.whole == t.whole && s.unread == t.unread && s.crowded == t.crowded &&
		s.sum == t.sum && bytes.Equal(s.content, t.content) && (!s.unread || s.inode == t.inode)
}

// Snapshot is what git and tools obeyed below a folder at one time. It is not changed
// once it is made.
type Snapshot struct {
	Found Found
	// Full says that there was more than the bounds allow, which was not looked at.
	Full   bool
	states map[string]state // by absolute path
	locked map[string]state // folders that the user may not look into
}

// Take reads everything below a folder that git or the user's tools would run or obey,
// with its content. It reads the same of a repository outside that a worktree in the
// folder belongs to.
func Take(dir string) (Snapshot, error) { return take(dir, nil) }

// Again takes a new snapshot of the same folder. It reads only folders again that
// changed, and all files: their times prove nothing while a program has one mapped.
func (s Snapshot) Again() (Snapshot, error) { return take(s.Found.Root, s.Found.folders) }

// Reopen gives the user back the rights in the folder itself that a program took away. Call
// it while no program of the session runs, when Again says that it is not permitted.
func (s Snapshot) Reopen() error {
	info, err := os.Lstat(s.Found.Root)
	if err != nil {
		return err
	}
	return chmod(s.Found.Root, info.Mode()|0o700)
}

func take(dir string, before map[string]folder) (s Snapshot, err error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return Snapshot{}, fmt.Errorf("look at what git obeys: %w", err)
	}
	defer r.Close()
	s = Snapshot{Found: find(r, dir, before), states: map[string]state{}, locked: map[string]state{}}
	read := reader{Root: r, root: dir, states: s.states, left: new(int64(maxHashed)), locked: s.locked, full: &s.Full}
	for rel, f := range s.Found.folders {
		if f.partial {
			read.lock(rel)
		}
	}
	for _, tool := range s.Found.Tools {
		read.tree(tool, ToolFile, new(maxInTree))
	}
	done := map[string]bool{}
	for _, repo := range s.Found.Repos {
		if repo.Form != Bare {
			read.put(path.Join(repo.Dir, repo.Name), GitFolder)
		}
		if repo.Git == "" || done[repo.Git] {
			continue
		}
		done[repo.Git] = true
		read.outside(repo)
	}
	return s, nil
}

// outside reads a repository, which may be outside of the folder.
func (r reader) outside(repo Repo) {
	root, prefix := repo.Git, "."
	if !repo.Outside {
		rel, err := filepath.Rel(r.root, repo.Git)
		if err != nil || !filepath.IsLocal(rel) {
			return
		}
		root, prefix = r.root, filepath.ToSlash(rel)
	}
	var git *os.Root
	var err error
	if repo.Outside {
		git, err = os.OpenRoot(root)
	} else {
		git, err = r.OpenRoot(prefix) // each step less in a path saves a system call
	}
	if err != nil {
		if repo.Outside {
			r.lockAs(root, ".", os.Lstat)
		} else {
			r.lock(prefix)
		}
		return
	}
	defer git.Close()
	r.Root, r.root, r.prefix = git, root, prefix
	r.repository(".", 0)
}

// reader reads states below one folder.
type reader struct {
	*os.Root
	root   string // the folder that changes are restored in
	prefix string // of what is open, below root
	states map[string]state
	left   *int64 // bytes that may still be read
	locked map[string]state
	full   *bool // something was not looked at
}

// repository reads a git folder.
func (r reader) repository(git string, depth int) {
	for _, name := range [...]string{"config", "config.worktree"} {
		r.put(path.Join(git, name), GitConfig)
	}
	for _, name := range [...]string{"commondir", "gitdir"} {
		r.put(path.Join(git, name), GitPointer)
	}
	r.tree(path.Join(git, "hooks"), GitHook, new(maxInTree))
	r.tree(path.Join(git, "remotes"), GitRemote, new(maxInTree))
	r.tree(path.Join(git, "branches"), GitRemote, new(maxInTree))
	r.modules(path.Join(git, "modules"), depth)
	for _, tree := range r.entries(path.Join(git, "worktrees")) {
		for _, name := range [...]string{"commondir", "gitdir"} {
			r.put(path.Join(git, "worktrees", tree, name), GitPointer)
		}
		r.put(path.Join(git, "worktrees", tree, "config.worktree"), GitConfig)
	}
}

// modules reads the git folders of submodules. Their names may hold slashes.
func (r reader) modules(dir string, depth int) {
	if depth > maxDepth {
		*r.full = *r.full || r.exists(dir)
		return
	}
	for _, name := range r.entries(dir) {
		at := path.Join(dir, name)
		if info, err := r.Lstat(at); err != nil || !info.IsDir() {
			if err == nil && info.Mode()&fs.ModeSymlink != 0 {
				r.put(at, GitFolder)
			}
			continue
		}
		if r.exists(path.Join(at, "HEAD")) || r.exists(path.Join(at, "config")) {
			r.repository(at, depth+1)
			continue
		}
		r.modules(at, depth+1)
	}
}

func (r reader) exists(at string) bool {
	_, err := r.Lstat(at)
	return err == nil
}

// entries lists the names in a folder, up to a bound.
func (r reader) entries(dir string) []string {
	info, err := r.Lstat(dir)
	if err != nil {
		return nil
	}
	if !info.IsDir() {
		r.put(dir, GitFolder)
		return nil
	}
	f, err := r.Open(dir)
	if err != nil {
		r.lock(dir)
		return nil
	}
	defer f.Close()
	list, _ := f.Readdirnames(maxInTree + 1)
	if len(list) > maxInTree {
		*r.full = true
		list = list[:maxInTree]
	}
	slices.Sort(list)
	return list
}

// tree reads a file, or a folder with what is below it.
func (r reader) tree(at string, class Class, left *int) {
	mode, ok := r.put(at, class)
	if !ok || !mode.IsDir() {
		return
	}
	f, err := r.Open(at)
	if err != nil {
		r.lock(at)
		return
	}
	list, _ := f.Readdirnames(*left + 1) // asks for no types, put does
	f.Close()
	if len(list) > *left {
		r.crowd(at)
		list = nil // which ones are listed first may differ each time
	}
	*left -= len(list)
	for _, name := range list {
		// git does not run samples, and each repository has a dozen.
		if class == GitHook && strings.HasSuffix(name, ".sample") {
			continue
		}
		r.tree(path.Join(at, name), class, left)
	}
}

// crowd marks a folder as too full to be read.
func (r reader) crowd(at string) {
	key := filepath.Join(r.root, r.prefix, at)
	s := r.states[key]
	s.crowded = true
	r.states[key] = s
}

// lock remembers a folder that the user may not look into, or one above it.
func (r reader) lock(at string) {
	if _, err := r.Lstat(at); errors.Is(err, fs.ErrPermission) && at != "." {
		r.lock(path.Dir(at))
		return
	}
	r.lockAs(r.root, path.Join(r.prefix, at), func(string) (fs.FileInfo, error) { return r.Lstat(at) })
}

// lockAs is lock for one folder. One of somebody else is not the work of a program of the
// user.
func (r reader) lockAs(root, rel string, lstat func(string) (fs.FileInfo, error)) {
	info, err := lstat(filepath.Join(root, rel))
	if err == nil && info.IsDir() && closed(info, 0o500) && own(info) && os.Geteuid() != 0 {
		r.locked[filepath.Join(root, rel)] = state{root: root, rel: rel, class: GitFolder, mode: fs.ModeDir, inode: identity(info)}
	}
}

// put reads what is at a path, if anything is.
func (r reader) put(at string, class Class) (fs.FileMode, bool) {
	info, err := r.Lstat(at)
	if errors.Is(err, fs.ErrPermission) {
		r.lock(path.Dir(at))
	}
	if err != nil || len(r.states) >= maxStates {
		*r.full = *r.full || err == nil
		return 0, false
	}
	s := state{root: r.root, rel: path.Join(r.prefix, at), class: class, mode: info.Mode(), inode: identity(info)}
	switch {
	case info.IsDir():
		s.mode, s.rights = fs.ModeDir, bits(s.mode)
	case info.Mode()&fs.ModeSymlink != 0:
		s.link, _ = r.Readlink(at)
	case info.Mode().IsRegular():
		s.size = info.Size()
		if err := r.read(&s, at, info); err != nil {
			s.unread = true
		}
	}
	r.states[filepath.Join(r.root, r.prefix, at)] = s
	return s.mode, true
}

var errSwapped = errors.New("the file was replaced while it was read")

// read fills in the content of a file, or the hash of a large one. A pipe that takes
// the file's place is not waited for, and a link is not followed.
func (r reader) read(s *state, at string, info fs.FileInfo) error {
	f, err := r.OpenFile(at, os.O_RDONLY|waitless, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(now, info) || !now.Mode().IsRegular() {
		return errSwapped
	}
	if s.size > *r.left {
		*r.full = true
		return errors.New("too much to read")
	}
	if s.size <= maxKept {
		s.content = make([]byte, s.size)
		n, err := io.ReadFull(f, s.content)
		s.content, s.whole = s.content[:n], err == nil
		*r.left -= int64(n)
		return nil
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, s.size))
	*r.left -= n
	h.Sum(s.sum[:0])
	return err
}
