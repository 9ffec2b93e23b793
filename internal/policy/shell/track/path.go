package track

import (
	"cmp"
	"path"
	"strings"

	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
)

// Absolute resolves a path. It fails if the path is only known at run time.
func (l *Line) Absolute(p string) (string, bool) {
	if p == "" || lex.Dynamic(p) {
		return "", false
	}
	if program.Drive(p) {
		return strings.ToUpper(p[:1]) + ":" + path.Clean("/"+strings.ReplaceAll(p[2:], `\`, "/")), true
	}
	if !strings.HasPrefix(p, "/") {
		if l.Dir == "" {
			return "", false
		}
		p = l.Dir + "/" + p
	}
	p = path.Clean(p)
	for _, alias := range []string{"/proc/self/root", "/proc/1/root", "/System/Volumes/Data"} {
		if rest, ok := strings.CutPrefix(p, alias); ok && (rest == "" || rest[0] == '/') {
			return path.Clean("/" + rest), true
		}
	}
	return p, true
}

// Vital reports whether a path is the root, a system folder or a home folder, or
// everything in one.
func (l *Line) Vital(word string) bool {
	p, ok := l.Absolute(word)
	if !ok {
		return false
	}
	// A link by itself is not what it leads to, but what is below it is.
	if dir, name := path.Split(word); name == "" || strings.ContainsAny(name, "*?[") {
		if dir, ok = l.Absolute(cmp.Or(dir, ".")); ok {
			if real := l.follow(dir); real != "" && real != dir && l.Vital(strings.TrimSuffix(real, "/")+"/"+name) {
				return true
			}
		}
	}
	if !strings.ContainsAny(p, "*?[") {
		return l.vitalFolder(p)
	}
	parent := p
	var pattern string
	for strings.ContainsAny(parent, "*?[") {
		parent, pattern = path.Split(path.Clean(parent))
		parent = path.Clean(parent)
	}
	rest := strings.Trim(strings.TrimPrefix(p, parent), "/")
	for part := range strings.SplitSeq(rest, "/") {
		if !matchesAll(part) {
			return rest == pattern && l.matchesVital(parent, pattern)
		}
	}
	return l.vitalFolder(parent)
}

// matchesAll reports whether a pattern matches everything in a folder.
func matchesAll(pattern string) bool {
	return lex.Within("* ** .* ?* *? .??* .[!.]* .[^.]* [!.]* *.*", pattern)
}

// matchesVital reports whether a pattern in a folder matches a vital folder.
func (l *Line) matchesVital(parent, pattern string) bool {
	pattern = strings.ReplaceAll(pattern, "[!", "[^") // as path.Match writes it
	for _, name := range []string{"bin", "boot", "dev", "etc", "home", "lib", "lib64", "opt", "proc", "root", "sbin", "sys", "usr", "var", "Users", "System", path.Base(l.Context.Home)} {
		if ok, _ := path.Match(pattern, name); ok && l.vitalFolder(path.Join(parent, name)) {
			return true
		}
	}
	return false
}

func (l *Line) vitalFolder(p string) bool {
	switch strings.ToLower(p) {
	case "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/proc", "/root",
		"/run", "/sbin", "/srv", "/sys", "/usr", "/var", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64",
		"/usr/libexec", "/usr/share", "/var/lib", "/users", "/system", "/system/library", "/library", "/applications", "/volumes",
		"/private", "/private/etc", "/private/var", "/nix", "/nix/store", "/mnt/c", "/c", "/mnt/c/windows", "/c/windows", "/mnt/c/users", "/c/users":
		return true
	}
	if program.Drive(p) {
		rest := strings.ToLower(p[2:])
		return rest == "/" || rest == "/windows" || rest == "/users" || rest == "/program files" || path.Dir(rest) == "/users"
	}
	dir := strings.ToLower(path.Dir(p))
	return l.Context.Home != "" && Same(p, l.Context.Home) || dir == "/home" || dir == "/users"
}

// Same reports whether two paths are equal but for case.
func Same(a, b string) bool { return strings.EqualFold(path.Clean(a), path.Clean(b)) }

// InFolder reports whether a path is folder or is below it. It ignores case, as
// some file systems do.
func InFolder(p, folder string) bool {
	p, folder = strings.ToLower(p), strings.TrimSuffix(strings.ToLower(folder), "/")
	rest, ok := strings.CutPrefix(p, folder)
	return ok && folder != "" && (rest == "" || rest[0] == '/')
}

// DeletesRoot is why a command that deletes what must stay is refused.
const DeletesRoot = "deletes the root folder, a system folder or a home folder"

// DestroysVital reports whether a recursive change of a path hits the root, a
// system folder or a home folder. A part that is unknown may be empty, so
// "$X"/* is everything in the root.
func (l *Line) DestroysVital(p string) bool {
	if !lex.Dynamic(p) {
		return l.Vital(p) || l.vitalByLink(p)
	}
	if strings.Contains(p, lex.Deferred) {
		return false
	}
	empty := lex.WithoutUnknown(p)
	return empty != "" && empty[0] == '/' && l.Vital(empty)
}

// vitalByLink reports whether a path goes through a link to a vital folder. The
// link itself is only a file.
func (l *Line) vitalByLink(p string) bool {
	full, ok := l.Absolute(p)
	if !ok {
		return false
	}
	folder, rest := full, ""
	if at := strings.IndexAny(full, "*?["); at >= 0 {
		at = strings.LastIndexByte(full[:at], '/')
		folder, rest = full[:at], full[at:]
	} else if !strings.HasSuffix(p, "/") && !strings.HasSuffix(p, "/.") {
		return false
	}
	led := l.follow(folder)
	return led != "" && led != folder && l.Vital(led+rest)
}

// IsHome reports whether a path is a home folder or everything in one.
func (l *Line) IsHome(p string) bool {
	p, ok := l.Absolute(p)
	if !ok {
		return false
	}
	p = strings.TrimSuffix(strings.TrimRight(p, "*"), "/")
	return l.Context.Home != "" && Same(p, l.Context.Home) || path.Dir(p) == "/home" || path.Dir(p) == "/Users"
}

// OfSystem reports whether a path is in a system folder, or directly in the root.
func OfSystem(p string) bool {
	for _, folder := range []string{"/etc", "/bin", "/boot", "/lib", "/lib64", "/sbin", "/usr", "/sys", "/proc", "/dev"} {
		if InFolder(p, folder) && !InFolder(p, "/usr/local") && !strings.HasPrefix(p, "/dev/shm/") {
			return true
		}
	}
	return path.Dir(p) == "/"
}

// Temporary reports whether a path is in a folder for temporary files.
func Temporary(p string) bool {
	return InFolder(p, "/tmp") || InFolder(p, "/var/tmp") || InFolder(p, "/dev/shm") || InFolder(p, "/private/tmp")
}

// Owns reports whether a file is temporary, in the folder in which the line runs,
// or in a place that is only known at run time.
func (l *Line) Owns(file string) bool {
	if at := strings.IndexAny(file, lex.Marks); at >= 0 { // the folder may still be known
		file = file[:strings.LastIndexByte(file[:at], '/')+1]
	}
	p, ok := l.Absolute(file)
	return !ok || Temporary(p) || InFolder(p, "/dev") || l.Context.Dir != "" && InFolder(p, l.Context.Dir)
}

// IsLog reports whether a file is a log by its name or by that of its folder.
func IsLog(file string) bool {
	folder := path.Base(path.Dir(file))
	return path.Ext(file) == ".log" || folder == "log" || folder == "logs"
}
