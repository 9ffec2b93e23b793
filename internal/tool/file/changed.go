package file

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// maxNamed bounds the files named at once.
const maxNamed = 10

// noise lists the suffixes of files that programs write next to others. They
// are never reported.
var noise = []string{".swp", ".swo", ".tmp", "~", ".pyc", ".lock", ".log", "4913"}

// Changed names the files that a session has read or written and that were
// changed or removed by something else since, each state once. It looks only
// at files of this machine. With more than ten, the last item counts the rest.
func (t *Toolset) Changed(session string) []string {
	seen := t.ledger.seen(session)
	var out []string
	for path, s := range seen {
		if noisy(path) {
			continue
		}
		info, err := os.Stat(path)
		now := stamp{}
		if err == nil {
			now = stampOf(info)
		}
		if now != s && t.ledger.news(session, path, now) {
			if err != nil {
				path += " (removed)"
			}
			out = append(out, path)
		}
	}
	slices.Sort(out)
	if more := len(out) - maxNamed; more > 0 {
		out = append(out[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return out
}

func noisy(path string) bool {
	return slices.ContainsFunc(noise, func(n string) bool { return strings.HasSuffix(path, n) }) ||
		strings.Contains(path, "/.git/") || strings.Contains(path, "/node_modules/") || strings.Contains(path, "/__pycache__/")
}

// seen returns a copy of the file states that a session knows.
func (l *ledger) seen(session string) map[string]stamp {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]stamp{}
	if r, ok := l.sessions.Get(session); ok {
		for path, s := range r.files.All() {
			out[path] = s
		}
	}
	return out
}

// news reports whether this state is new to a session, and remembers it as
// reported.
func (l *ledger) news(session, path string, now stamp) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.of(session)
	if was, ok := r.named.Get(path); ok && was == now {
		return false
	}
	r.named.Put(path, now)
	return true
}
