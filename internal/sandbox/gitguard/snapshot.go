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
	NamedFile               // what git runs or obeys because its configuration names it
	// Unseen names or holds more than is looked for, such as an index with too many
	// submodules, or too many new folders. It cannot be restored: the user is told. For
	// more than can be remembered of what was found, see Snapshot.Full.
	Unseen
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
	hidden  bool // it cannot be looked at any more: the rest is what was seen before
	lost    bool // an entry of git that leads where nothing is looked at
	inode   stamp
	rights  fs.FileMode // of a folder; they are put back, and not compared
	why     string      // what names it; "" if it counts wherever it is
}

// equal compares a state with a later one. What can be seen again is compared by what it
// is.
func (s state) equal(t state) bool {
	return (s.hidden || !t.hidden) && s.lost == t.lost && s.mode == t.mode && s.size == t.size && s.link == t.link && s.whole == t.whole && s.unread == t.unread && s.crowded == t.crowded &&
		s.sum == t.sum && bytes.Equal(s.content, t.content) && (!s.unread || s.inode == t.inode)
}

// Snapshot is what git and tools obeyed below a folder at one time. It is not changed
// once it is made.
type Snapshot struct {
	Found Found
	// Full says that more was found than can be remembered: what is not in the snapshot
	// may have been there.
	Full   bool
	states map[string]state // by absolute path
	locked map[string]state // folders that the user may not look into
	naming naming
	// remotes are those of all snapshots before, by the folder of their repository.
	remotes map[string]*remotes
	watch   *watch // nil: folders are looked at by their stamps
}

// Take reads everything below a folder that git or the user's tools would run or obey,
// with its content. It reads the same of a repository outside that a worktree in the
// folder belongs to.
//
// What the user's own configuration of git names is not known here: see [User.Take].
func Take(dir string) (Snapshot, error) { return User{}.Take(dir) }

// Watch is Take for a snapshot that others follow: until Close the kernel tells what
// changes, if it does that here. Far more folders are looked at then. The snapshots that
// follow each other are for one goroutine at a time.
func (u User) Watch(dir string) (Snapshot, error) {
	w := newWatch(dir)
	s, err := take(dir, Snapshot{watch: w, naming: naming{user: u}}, true)
	if err != nil {
		s.watch = w
		s.Close()
	}
	return s, err
}

// Close ends the watching, for all snapshots that follow each other.
func (s Snapshot) Close() {
	if s.watch != nil {
		s.watch.close()
	}
}

// Partial reports whether Next would look at folders that were not looked at yet.
func (s Snapshot) Partial() bool { return s.watch != nil && len(s.watch.pending) > 0 }

// Again takes a new snapshot of the same folder. It reads only folders again that
// changed, and all files: their times prove nothing while a program has one mapped. What
// this snapshot holds is looked at by its path, however much there is now.
func (s Snapshot) Again() (Snapshot, error) { return take(s.Found.Root, s, false) }

// Next is Again while nothing runs: what is there is the user's doing. It goes on with
// folders that were too many to be looked at at once.
func (s Snapshot) Next() (Snapshot, error) { return take(s.Found.Root, s, true) }

// Reopen gives the user back the rights in the folder itself that a program took away. Call
// it while no program of the session runs, when Again says that it is not permitted.
func (s Snapshot) Reopen() error {
	info, err := os.Lstat(s.Found.Root)
	if err != nil {
		return err
	}
	return chmod(s.Found.Root, info.Mode()|0o700)
}

func take(dir string, before Snapshot, quiet bool) (Snapshot, error) {
	r, err := openRoot(dir)
	if err != nil {
		return Snapshot{}, fmt.Errorf("look at what git obeys: %w", err)
	}
	defer r.Close()
	w := before.watch
	if w != nil {
		w.update(r, quiet)
	}
	s := Snapshot{Found: find(r, dir, before.Found, w), watch: w}
	s.read(r, before, maxStates-len(before.states))
	if gone := len(before.states) - s.kept(before); s.Full && gone > 0 { // they have left room
		s.read(r, before, maxStates-len(before.states)+gone)
	}
	s.remotes = s.see(r, before)
	return s, nil
}

// read reads all that was found. room is how many states may be added to those before,
// which are looked at however many they are.
func (s *Snapshot) read(root *os.Root, before Snapshot, room int) {
	s.states, s.locked, s.Full = map[string]state{}, map[string]state{}, false
	r := reader{Root: root, root: s.Found.Root, states: s.states, before: before.states, left: new(int64(maxHashed)), room: &room, locked: s.locked, full: &s.Full}
	for _, rel := range s.Found.closed {
		r.lock(rel)
	}
	for _, repo := range s.Found.Repos { // first, as there may be more files of tools than there is room for
		if repo.Form != Bare {
			r.entry(repo)
		}
	}
	done := map[string]bool{}
	for _, git := range s.Found.gits {
		if !done[git.path] {
			done[git.path] = true
			r.outside(git)
		}
	}
	for _, tool := range s.Found.Tools {
		r.tree(tool, ToolFile, new(maxInTree))
	}
	r.remembered()
	for at, sum := range s.Found.unknown {
		s.states[at] = unseen(at, sum)
	}
	if s.watch != nil && s.watch.full {
		s.states[s.Found.Root] = unseen(s.Found.Root, nil)
	}
	s.name(r, before.naming)
}

// kept counts what is still there of a snapshot before.
func (s Snapshot) kept(before Snapshot) (n int) {
	for at := range before.states {
		if _, ok := s.states[at]; ok {
			n++
		}
	}
	return n
}

func unseen(at string, sum []byte) state {
	return state{root: filepath.Dir(at), rel: filepath.Base(at), class: Unseen, content: sum}
}

// entry reads git's entry of a folder.
func (r reader) entry(repo Repo) {
	at := path.Join(repo.Dir, repo.Name)
	if _, ok := r.put(at, GitFolder); ok && repo.Git == "" {
		key := filepath.Join(r.root, at)
		s := r.states[key]
		s.lost = true
		r.states[key] = s
	}
}

// remembered looks at what was there before and was not listed now.
func (r reader) remembered() {
	outside := map[string]*os.Root{r.root: r.Root}
	for at, was := range r.before {
		if _, ok := r.states[at]; ok || was.class == Unseen || was.why != "" { // name reads those
			continue
		}
		dir, ok := outside[was.root]
		if !ok {
			var err error
			if dir, err = openRoot(was.root); gone(err) {
				continue
			}
			outside[was.root] = dir
		}
		if dir == nil {
			was.hidden = true
			r.states[at] = was
			continue
		}
		in := r
		in.Root, in.root, in.prefix = dir, was.root, "."
		in.put(was.rel, was.class)
	}
	for at, dir := range outside {
		if dir != nil && at != r.root {
			dir.Close()
		}
	}
}

// outside reads a git folder, which may be outside of the root.
func (r reader) outside(of gitFolder) {
	root, prefix := of.path, "."
	var git *os.Root
	var err error
	if of.outside {
		git, err = openRoot(root)
	} else {
		rel, bad := filepath.Rel(r.root, of.path)
		if bad != nil || !filepath.IsLocal(rel) {
			return
		}
		root, prefix = r.root, filepath.ToSlash(rel)
		git, err = r.OpenRoot(prefix) // each step less in a path saves a system call
	}
	if err != nil {
		if of.outside {
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
	before map[string]state // of the snapshot before: they are kept whatever the bounds say
	left   *int64           // bytes that may still be read
	room   *int             // states that may still be added
	locked map[string]state
	full   *bool  // something was not looked at
	why    string // what names all that is read, if it counts only for that
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
	for _, tree := range r.folders(path.Join(git, "worktrees")) {
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
	for _, name := range r.folders(dir) {
		at := path.Join(dir, name)
		if r.exists(path.Join(at, "HEAD")) || r.exists(path.Join(at, "config")) {
			r.repository(at, depth+1)
			continue
		}
		r.modules(at, depth+1)
	}
}

// folders lists the folders in a folder. A link leads to another one that git takes for it.
func (r reader) folders(dir string) (names []string) {
	for _, name := range r.entries(dir) {
		info, err := r.Lstat(path.Join(dir, name))
		switch {
		case err != nil:
		case info.IsDir():
			names = append(names, name)
		case info.Mode()&fs.ModeSymlink != 0:
			r.put(path.Join(dir, name), GitFolder)
		}
	}
	return names
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

// put reads what is at a path, if anything is. What was there before and cannot be looked
// at stays as it was.
func (r reader) put(at string, class Class) (fs.FileMode, bool) {
	key := filepath.Join(r.root, r.prefix, at)
	if s, ok := r.states[key]; ok {
		return s.mode, true
	}
	was, known := r.before[key]
	info, err := r.Lstat(at)
	if errors.Is(err, fs.ErrPermission) {
		r.lock(path.Dir(at))
	}
	if err != nil {
		if known && !gone(err) {
			was.hidden = true
			r.states[key] = was
		}
		return 0, false
	}
	if !known {
		if *r.room--; *r.room < 0 {
			*r.full = true
			return 0, false
		}
	}
	s := state{root: r.root, rel: path.Join(r.prefix, at), class: class, mode: info.Mode(), inode: identity(info), why: r.why}
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
	r.states[key] = s
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

// Holds reports whether what is at a path is compared, with everything in it. Of a folder
// such as .git only some files are.
func (s Snapshot) Holds(path string) bool {
	at, ok := s.states[path]
	return ok && (at.class != GitFolder || !at.mode.IsDir()) || s.watches(path)
}
