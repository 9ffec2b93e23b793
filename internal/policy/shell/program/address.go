package program

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/lex"
)

// ThisMachine reports whether an address is certainly this machine.
func ThisMachine(address string) bool {
	address = strings.TrimPrefix(address, "[")
	for _, own := range []string{"localhost", "127.0.0.1", "::1"} {
		if rest, ok := strings.CutPrefix(address, own); ok && (rest == "" || strings.ContainsRune(":],/", rune(rest[0]))) {
			return true
		}
	}
	return false
}

// IsElsewhere reports whether a word names a place on another machine, such as
// host:path, or a container.
func IsElsewhere(word string) bool {
	colon := strings.IndexByte(word, ':')
	slash := strings.IndexByte(word, '/')
	return colon > 0 && (slash < 0 || colon < slash) || lex.Dynamic(word) && !strings.HasPrefix(word, "/")
}

// Host returns the host of an address such as https://user@host/path or
// git@host:path.
func Host(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	if i := strings.IndexAny(address, "/:"); i >= 0 {
		if at := strings.IndexByte(address, '@'); at > i {
			i = at + strings.IndexAny(address[at:]+"/", "/:")
		}
		address = address[:i]
	}
	return strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
}

// IsAddress reports whether a word is the address of a repository, not the name
// of a remote.
func IsAddress(word string) bool {
	return strings.Contains(word, "://") || strings.Contains(word, "@") && strings.Contains(word, ":") || lex.Dynamic(word) && !strings.HasPrefix(word, "-")
}

// IsCodeAddress reports whether a word is the address of code on another machine.
func IsCodeAddress(w string) bool {
	if _, after, ok := strings.Cut(w, " @ "); ok { // name @ address
		w = after
	}
	w = strings.TrimPrefix(w, "--git=")
	for _, begin := range []string{"github:", "gitlab:", "bitbucket:", "gist:", "sourcehut:", "git+", "hg+", "git@", "git:", "gh:", "tarball+", "github.com/", "gitlab.com/"} {
		if strings.HasPrefix(w, begin) {
			return true
		}
	}
	scheme, rest, ok := strings.Cut(w, "://")
	return ok && scheme != "file" && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+") == "" && !ThisMachine(rest)
}

// PlainAddress reports whether an argument is an http address of another machine.
func PlainAddress(a string) bool {
	_, rest, ok := strings.Cut(a, "http://")
	return ok && !ThisMachine(rest)
}

// RemotePath is a path without the machine that it is on.
func RemotePath(p string) string {
	if host, rest, ok := strings.Cut(p, ":"); ok && !strings.Contains(host, "/") && len(host) > 1 {
		return rest
	}
	return p
}

// OnThisMachine returns the path of a target that is here, "" for another machine.
func OnThisMachine(target string) string {
	host, file, remote := strings.Cut(target, ":")
	if !remote || strings.Contains(host, "/") || Drive(target) {
		return target
	}
	switch host[strings.LastIndexByte(host, '@')+1:] {
	case "localhost", "127.0.0.1", "[":
		return strings.TrimPrefix(file, ":1]:")
	}
	return ""
}

// Fetches reports whether a copy goes from a service to this machine.
func Fetches(words []string) bool {
	i := slices.IndexFunc(words, func(w string) bool { return w == "cp" || w == "sync" || w == "rsync" || w == "mirror" })
	if i < 0 || len(words) < i+3 {
		return false
	}
	from, to := words[i+1], words[len(words)-1]
	return strings.Contains(from, "://") && !strings.Contains(to, "://") && !lex.Dynamic(to)
}

// Drive reports whether a path begins with a Windows drive.
func Drive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0] >= 'a' && p[0] <= 'z' || p[0] >= 'A' && p[0] <= 'Z') &&
		(len(p) == 2 || p[2] == '/' || p[2] == '\\')
}
