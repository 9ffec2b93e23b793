package gitguard

import (
	"bytes"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The bounds of what is known of a repository.
const (
	maxSettings = 4096
	maxBranches = 1000
	maxPacked   = 8 << 20 // bytes of the file packed-refs
)

// remotes is what a session has seen of where a repository fetches from and pushes to. A
// name that had an address gets no other one, also if it was removed in between. A nil one
// has seen nothing. It is not changed once it is made.
type remotes struct {
	values map[string][]string // all that settings ever had, by their names
	first  []string            // the remotes that there were when it was seen first
	// branches are those that there were when it was seen first. many says that there were
	// more, or that they cannot be listed.
	branches map[string]bool
	many     bool
	read     map[string][]byte // the configuration files that it knows
}

// repositoryOf returns the folder or file whose settings belong together with those in a
// configuration file.
func repositoryOf(config string) string {
	dir := filepath.Dir(config)
	switch {
	case filepath.Base(config) == ".gitmodules":
		return config
	case filepath.Base(config) == "config.worktree" && filepath.Base(filepath.Dir(dir)) == "worktrees":
		return filepath.Dir(filepath.Dir(dir))
	}
	return dir
}

// namesRemotes reports whether a state is a file that may name remotes.
func (s state) namesRemotes() bool {
	return s.class == GitConfig || s.class == ToolFile && path.Base(s.rel) == ".gitmodules"
}

// see returns what was seen of remotes until now: all of the snapshot before, and the
// branches of repositories that are new in this one.
func (s Snapshot) see(root *os.Root, before Snapshot) map[string]*remotes {
	all := maps.Clone(before.remotes)
	if all == nil {
		all = map[string]*remotes{}
	}
	files := map[string][]string{}
	for at, is := range before.states {
		if is.namesRemotes() {
			files[repositoryOf(at)] = append(files[repositoryOf(at)], at)
		}
	}
	for git, list := range files {
		r := all[git]
		fresh := r == nil || len(r.read) == 0
		for _, at := range list {
			r = r.with(at, before.states[at].content)
		}
		if fresh {
			r.begin()
		}
		all[git] = r
	}
	for at, is := range s.states {
		if git := repositoryOf(at); is.namesRemotes() && all[git] == nil {
			all[git] = branchesOf(root, s.Found.Root, git)
		}
	}
	return all
}

// with returns what is known after a configuration file was read as well.
func (r *remotes) with(at string, text []byte) *remotes {
	out := &remotes{values: map[string][]string{}, branches: map[string]bool{}, read: map[string][]byte{}}
	if r != nil {
		if known, ok := r.read[at]; ok && bytes.Equal(known, text) {
			return r
		}
		out.first, out.many = r.first, r.many
		maps.Copy(out.values, r.values)
		maps.Copy(out.branches, r.branches)
		maps.Copy(out.read, r.read)
	}
	out.read[at] = text
	all, _ := parse(text) // one that git cannot read names nothing
	for name, list := range values(all) {
		if _, known := out.values[name]; namesRemote(name) && (known || len(out.values) < maxSettings) {
			out.values[name] = unique(slices.Concat(out.values[name], list))
		}
	}
	return out
}

// namesRemote reports whether a setting says which remote or address something has.
func namesRemote(name string) bool {
	section, _, _ := strings.Cut(name, ".")
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch section {
	case "remote", "submodule":
		return last == "url" || last == "pushdefault"
	case "branch":
		return last == "remote" || last == "pushremote"
	}
	return false
}

// begin notes which remotes and branches the configuration names at first.
func (r *remotes) begin() {
	for name := range r.values {
		section, rest, _ := strings.Cut(name, ".")
		sub := rest[:max(0, strings.LastIndexByte(rest, '.'))]
		switch {
		case section == "remote" && strings.HasSuffix(name, ".url"):
			r.first = append(r.first, sub)
		case section == "branch" && sub != "":
			r.branches[sub] = true
		}
	}
}

// branchesOf lists the branches of a repository. It may be outside of the folder that is
// open as root.
func branchesOf(root *os.Root, dir, git string) *remotes {
	r := &remotes{values: map[string][]string{}, branches: map[string]bool{}, read: map[string][]byte{}}
	var at *os.Root
	var err error
	if isBelow(git, dir) {
		at, err = OpenRootIn(root, relTo(dir, git))
	} else {
		at, err = openRoot(git)
	}
	if err != nil {
		return r
	}
	defer at.Close()
	if _, err := at.Lstat("reftable"); err == nil {
		r.many = true
	}
	r.list(at, "refs/heads", "")
	r.packed(at)
	return r
}

// list adds the branches in a folder of refs.
func (r *remotes) list(git *os.Root, dir, prefix string) {
	f, err := git.OpenFile(dir, os.O_RDONLY|waitless, 0)
	if err != nil {
		return
	}
	defer f.Close()
	all, _ := f.ReadDir(maxBranches)
	r.many = r.many || len(all) == maxBranches
	for _, e := range all {
		switch name := path.Join(prefix, e.Name()); {
		case len(r.branches) >= maxBranches || strings.Count(name, "/") > maxDepth:
			r.many = true
			return
		case e.IsDir():
			r.list(git, path.Join(dir, e.Name()), name)
		default:
			r.branches[name] = true
		}
	}
}

// packed adds the branches that git keeps in one file.
func (r *remotes) packed(git *os.Root) {
	f, err := git.OpenFile("packed-refs", os.O_RDONLY|waitless, 0)
	if err != nil {
		return
	}
	defer f.Close()
	text, err := readUpTo(f, maxPacked)
	r.many = r.many || err != nil
	for line := range bytes.Lines(text) {
		if _, name, ok := bytes.Cut(line, []byte(" refs/heads/")); ok && len(r.branches) < maxBranches {
			r.branches[string(bytes.TrimSpace(name))] = true
		} else {
			r.many = r.many || ok
		}
	}
}

// address reports whether a remote or submodule may have the addresses that a setting has
// now: any, or one that it had.
func (r *remotes) address(k Key) bool {
	had := unique(slices.Concat(k.Old, r.had(k.Name)))
	if len(had) == 0 {
		return !slices.ContainsFunc(k.New, func(v string) bool { return !harmlessURL(v) })
	}
	return len(missing(k.New, had)) == 0
}

func (r *remotes) had(name string) []string {
	if r == nil {
		return nil
	}
	return r.values[name]
}

// pushes reports whether a branch may belong to a remote; all is the whole configuration.
// Another remote of a branch that was there at first would get what the user pushes later,
// unless it has the same addresses.
func (r *remotes) pushes(branch, remote string, all map[string][]string) bool {
	if remote == "." {
		return true
	}
	now := all["remote."+remote+".url"]
	if !printable(remote) || len(now) == 0 {
		return false
	}
	if r == nil || !r.many && !r.branches[branch] {
		return true
	}
	had := slices.Concat(r.had("branch."+branch+".remote"), r.had("branch."+branch+".pushremote"), r.had("remote.pushdefault"))
	if had = missing(had, []string{"."}); len(had) == 0 {
		had = r.first // the user may push it to any of them
	}
	if len(had) == 0 {
		return true
	}
	var addresses []string
	for _, name := range had {
		addresses = append(addresses, r.had("remote."+name+".url")...)
	}
	return len(missing(now, addresses)) == 0
}

// fetches reports whether git may fetch what is missing from a remote by itself.
func (r *remotes) fetches(remote string) bool {
	return r == nil || len(r.first) == 0 || slices.Contains(r.first, remote)
}
