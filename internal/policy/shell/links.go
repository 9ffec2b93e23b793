package shell

import (
	"path"
	"regexp"
	"strings"
	"sync"
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
	count    int               // paths that were followed
}

// link records that the line makes a link. What it leads to is relative to its
// folder.
func (j *judge) link(at, target string) {
	at, ok := j.absolute(at)
	if !ok || dynamic(target) || target == "" {
		return
	}
	if !strings.HasPrefix(target, "/") {
		target = path.Dir(at) + "/" + target
	}
	if j.links.made == nil {
		j.links.made = map[string]string{}
	}
	if len(j.links.made) >= maxLinks {
		j.links.count = maxFollowed
	}
	j.links.made[at], j.links.followed = target, nil
}

// follow returns the path that a path leads to, "" if that cannot be found out.
// The path may have dot segments, which count after the links before them.
func (j *judge) follow(p string) string {
	if result, ok := j.links.followed[p]; ok || p == "" {
		return result
	}
	if j.links.count++; j.links.count > maxFollowed {
		return ""
	}
	result := j.throughMade(p)
	if j.context.Resolve != nil && result != "" {
		if result = j.context.Resolve(result); result != "" {
			result = j.throughMade(result)
		}
	}
	if j.links.followed == nil {
		j.links.followed = map[string]string{}
	}
	j.links.followed[p] = result
	return result
}

// throughMade follows the links that the line makes.
func (j *judge) throughMade(p string) string {
	if len(j.links.made) == 0 {
		return p
	}
	for range maxLinks {
		next, ok := j.throughOne(p)
		if !ok {
			return p
		}
		p = next
	}
	return ""
}

func (j *judge) throughOne(p string) (string, bool) {
	for i := 1; i <= len(p); i++ {
		if i < len(p) && p[i] != '/' {
			continue
		}
		if target, ok := j.links.made[path.Clean(p[:i])]; ok {
			return target + p[i:], true
		}
	}
	return p, false
}

// processLink matches other names of the root folder and of the current folder.
var processLink = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^/+proc/+([^/]+)/+(?:task/+[^/]+/+)?(root|cwd)(/|$)`)
})

// throughProcess replaces the names of the root and of the current folder below
// /proc, as if the process were one of this line.
func (j *judge) throughProcess(p string) string {
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
		case j.dir == "":
			return ""
		default:
			p = j.dir + rest
		}
	}
	return ""
}
