package track

import (
	"path"
	"strings"

	"hermes/internal/lazy"
	"hermes/internal/policy"
	"hermes/internal/policy/shell/lex"
)

// Limits of following links: paths of one line that are looked up on disk, and
// links that lead to each other.
const (
	maxFollowed = 1000
	maxLinks    = 40
)

// links is what is known about links: those that the line makes, and those that
// were found on disk.
type links struct {
	made     map[string]string // target by path, both absolute
	followed map[string]string // result by path, since the last link was made
	folders  map[string]string // where the protected folders lead
	read     map[reading]bool  // what may be read without asking
	secret   map[string]bool   // whether what a path names is secret, by path
	rules    *policy.PathRules // by which paths are judged, once they are known
	count    int               // paths that were followed
}

// Link records that the line makes a link. What it leads to is relative to its
// folder.
func (l *Line) Link(at, target string) {
	at, ok := l.Absolute(at)
	if !ok || lex.Dynamic(target) || target == "" {
		return
	}
	if !strings.HasPrefix(target, "/") {
		target = path.Dir(at) + "/" + target
	}
	if l.links.made == nil {
		l.links.made = map[string]string{}
	}
	if len(l.links.made) >= maxLinks {
		l.links.count = maxFollowed
	}
	l.links.made[at], l.links.followed = target, nil
}

// follow returns the path that a path leads to, "" if that cannot be found out.
// The path may have dot segments, which count after the links before them.
func (l *Line) follow(p string) string {
	if result, ok := l.links.followed[p]; ok || p == "" {
		return result
	}
	if l.links.count++; l.links.count > maxFollowed {
		return ""
	}
	result := l.throughMade(p)
	if l.Context.Resolve != nil && result != "" {
		if result = l.Context.Resolve(result); result != "" {
			result = l.throughMade(result)
		}
	}
	if l.links.followed == nil {
		l.links.followed = map[string]string{}
	}
	l.links.followed[p] = result
	return result
}

// throughMade follows the links that the line makes.
func (l *Line) throughMade(p string) string {
	if len(l.links.made) == 0 {
		return p
	}
	for range maxLinks {
		next, ok := l.throughOne(p)
		if !ok {
			return p
		}
		p = next
	}
	return ""
}

func (l *Line) throughOne(p string) (string, bool) {
	for i := 1; i <= len(p); i++ {
		if i < len(p) && p[i] != '/' {
			continue
		}
		if target, ok := l.links.made[path.Clean(p[:i])]; ok {
			return target + p[i:], true
		}
	}
	return p, false
}

// processLink matches other names of the root folder and of the current folder.
var processLink = lazy.Regexp(`^/+proc/+([^/]+)/+(?:task/+[^/]+/+)?(root|cwd)(/|$)`)

// throughProcess replaces the names of the root and of the current folder below
// /proc, as if the process were one of this line.
func (l *Line) throughProcess(p string) string {
	if !strings.Contains(p, "proc") {
		return p
	}
	for range maxLinks {
		m := processLink().FindStringSubmatchIndex(p)
		if m == nil {
			return p
		}
		rest := p[m[6]:]
		switch {
		case p[m[4]:m[5]] == "root":
			p = "/" + rest
		case l.Dir == "":
			return ""
		default:
			p = l.Dir + rest
		}
	}
	return ""
}
