package track

import (
	"path"
	"slices"
	"strings"

	"hermes/internal/policy"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
)

// protected judges paths by the table that file tools use, too.
func (l *Line) protected() policy.PathRules {
	if l.links.rules == nil {
		r := policy.PathRules{Home: l.Context.Home, State: l.Context.Hermes, Links: l.Context.Links}
		if l.Context.Resolve != nil {
			r.RealHome, r.RealState = l.realFolder(r.Home), l.realFolder(r.State)
		}
		r = r.Ready()
		l.links.rules = &r
	}
	return *l.links.rules
}

// realFolder returns where a folder leads on disk, once for each line.
func (l *Line) realFolder(folder string) string {
	real, known := l.links.folders[folder]
	if known || folder == "" {
		return real
	}
	if l.links.folders == nil {
		l.links.folders = map[string]string{}
	}
	if real = l.Context.Resolve(folder); real == folder {
		real = ""
	}
	l.links.folders[folder] = real
	return real
}

// RawDevice reports whether a path is a disk, or a partition of one.
func RawDevice(p string) bool {
	name, ok := strings.CutPrefix(path.Clean(p), "/dev/")
	if !ok {
		return strings.HasPrefix(p, `\\.\PhysicalDrive`)
	}
	for _, kind := range []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "loop", "md", "dm-", "mapper/", "sr", "nbd", "mem", "kmem", "port"} {
		if strings.HasPrefix(name, kind) {
			return true
		}
	}
	return false
}

// Write judges a path that a command writes to or replaces.
func (l *Line) Write(target string) {
	if p, ok := l.Absolute(target); ok {
		l.shadows(p)
	}
	l.judgePath(target, policy.PathRules.CommandWrite)
}

// Replace judges a path that a command moves or deletes with all that is below.
func (l *Line) Replace(target string) { l.judgePath(target, policy.PathRules.CommandReplaces) }

// Name judges a path that a command names that may write it.
func (l *Line) Name(word string) {
	if l.Listing {
		return
	}
	for _, p := range l.spellings(word) {
		if RawDevice(p) || RawDevice(word) {
			l.Ask("raw-device", "may overwrite a disk or memory")
			return
		}
	}
	l.judgePath(word, policy.PathRules.CommandNames)
}

// Read judges a path that a command names, also if it only reads it. Links are not followed: a
// command that makes one to such a path names it, too.
func (l *Line) Read(word string) { l.readBy(word, false) }

// ReadTree judges a path that a command names and reads with all that is below.
func (l *Line) ReadTree(word string) { l.readBy(word, true) }

// maxReads is how many names that may be read are remembered.
const maxReads = 1000

// reading is what a command reads: paths, joined by zero bytes, and perhaps all that is below.
type reading struct {
	paths string
	tree  bool
}

func (l *Line) readBy(word string, tree bool) {
	if l.Listing {
		return
	}
	if rest, ok := strings.CutPrefix(word, "~/"); ok && l.Context.Home != "" {
		word = l.Context.Home + "/" + rest // quoted, but the program may expand it
	}
	paths := []string{word}
	if p, ok := l.Absolute(word); ok {
		paths = []string{p}
	} else if lex.Dynamic(word) {
		paths = l.partlyKnown(word)
	}
	read := reading{strings.Join(paths, "\x00"), tree}
	if l.links.read[read] { // a loop names the same again and again
		return
	}
	verdict := policy.PathRules.CommandReads
	if tree {
		verdict = policy.PathRules.CommandReadsTree
	}
	if v := verdict(l.protected(), paths...); v.Ask {
		l.Ask(v.Key, v.Reason)
		return
	}
	if l.links.read == nil {
		l.links.read = map[reading]bool{}
	}
	if len(l.links.read) < maxReads {
		l.links.read[read] = true
	}
}

func (l *Line) judgePath(word string, verdict func(policy.PathRules, ...string) policy.PathVerdict) {
	if l.Listing {
		return
	}
	rules := l.protected()
	l.Socket(word)
	for _, p := range l.spellings(word) {
		switch {
		case RawDevice(p) || RawDevice(word):
			l.Refuse("raw-device", "overwrites a disk or memory")
			return
		case path.Clean(p) == "/proc/sysrq-trigger":
			l.Refuse("shutdown", "shuts down or restarts the machine")
			return
		}
		if v := verdict(rules, p); v.Ask {
			l.Ask(v.Key, v.Reason)
		}
	}
}

// spellings lists the paths that a word may mean: as it is written, and with its
// links followed. It is empty if nothing is known.
func (l *Line) spellings(word string) []string {
	if rest, ok := strings.CutPrefix(word, "~/"); ok && l.Context.Home != "" {
		word = l.Context.Home + "/" + rest // quoted, but the program may expand it
	}
	switch {
	case word == "" || word == "/dev/null" || l.links.count > maxFollowed && !strings.HasPrefix(word, "/"):
		return nil // the line asks since it names too many
	case lex.Dynamic(word):
		return l.partlyKnown(word)
	case strings.ContainsAny(word, "*?["): // only names can be compared
		if p, ok := l.Absolute(word); ok {
			return []string{p}
		}
		return []string{word}
	}
	if p, ok := l.Absolute(word); ok {
		if strings.HasPrefix(word, "/") || program.Drive(word) {
			return l.withLinks(p, word)
		}
		return l.withLinks(p, l.Dir+"/"+word)
	}
	// The folder is unknown. It may be one that the line has named.
	all := []string{word}
	for _, dir := range l.visited {
		all = append(all, l.withLinks(path.Join(dir, word), dir+"/"+word)...)
	}
	return all
}

// withLinks returns a path and where its links lead. The joined form has its dot
// segments: they count after the links before them.
func (l *Line) withLinks(p, joined string) []string {
	all := []string{p}
	for _, way := range []string{joined, l.throughProcess(joined)} {
		real := l.follow(way)
		if real == "" {
			l.Ask("unknown-path", "names a path whose links cannot be followed")
		} else if !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all
}

// partlyKnown lists the paths that a word may mean of which a part is only known at
// run time: any name may be there, and $dir/.ssh/config may be the user's.
func (l *Line) partlyKnown(word string) []string {
	var all []string
	known := lex.AsPattern(word)
	if p, ok := l.Absolute(l.throughProcess(known)); ok && !strings.HasPrefix(known, "*") && known != "" {
		all = append(all, p)
	}
	if l.Dir != "" && strings.HasPrefix(known, "*") {
		all = append(all, l.Dir+"/"+known)
	}
	last := strings.TrimLeft(word[strings.LastIndexAny(word, lex.Marks)+1:], "/")
	if last != "" {
		all = append(all, last)
	}
	return all
}

// shadows judges a file that would run in place of a well-known program, because
// its folder is searched before those of the system.
func (l *Line) shadows(p string) {
	folder, name := path.Split(p)
	folder = strings.TrimSuffix(folder, "/")
	if path.Base(folder) == "bin" && l.TrustedFolder(folder) && slices.Contains(program.EverydayPrograms, name) {
		l.Ask("shadow-program", "puts a file where it runs in place of "+name)
	}
}

// Socket recognizes the file names that shells and awk read as connections.
func (l *Line) Socket(text string) {
	for _, prefix := range []string{"/dev/tcp/", "/dev/udp/", "/inet/tcp", "/inet/udp", "/inet4/", "/inet6/"} {
		if strings.Contains(text, prefix) {
			l.Ask("remote-shell", "connects the shell to another machine")
		}
	}
}

// WriteAll judges paths that a command writes to.
func (l *Line) WriteAll(targets []string) {
	for _, t := range targets {
		l.Write(t)
	}
}

// NameAll judges every path in a text.
func (l *Line) NameAll(text string) {
	for _, p := range l.PathsInText(text) {
		l.Name(p)
	}
}

// PathsIn lists what may be paths in one word of a command.
func (l *Line) PathsIn(w string) []string {
	if strings.ContainsAny(w, " \t\n'\"()") {
		return append(l.PathsInText(w), w)
	}
	all := []string{w}
	switch {
	case !strings.HasPrefix(w, "-"):
	case len(w) > 2 && w[1] != '-':
		all = []string{w[2:]} // -oPATH
	default:
		all = nil
	}
	if scheme, rest, ok := strings.Cut(w, "://"); ok {
		if name := scheme[strings.LastIndexAny(scheme, "=,:")+1:]; name != "file" && !strings.Contains(name, "sqlite") {
			return nil // an address
		}
		rest, _, _ = strings.Cut(rest, "?")
		return []string{"/" + strings.TrimLeft(rest, "/")}
	}
	if before, _, ok := strings.Cut(w, ":"); ok && strings.Contains(before, "@") {
		return nil // a path of another machine
	}
	for part := range strings.FieldsFuncSeq(w, func(r rune) bool { return strings.ContainsRune("=:,@?&", r) }) {
		if part != w {
			all = append(all, part)
		}
	}
	return all
}

// PathsInText lists what may be paths in program code or in another text. There
// the home folder has many names, so that a name with a dot may be in it.
func (l *Line) PathsInText(text string) []string {
	var all []string
	for token := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("'\"`()[]{}<>=,;|&!?*#:", r)
	}) {
		_, rest, _ := strings.Cut(token, "/")
		switch {
		case strings.HasPrefix(token, "//"):
		case strings.HasPrefix(token, "~/"), strings.HasPrefix(token, "$HOME/"):
			all = append(all, l.Context.Home+"/"+rest)
		case strings.HasPrefix(token, "/."):
			all = append(all, token, l.Context.Home+token)
		case len(token) > 1 && token[0] == '.':
			all = append(all, token, l.Context.Home+"/"+token)
		case strings.Contains(token, "/"):
			all = append(all, token)
		}
	}
	return all
}
