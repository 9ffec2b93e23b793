package shell

import (
	"cmp"
	"path"
	"strings"
)

// absolute resolves a path. It fails if the path is only known at run time.
func (j *judge) absolute(p string) (string, bool) {
	if p == "" || dynamic(p) {
		return "", false
	}
	if drive(p) {
		return strings.ToUpper(p[:1]) + ":" + path.Clean("/"+strings.ReplaceAll(p[2:], `\`, "/")), true
	}
	if !strings.HasPrefix(p, "/") {
		if j.dir == "" {
			return "", false
		}
		p = j.dir + "/" + p
	}
	p = path.Clean(p)
	for _, alias := range []string{"/proc/self/root", "/proc/1/root", "/System/Volumes/Data"} {
		if rest, ok := strings.CutPrefix(p, alias); ok && (rest == "" || rest[0] == '/') {
			return path.Clean("/" + rest), true
		}
	}
	return p, true
}

// drive reports whether a path begins with a Windows drive.
func drive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0] >= 'a' && p[0] <= 'z' || p[0] >= 'A' && p[0] <= 'Z') &&
		(len(p) == 2 || p[2] == '/' || p[2] == '\\')
}

// vital reports whether a path is the root, a system folder or a home folder, or
// everything in one.
func (j *judge) vital(word string) bool {
	p, ok := j.absolute(word)
	if !ok {
		return false
	}
	// A link by itself is not what it leads to, but what is below it is.
	if dir, name := path.Split(word); name == "" || strings.ContainsAny(name, "*?[") {
		if dir, ok = j.absolute(cmp.Or(dir, ".")); ok {
			if real := j.follow(dir); real != "" && real != dir && j.vital(strings.TrimSuffix(real, "/")+"/"+name) {
				return true
			}
		}
	}
	if !strings.ContainsAny(p, "*?[") {
		return j.vitalFolder(p)
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
			return rest == pattern && j.matchesVital(parent, pattern)
		}
	}
	return j.vitalFolder(parent)
}

// matchesAll reports whether a pattern matches everything in a folder.
func matchesAll(pattern string) bool {
	switch pattern {
	case "*", "**", ".*", "?*", "*?", ".??*", ".[!.]*", ".[^.]*", "[!.]*", "*.*":
		return true
	}
	return false
}

// matchesVital reports whether a pattern in a folder matches a vital folder.
func (j *judge) matchesVital(parent, pattern string) bool {
	pattern = strings.ReplaceAll(pattern, "[!", "[^") // as path.Match writes it
	for _, name := range []string{"bin", "boot", "dev", "etc", "home", "lib", "lib64", "opt", "proc", "root", "sbin", "sys", "usr", "var", "Users", "System", path.Base(j.context.Home)} {
		if ok, _ := path.Match(pattern, name); ok && j.vitalFolder(path.Join(parent, name)) {
			return true
		}
	}
	return false
}

func (j *judge) vitalFolder(p string) bool {
	switch strings.ToLower(p) {
	case "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/proc", "/root",
		"/run", "/sbin", "/srv", "/sys", "/usr", "/var", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64",
		"/usr/libexec", "/usr/share", "/var/lib", "/users", "/system", "/system/library", "/library", "/applications", "/volumes",
		"/private", "/private/etc", "/private/var", "/nix", "/nix/store", "/mnt/c", "/c", "/mnt/c/windows", "/c/windows", "/mnt/c/users", "/c/users":
		return true
	}
	if drive(p) {
		rest := strings.ToLower(p[2:])
		return rest == "/" || rest == "/windows" || rest == "/users" || rest == "/program files" || path.Dir(rest) == "/users"
	}
	dir := strings.ToLower(path.Dir(p))
	return j.context.Home != "" && same(p, j.context.Home) || dir == "/home" || dir == "/users"
}

func same(a, b string) bool { return strings.EqualFold(path.Clean(a), path.Clean(b)) }

// inFolder reports whether a path is folder or is below it. It ignores case, as
// some file systems do.
func inFolder(p, folder string) bool {
	p, folder = strings.ToLower(p), strings.TrimSuffix(strings.ToLower(folder), "/")
	rest, ok := strings.CutPrefix(p, folder)
	return ok && folder != "" && (rest == "" || rest[0] == '/')
}
