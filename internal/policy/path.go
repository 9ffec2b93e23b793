package policy

import (
	"fmt"
	"runtime"
	"strings"
)

// PathRules judges paths by the table of protected paths (path_table.go). It
// names the folders of the user and of the agent. All paths are absolute; empty
// ones protect nothing.
type PathRules struct {
	Home  string // the user's home folder
	State string // the agent's own home: configuration, secrets, skills
	// RealHome and RealState are the same folders with their links followed, where
	// that makes a difference.
	RealHome, RealState string
	// SafeRoots, if not empty, are the only folders that file tools may write.
	SafeRoots []string
	// Self is the program of Hermes, and Programs are the folders of the user's PATH, both
	// with links followed. File tools ask each time before they write them.
	Self     string
	Programs []string
	// Links are the protected files of this machine that are links; nil knows none.
	Links *Links

	ready         bool // homes and states are known
	homes, states [][]string
}

// Ready returns the same rules, quicker to ask many times.
func (r PathRules) Ready() PathRules {
	r.homes, r.states, r.ready = foldersOf(r.Home, r.RealHome), foldersOf(r.State, r.RealState), true
	return r
}

// foldersOf returns the names of folders.
func foldersOf(paths ...string) [][]string {
	var list [][]string
	for _, p := range paths {
		if p != "" {
			list = append(list, split(canonical(p)))
		}
	}
	return list
}

// PathVerdict is the result of judging one path. The zero value allows.
type PathVerdict struct {
	Deny   bool   // forbidden in every mode
	Ask    bool   // needs the user's approval
	Once   bool   // needs it each time: no grant covers it
	Key    string // names the rule, for stored approvals
	Reason string // text for users and models: what the file is and what to do instead
}

// Allowed reports whether the path is allowed without a question.
func (v PathVerdict) Allowed() bool { return !v.Deny && !v.Ask }

// Read judges reading by a file tool, which shows the content to the model. Pass
// the path as requested and the path with its links followed; the strictest
// verdict counts. Commands that read on this machine are not judged.
func (r PathRules) Read(paths ...string) PathVerdict { return strictest(paths, r.read) }

// Secret reports whether the content of a path must not leave this machine without
// a question: credentials, keys, private records, Hermes' own files, and folders
// on the way to them. Uploads and pipes into the network are judged by it. Pass
// paths as for Read.
func (r PathRules) Secret(paths ...string) bool {
	for _, p := range paths {
		if r.secret(canonical(p)) {
			return true
		}
	}
	return false
}

// OfHermes reports whether Hermes itself keeps a path in its home: its keys, logins, settings, records
// and state. What users put there beside them is not of Hermes. Pass paths as for Read.
func (r PathRules) OfHermes(paths ...string) bool {
	for _, p := range paths {
		if r.ofHermes(canonical(p)) {
			return true
		}
	}
	return false
}

// Write judges creating, changing, moving and deleting by a file tool. Pass paths
// as for Read.
func (r PathRules) Write(paths ...string) PathVerdict { return strictest(paths, r.write) }

// CommandWrite judges a command that writes a path. It never denies: the user sees
// the command and decides. Pass paths as for Read. They may hold patterns of a
// shell; one that is not absolute is below an unknown folder.
func (r PathRules) CommandWrite(paths ...string) PathVerdict {
	return r.command(paths, func(Kind) bool { return true })
}

// CommandNames judges a path that a command names, if the command is not known to
// only read it.
func (r PathRules) CommandNames(paths ...string) PathVerdict {
	return r.command(paths, func(k Kind) bool { return !k.Common })
}

// CommandReads judges a path that a command names, also if it is known to only read it. Only
// few kinds of files ask then.
func (r PathRules) CommandReads(paths ...string) PathVerdict {
	v := r.command(paths, func(k Kind) bool { return k.Closed })
	if v.Allowed() {
		v = strictest(paths, r.intoClosed)
	}
	return used(v)
}

// CommandReplaces judges a command that moves, deletes or replaces a path with
// everything below it.
func (r PathRules) CommandReplaces(paths ...string) PathVerdict {
	if v := r.CommandWrite(paths...); !v.Allowed() {
		return v
	}
	return strictest(paths, func(p string) PathVerdict {
		for _, at := range r.places(p) {
			if at.maybe || len(at.names) == 1 && at.names[0] == "" {
				continue
			}
			names := at.names
			if at.anchor == Anywhere { // the folder itself, wherever it is
				names = names[len(names)-1:]
			}
			if row, ok := above(at.anchor, names, func(row rule) bool { return commandAccess(row.Kind, at) > Free }); ok {
				return commandVerdict(row.Kind)
			}
		}
		return PathVerdict{}
	})
}

// Need judges a path that a command in a sandbox asks to write, with everything below it.
func (r PathRules) Need(paths ...string) PathVerdict {
	for _, judge := range []func(...string) PathVerdict{r.Write, r.CommandReplaces} {
		if v := judge(paths...); !v.Allowed() {
			return v
		}
	}
	return strictest(paths, func(p string) PathVerdict {
		if k, access := r.strictestKind(p, func(k Kind, _ place) Access { return k.Write }); access > Free {
			return PathVerdict{Ask: true, Reason: "changes what " + k.What}
		}
		return PathVerdict{}
	})
}

func (r PathRules) command(paths []string, counts func(Kind) bool) PathVerdict {
	judge := func(p string) PathVerdict {
		k, access := r.strictestKind(p, func(k Kind, at place) Access {
			if !counts(k) {
				return Free
			}
			return commandAccess(k, at)
		})
		if access == Free {
			return PathVerdict{}
		}
		return commandVerdict(k)
	}
	for _, p := range paths {
		// macOS' own spelling of a folder is unusual in a command.
		if raw := strings.ToLower(clean(p)); strings.HasPrefix(raw, "/private/") {
			if v := judge(raw); !v.Allowed() {
				return v
			}
		}
	}
	return strictest(paths, judge)
}

// commandAccess is the only place where commands are judged differently from file
// tools; see [Kind] for the reasons.
func commandAccess(k Kind, at place) Access {
	if k.ShellKey == "" || k.OwnHome && at.anchor == AtHome && !at.own {
		return Free
	}
	return min(k.Write, Asked)
}

func commandVerdict(k Kind) PathVerdict {
	return PathVerdict{Ask: true, Key: k.ShellKey, Reason: "writes to a file or folder that " + k.What}
}

func (r PathRules) write(p string) PathVerdict {
	if v := r.writeSafeRoot(p); !v.Allowed() {
		return v
	}
	k, access := r.strictestKind(p, func(k Kind, _ place) Access {
		if k.Key == "" { // for commands only
			return Free
		}
		return k.Write
	})
	program := r.program(p)
	switch {
	case access < Denied && program != "":
		return PathVerdict{Ask: true, Once: true, Key: "program", Reason: program}
	case access == Denied:
		return deny(k.Key, "this is a file that %s, and file tools must not write it: %s", k.What, k.Instead)
	case access == Asked:
		return PathVerdict{Ask: true, Once: k.Once, Key: k.Key, Reason: "changes a file that " + k.What}
	}
	return PathVerdict{}
}

// program says why a file is a program that the user runs by its name, "" if it is no such program.
func (r PathRules) program(p string) string {
	if r.Self != "" && p == canonical(r.Self) {
		return "changes the program of Hermes itself"
	}
	for _, dir := range r.Programs {
		if dir = canonical(dir); dir != "" && p != dir && within(p, dir) && !strings.Contains(strings.Trim(p[len(dir):], "/"), "/") {
			return "changes a file in " + dir + ", where your shell and other programs look for programs (PATH)"
		}
	}
	return ""
}

func (r PathRules) writeSafeRoot(p string) PathVerdict {
	if len(r.SafeRoots) == 0 {
		return PathVerdict{}
	}
	for _, root := range r.SafeRoots {
		if root != "" && within(p, canonical(root)) {
			return PathVerdict{}
		}
	}
	return deny("safe-root", "writing is limited to %s: put the file there", strings.Join(r.SafeRoots, ", "))
}

func deny(key, format string, args ...any) PathVerdict {
	return PathVerdict{Deny: true, Key: key, Reason: fmt.Sprintf(format, args...)}
}

func strictest(paths []string, judge func(string) PathVerdict) PathVerdict {
	var worst PathVerdict
	for _, p := range paths {
		v := judge(canonical(p))
		if v.Deny {
			return v
		}
		if v.Ask && !worst.Once {
			worst = v
		}
	}
	return worst
}

// place is a path as seen from one anchor of the table.
type place struct {
	anchor Anchor
	names  []string // below the anchor
	own    bool     // in the home of the user who runs Hermes, or of root
	maybe  bool     // the path may as well be elsewhere: only rows of single files count
}

// places lists how a canonical path can be seen.
func (r PathRules) places(p string) []place {
	all := make([]place, 0, 4)
	names := split(p)
	if !strings.HasPrefix(p, "/") && (len(p) < 2 || p[1] != ':') {
		all = append(all, place{anchor: Anywhere, names: names}, place{anchor: AtHome, names: names, own: true})
		if state := below(names, ".hermes"); state != nil {
			return append(all, place{anchor: AtState, names: state})
		}
		return append(all, place{anchor: AtState, names: names, maybe: true})
	}
	all = append(all, place{anchor: AtRoot, names: names})
	home, own := r.homeRest(names)
	if home != nil {
		all = append(all, place{anchor: AtHome, names: home, own: own})
	}
	if rest := r.stateRest(names, home); rest != nil {
		all = append(all, place{anchor: AtState, names: rest})
	}
	all = append(all, place{anchor: Anywhere, names: names})
	if name := r.Links.name(p); name != "" {
		r.Links = nil
		all = append(all, r.places(name)...)
	}
	return all
}

// strictestKind returns the kind of a path that the caller grades highest. Of the
// rows with one anchor the first that matches decides.
func (r PathRules) strictestKind(p string, grade func(Kind, place) Access) (Kind, Access) {
	var kind Kind
	worst := Free
	for _, at := range r.places(p) {
		row, ok := first(at.anchor, at.names)
		if !ok || at.maybe && (row.tree || row.segments[0].text == "**") {
			continue
		}
		if access := grade(row.Kind, at); access > worst {
			kind, worst = row.Kind, access
		}
	}
	return kind, worst
}

// homeRest returns the names of a path below a user's home folder, and whether
// that is the home of the user who runs Hermes, or of root. It returns nil for
// other paths, and an empty list for a home folder itself.
func (r PathRules) homeRest(names []string) (rest []string, own bool) {
	homes := r.homes
	if !r.ready {
		homes = foldersOf(r.Home, r.RealHome)
	}
	for _, home := range homes {
		if rest := below(names, home...); rest != nil {
			return rest, true
		}
	}
	if rest := below(names, "root"); rest != nil {
		return rest, true
	}
	for _, homes := range [...][]string{{"home", "*"}, {"users", "*"}, {"c:", "users", "*"}, {"var", "root"}} {
		if rest := below(names, homes...); rest != nil {
			return rest, false
		}
	}
	return nil, false
}

// stateRest returns the names of a path below the agent's home or below one of
// its profiles: nil for other paths, and an empty list for such a home itself.
func (r PathRules) stateRest(names, home []string) []string {
	var rest []string
	states := r.states
	if !r.ready {
		states = foldersOf(r.State, r.RealState)
	}
	for _, state := range states {
		if rest == nil {
			rest = below(names, state...)
		}
	}
	if rest == nil {
		rest = below(home, ".hermes")
	}
	if inner := below(rest, "profiles", "*"); len(inner) > 0 {
		return inner
	}
	return rest
}

// below returns the names that follow a folder, which may hold wildcards. It
// returns nil if the path is not in that folder, and an empty list for the folder
// itself.
func below(names []string, folder ...string) []string {
	if len(folder) == 1 && folder[0] == "" { // the root
		return names
	}
	if len(names) < len(folder) {
		return nil
	}
	for i, name := range folder {
		if name == names[i] {
			continue
		}
		if name == "*" {
			continue
		}
		if !isPattern(names[i]) {
			return nil
		}
		if s := segmentOf(name); !s.matches(names[i]) {
			return nil
		}
	}
	return names[len(folder):]
}

// canonical converts a path to the form that the rules use: forward slashes,
// lower case (a wrong refusal of ~/.SSH costs nothing), no dot segments, no
// double slashes, no /private before macOS' etc, var and tmp, no other name of
// the root folder before it.
func canonical(path string) string {
	if runtime.GOOS == "windows" {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	p := strings.ToLower(clean(path))
	for _, dir := range [...]string{"/etc", "/var", "/tmp", "/home"} {
		if rest, ok := strings.CutPrefix(p, "/private"); ok && within(rest, dir) {
			p = rest
		}
	}
	p = strings.TrimPrefix(p, "/system/volumes/data")
	for {
		rest, ok := processFile(p)
		tail, through := strings.CutPrefix(rest, "root/")
		if !ok || !through {
			return p
		}
		p = "/" + tail
	}
}

// clean drops empty and dot segments, as path.Clean does, but keeps the start of
// a drive letter or a share.
func clean(path string) string {
	if isClean(path) {
		return path
	}
	rooted := strings.HasPrefix(path, "/")
	var out []string
	for _, part := range strings.Split(path, "/") {
		switch {
		case part == "" || part == ".":
		case part == ".." && len(out) > 0 && out[len(out)-1] != "..":
			out = out[:len(out)-1]
		case part == ".." && rooted:
		default:
			out = append(out, part)
		}
	}
	p := strings.Join(out, "/")
	if rooted {
		return "/" + p
	}
	return p
}

// isClean reports whether clean would return a path as it is.
func isClean(path string) bool {
	rest := strings.TrimPrefix(path, "/")
	for rest != "" {
		part, after, more := strings.Cut(rest, "/")
		if part == "" || part == "." || part == ".." || more && after == "" {
			return false
		}
		rest = after
	}
	return path != ""
}

// within reports whether path is dir or is below it. Both are canonical.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/"))
	return ok && dir != "" && (rest == "" || rest[0] == '/')
}
