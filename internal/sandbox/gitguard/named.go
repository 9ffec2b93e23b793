package gitguard

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// The bounds of what is named.
const (
	maxNamed    = 512 // paths
	maxIncluded = 64  // configuration files
	maxIncludes = 10  // files that include each other, as in git
)

// User is whose configuration of git applies to every repository.
type User struct {
	Home  string
	Files []string // configuration files, absolute; they need not exist
}

// UserOf returns the user with a home folder and variables, given as NAME=value.
func UserOf(home string, environ []string) User {
	set := map[string]string{}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		set[name] = value
	}
	xdg := filepath.Join(home, ".config")
	if dir := set["XDG_CONFIG_HOME"]; filepath.IsAbs(dir) {
		xdg = dir
	}
	u := User{Home: home}
	for _, at := range []string{"/etc/gitconfig", set["GIT_CONFIG_SYSTEM"], filepath.Join(xdg, "git", "config"), filepath.Join(home, ".gitconfig"), set["GIT_CONFIG_GLOBAL"]} {
		if filepath.IsAbs(at) && !slices.Contains(u.Files, at) {
			u.Files = append(u.Files, at)
		}
	}
	return u
}

// Take is the function Take. It also reads what the user's own configuration names.
func (u User) Take(dir string) (Snapshot, error) {
	return take(dir, Snapshot{naming: naming{user: u}}, false)
}

// Named is a path that the configuration of git names: git runs it, or obeys it.
type Named struct {
	Path  string // absolute, with links followed; it need not exist
	Key   string // the setting, as "core.hooksPath", or what else names it
	Class Class  // GitConfig or NamedFile
	// Tree says that everything in the folder counts.
	Tree bool
	// User says that it is the user's own configuration, which programs cannot change.
	User bool
}

// Why says in a few words why no program of a session may change it.
func (n Named) Why() string {
	switch {
	case n.Key == n.Path:
		return "git obeys it as the user's configuration"
	case n.Class == GitConfig || n.Key == "core.attributesFile":
		return "git obeys it, because " + n.Key + " names it"
	}
	return "git runs it, because " + n.Key + " names it"
}

func (n Named) covers(at string) bool { return at == n.Path || n.Tree && isBelow(at, n.Path) }

// naming is what the configuration names.
type naming struct {
	user  User
	taken bool
	first []Named // by the configuration at the first snapshot
	now   []Named // by that at this one
	// watched is what this snapshot looked at. What was named a moment ago counts: a
	// program may change it together with the configuration.
	watched []Named
	unread  []string
	read    map[string]mentions // by configuration file, not to be parsed again
}

// Named lists what the configuration names below the folder of the snapshot, and says what
// could not be read of it.
func (s Snapshot) Named() (list []Named, unread []string) { return s.naming.now, s.naming.unread }

// watches reports whether the snapshot would hold a path that only the configuration
// names.
func (s Snapshot) watches(at string) bool {
	return slices.ContainsFunc(s.naming.watched, func(n Named) bool { return n.covers(at) })
}

// name finds out what the configuration names, and reads it.
func (s *Snapshot) name(r reader, was naming) {
	n := namer{folder: r, home: was.user.Home, roots: map[string]reader{r.root: r}, seen: map[string]bool{}, listed: map[Named]bool{}, before: was.read, read: map[string]mentions{}}
	defer n.close()
	n.places(s.Found.Repos)
	n.repositories()
	n.user = true
	for _, at := range was.user.Files {
		n.config(at, "", n.tops, 0)
	}
	n.user = false
	n.links()
	if !was.taken {
		was.first = n.list
	}
	s.naming = naming{user: was.user, taken: true, first: was.first, now: n.list, watched: slices.Clip(n.list), unread: n.unread, read: n.read}
	for _, w := range slices.Concat(was.now, was.first) {
		if !n.listed[w] {
			n.listed[w] = true
			s.naming.watched = append(s.naming.watched, w)
			n.look(w)
		}
	}
}

// namer collects what the configuration names.
type namer struct {
	folder reader
	home   string
	roots  map[string]reader   // what programs of a session may change: the folder, and git folders outside of it
	gits   []repoAt            // repositories
	tops   []string            // where relative names lead from: their work trees and git folders
	seen   map[string]bool     // configuration files that were read, with where names in them lead from
	before map[string]mentions // what they said at the snapshot before
	read   map[string]mentions
	files  int  // that were included
	user   bool // the user's own configuration is read
	list   []Named
	listed map[Named]bool
	unread []string
}

// repoAt is a repository: its git folder, and its work tree.
type repoAt struct{ git, top string }

// places finds the repositories whose configuration applies in the folder: also the one
// that the folder is a part of.
func (n *namer) places(repos []Repo) {
	whole := false
	for _, r := range repos {
		at := repoAt{r.Git, filepath.Join(n.folder.root, filepath.FromSlash(r.Dir))}
		whole = whole || r.Dir == "."
		switch {
		case r.Git == "": // it leads out, where the user's git follows it
			at.git = leadsTo(filepath.Join(at.top, r.Name))
		case r.Outside && n.roots[r.Git].Root == nil:
			if git, err := os.OpenRoot(r.Git); err == nil {
				in := n.folder
				in.Root, in.root, in.prefix = git, r.Git, "."
				n.roots[r.Git] = in
			}
		}
		n.gits = append(n.gits, at)
	}
	for dir := n.folder.root; !whole && dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		if git := leadsTo(filepath.Join(dir, ".git")); git != "" {
			n.gits = append(n.gits, repoAt{git, dir})
			break
		}
	}
	n.tops = []string{n.folder.root} // where a repository can be made
	for _, at := range n.gits {
		n.tops = append(n.tops, at.top)
		if at.git != "" && at.git != at.top {
			n.tops = append(n.tops, at.git)
		}
	}
	n.tops = unique(n.tops)
}

// leadsTo returns the git folder that an entry .git leads to, wherever that is; "" if
// there is none.
func leadsTo(entry string) string {
	real, err := filepath.EvalSymlinks(entry)
	if err != nil {
		return ""
	}
	if info, err := os.Stat(real); err == nil && info.IsDir() {
		return real
	}
	text, _ := pointer(real)
	to, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok {
		return ""
	}
	return common(from(filepath.Dir(real), to))
}

func (n *namer) close() {
	for at, r := range n.roots {
		if at != n.folder.root {
			r.Root.Close()
		}
	}
}

// repositories reads the configuration of all repositories, from what the snapshot holds
// of them or, of those outside, from the disk.
func (n *namer) repositories() {
	var all []string
	for at, s := range n.folder.states {
		if s.class == GitConfig {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	for _, at := range all {
		n.config(at, "", n.around(at), 0)
	}
	for _, p := range n.gits {
		if _, inside := n.below(p.git); !inside && p.git != "" {
			n.config(filepath.Join(p.git, "config"), "", []string{p.top, p.git}, 0)
			n.config(filepath.Join(p.git, "config.worktree"), "", []string{p.top, p.git}, 0)
		}
	}
}

// around lists where relative names in a configuration file of a repository lead from.
func (n *namer) around(config string) (dirs []string) {
	for _, p := range n.gits {
		if p.git != "" && isBelow(config, p.git) {
			dirs = append(dirs, p.top, p.git)
		}
	}
	return dirs
}

// config reads a configuration file. key is the setting that includes it, "" if git reads
// it anyway. dirs are where relative names lead from, beside its own folder.
func (n *namer) config(at, key string, dirs []string, depth int) {
	real, below := n.real(at, cmp.Or(key, at))
	dirs = unique(dirs)
	id := real + "\n" + strings.Join(dirs, "\n")
	if real == "" || n.seen[id] {
		return
	}
	n.seen[id] = true
	if key != "" {
		n.files++
	}
	if n.files > maxIncluded || depth > maxIncludes {
		n.note("git's configuration includes too many files: not all that they name is protected")
		return
	}
	if _, held := n.folder.states[real]; below && !(held && key == "") {
		n.add(Named{Path: real, Key: cmp.Or(key, at), Class: GitConfig, User: n.user})
	}
	text, err := n.text(real, below)
	if err != nil {
		n.note(at + " cannot be read: what it names for git is not protected")
		return
	}
	w, ok := n.before[real]
	if !ok || !bytes.Equal(w.text, text) {
		if w, err = mentionsOf(text); err != nil {
			n.note(at + " is not understood as git's configuration: what it names is not protected")
			return
		}
	}
	n.read[real] = w
	for _, tree := range w.trees {
		dirs = append(dirs, from(filepath.Dir(real), tree))
	}
	for _, one := range w.list {
		n.take(one, at, dirs, depth)
	}
}

// text returns the content of a configuration file; nothing if there is none.
func (n *namer) text(real string, below bool) ([]byte, error) {
	if !below {
		return userFile(real)
	}
	s, ok := n.folder.states[real]
	if ok && s.mode.IsRegular() && !s.whole {
		return nil, errConfig
	}
	return s.content, nil
}

// userFile reads a file of the user, which may be a pipe.
func userFile(real string) ([]byte, error) {
	f, err := os.OpenFile(real, os.O_RDONLY|waitless, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > maxKept || info.IsDir() {
		return nil, errConfig
	} else if !info.Mode().IsRegular() {
		return nil, nil // as /dev/null
	}
	return io.ReadAll(io.LimitReader(f, maxKept))
}

// take takes what one setting names.
func (n *namer) take(w mention, file string, dirs []string, depth int) {
	switch w.kind {
	case namesConfig:
		for _, at := range n.resolve(w.name, []string{filepath.Dir(file)}) {
			n.config(at, w.key, dirs, depth+1)
		}
	case namesFolder:
		for _, at := range n.resolve(w.name, append(slices.Clip(dirs), filepath.Dir(file))) {
			n.tree(at, w.key)
		}
	default:
		for _, at := range n.resolve(w.name, append(slices.Clip(dirs), filepath.Dir(file))) {
			n.file(at, w.key)
		}
	}
}

// resolve returns the paths that a name in the configuration may mean.
func (n *namer) resolve(name string, dirs []string) (out []string) {
	switch {
	case name == "" || strings.ContainsRune(name, 0):
		return nil
	case strings.HasPrefix(name, "~/"):
		return []string{filepath.Join(n.home, name[2:])}
	case filepath.IsAbs(name):
		return []string{filepath.Clean(name)}
	}
	for _, dir := range dirs {
		out = append(out, filepath.Join(dir, name))
	}
	return unique(out)
}

// file takes a file that is run or obeyed.
func (n *namer) file(at, key string) {
	if real, below := n.real(at, key); below {
		n.add(Named{Path: real, Key: key, Class: NamedFile, User: n.user})
	}
}

// tree takes a folder with all in it. One that holds work trees or a git folder is a place
// for other files: of these, only hooks count.
func (n *namer) tree(at, key string) {
	real, below := n.real(at, key)
	switch {
	case !below:
	case slices.ContainsFunc(n.tops, func(top string) bool { return isBelow(top, real) }):
		for hook := range strings.FieldsSeq(hookNames) {
			n.file(filepath.Join(real, hook), key)
		}
	default:
		n.add(Named{Path: real, Key: key, Class: NamedFile, Tree: true, User: n.user})
	}
}

// add takes a path and reads what is there.
func (n *namer) add(one Named) {
	if n.listed[one] {
		return
	}
	if len(n.list) >= maxNamed {
		n.note("the configuration of git names too many files: not all are protected")
		return
	}
	n.list, n.listed[one] = append(n.list, one), true
	n.look(one)
}

func (n *namer) note(text string) {
	if !slices.Contains(n.unread, text) {
		n.unread = append(n.unread, text)
	}
}

// links takes what hooks and other named files lead to.
func (n *namer) links() {
	var all []string
	for at, s := range n.folder.states {
		if s.link != "" && (s.class == GitHook || s.class == NamedFile) {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	for _, at := range all {
		to, key := from(filepath.Dir(at), n.folder.states[at].link), "the link "+filepath.Base(at)
		inTree := slices.ContainsFunc(n.list, func(w Named) bool { return w.Tree && w.covers(at) })
		if inTree || n.folder.states[at].class == GitHook { // it may be the folder of hooks itself
			n.tree(to, key)
			continue
		}
		n.file(to, key)
	}
}

// look reads what is at a named path, unless it is read already.
func (n *namer) look(w Named) {
	root, below := n.below(w.Path)
	if _, ok := n.folder.states[w.Path]; ok || !below {
		return
	}
	r := n.roots[root]
	r.why = w.Why()
	rel := relTo(root, w.Path)
	if w.Tree {
		r.tree(rel, w.Class, new(maxInTree))
		return
	}
	if mode, _ := r.put(rel, w.Class); mode.IsDir() { // which is not what is named
		delete(r.states, w.Path)
	}
}

// below returns the folder of those that programs may change which holds a path.
func (n *namer) below(at string) (root string, ok bool) {
	for root := range n.roots { // both are clean, and this is asked often
		if rest, ok := strings.CutPrefix(at, strings.TrimSuffix(root, string(filepath.Separator))); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
			return root, true
		}
	}
	return "", false
}

// maxLinks is how many links one path may have.
const maxLinks = 40

// real follows the links of a path as far as it exists, and reports whether programs can
// change what is there. Links that they can change on the way are taken as well. It returns
// "" for a path that leads nowhere.
func (n *namer) real(at, key string) (real string, below bool) {
	if s, ok := n.folder.states[at]; ok && s.mode.IsRegular() {
		return at, true // it was read at this path
	}
	for range maxLinks {
		root, ok := n.below(at)
		if !ok {
			at = followed(at)
			root, ok = n.below(at)
		}
		if !ok {
			return at, false
		}
		link, to := firstLink(root, at)
		if link == "" {
			return at, true
		}
		n.add(Named{Path: link, Key: key, Class: NamedFile, User: n.user})
		at = filepath.Join(from(filepath.Dir(link), to), strings.TrimPrefix(at, link))
	}
	return "", false
}

// firstLink returns the first link on the way from a folder to a path below it, and what it
// holds. Only names are looked at: contents are read through the folder.
func firstLink(root, at string) (link, to string) {
	step := root
	for name := range strings.SplitSeq(relTo(root, at), "/") {
		step = filepath.Join(step, name)
		info, err := os.Lstat(step)
		if err != nil {
			return "", ""
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, _ = os.Readlink(step)
			return step, to
		}
	}
	return "", ""
}

// followed follows the links of a path as far as it exists.
func followed(at string) string {
	for range maxLinks {
		link, to := firstLink(filepath.VolumeName(at)+string(filepath.Separator), at)
		if link == "" {
			break
		}
		at = filepath.Join(from(filepath.Dir(link), to), strings.TrimPrefix(at, link))
	}
	return at
}

// relTo returns a path below a folder with slashes.
func relTo(root, at string) string {
	rel, err := filepath.Rel(root, at)
	if err != nil {
		return "."
	}
	return filepath.ToSlash(rel)
}

// unique drops repeated names and keeps their order.
func unique(list []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
