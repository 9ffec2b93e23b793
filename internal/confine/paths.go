package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/policy/shell"
	"hermes/internal/sandbox"
)

// maxRefused is how many paths are named for one command.
const maxRefused = 8

// paths finds out which files the walls kept from a command, above all one that failed. The kernel does
// not tell: what the command said and what it names is compared with the policy. So it
// can miss some, and may name a file that was not the reason.
func (v *visit) paths(failed bool) []hermes.Refusal {
	said := v.output.String()
	denied, written := signs(said)
	if !denied {
		return nil
	}
	line := ""
	if failed { // else a missing file that it names need not be one that it wanted
		line = v.line
	}
	// Reading what is not there fails otherwise: such a path was to be made.
	closed := strings.Contains(strings.ToLower(said), "permission denied") || strings.Contains(said, "EACCES")
	var out []hermes.Refusal
	for _, path := range v.named(said, line) {
		n, ok := v.refusal(path, written || closed && !there(path))
		if !ok || slices.ContainsFunc(out, func(r hermes.Refusal) bool { return r.Kind == n.Kind && r.Name == n.Name }) {
			continue
		}
		if out = append(out, n); len(out) == maxRefused {
			break
		}
	}
	return out
}

// signs reports whether a text says that something was refused, and that it was to be
// written.
func signs(said string) (denied, written bool) {
	said = strings.ToLower(said)
	for _, s := range []string{"read-only file system", "erofs", "device or resource busy", "ebusy"} {
		if strings.Contains(said, s) {
			return true, true
		}
	}
	for _, s := range []string{"permission denied", "operation not permitted", "eacces", "eperm", "no such file", "enoent", "cannot find", "not found", "access denied"} {
		denied = denied || strings.Contains(said, s)
	}
	for _, s := range []string{"cannot create", "cannot touch", "cannot open", "write", "mkdir", "cannot make", "unable to create", "could not create"} {
		written = written || strings.Contains(said, s)
	}
	return denied, written
}

// named lists the paths in what a command said and in the words of its line.
func (v *visit) named(said, line string) []string {
	var out []string
	add := func(word string) {
		word = strings.TrimRight(word, ".,:;)]}'\"`’”")
		switch {
		case strings.HasPrefix(word, "~/"):
			word = filepath.Join(v.walls.program.config.Home, word[2:])
		case strings.HasPrefix(word, "../"):
			word = filepath.Join(v.dir, word)
		}
		if len(word) > 1 && filepath.IsAbs(word) && !strings.ContainsRune(word, 0) {
			out = append(out, filepath.Clean(word))
		}
	}
	for text := range strings.Lines(said) {
		if denied, _ := signs(text); !denied {
			continue
		}
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n'\"`‘’“”()[]<>=:,", r) }) {
			add(word)
			if word != "" && !filepath.IsAbs(word) && len(out) < 64 {
				out = append(out, filepath.Join(v.dir, strings.TrimRight(word, ".,:;")))
			}
		}
	}
	shell.Commands(line, func(words []string) bool {
		for _, word := range words[1:] {
			add(word)
			if _, value, ok := strings.Cut(word, "="); ok {
				add(value)
			}
		}
		return len(out) < 64
	})
	return out
}

// refusal compares a path with the policy.
func (v *visit) refusal(path string, written bool) (hermes.Refusal, bool) {
	for _, kernel := range []string{"/proc", "/sys", "/dev"} {
		if below(path, kernel) {
			return hermes.Refusal{}, false
		}
	}
	p := v.place.plan.Policy
	real, exists := realOf(path)
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(f string) bool { return below(real, f) })
	}
	switch {
	case below(real, v.walls.program.config.State) && !in(p.Write):
		return hermes.Refusal{Kind: hermes.RefusedRead, Name: path, Note: "Hermes' own home is never open to commands"}, exists
	case p.Layer == sandbox.A && (below(path, "/tmp") || below(path, "/var/tmp")) && !in(p.Write):
		return hermes.Refusal{Kind: hermes.RefusedRead, Name: path, Note: "commands have a /tmp of their own"}, exists
	case in(p.Hidden):
		return hermes.Refusal{Kind: hermes.RefusedRead, Name: path, Note: "it holds secrets"}, exists
	case in(p.Protected):
		return hermes.Refusal{Kind: hermes.RefusedWrite, Name: path, Note: v.protectedNote(real)}, written
	case in(p.Write) && holds(real, p.Protected) != "": // a need for it opens nothing
		return hermes.Refusal{Kind: hermes.RefusedChange, Name: path, Note: "it holds " + holds(real, p.Protected) + ", which is protected"}, written
	case below(v.walls.config.Workspace, real) && in(p.Write):
		return hermes.Refusal{Kind: hermes.RefusedChange, Name: path, Note: "the workspace itself cannot be moved or removed"}, written
	case written && slices.Contains(p.Write, real): // it cannot be moved or removed itself
		return hermes.Refusal{Kind: hermes.RefusedWrite, Name: filepath.Dir(path)}, true
	case in(p.Write) || in([]string{p.Temp, p.PrivateHome}):
		return hermes.Refusal{}, false
	case in(p.Read):
		return hermes.Refusal{Kind: hermes.RefusedWrite, Name: path}, written
	case written && v.beside(real) != "":
		return hermes.Refusal{Kind: hermes.RefusedRead, Name: v.beside(real), Note: besideNote}, true
	case !exists && written:
		return hermes.Refusal{Kind: hermes.RefusedWrite, Name: filepath.Dir(path)}, isFolder(filepath.Dir(path))
	}
	return hermes.Refusal{Kind: hermes.RefusedRead, Name: path}, exists
}

// holds returns the first of some paths that is below a folder, "" if none is.
func holds(folder string, paths []string) string {
	if i := slices.IndexFunc(paths, func(p string) bool { return below(p, folder) }); i >= 0 {
		return paths[i]
	}
	return ""
}

// protectedNote says why a path is protected.
func (v *visit) protectedNote(real string) string {
	for _, n := range v.place.plan.Named {
		if real == n.Path || n.Tree && below(real, n.Path) {
			return n.Why()
		}
	}
	return obeyed
}

// besideNote says why a file that holds secrets is asked for when another one was to be
// made.
const besideNote = "the walls of this host (layer B) let programs make and remove files beside it only if they may read it as well"

// beside returns the hidden file because of which layer B does not let a path be made or
// removed: the folder of the path holds it, "" if none is the reason.
func (v *visit) beside(path string) string {
	p := v.place.plan.Policy
	if p.Layer == sandbox.A || !below(path, v.walls.config.Workspace) {
		return ""
	}
	for _, h := range p.Hidden {
		if below(h, filepath.Dir(path)) {
			return h
		}
	}
	return ""
}

// realOf follows the links of a path, also if its last name is missing.
func realOf(path string) (real string, exists bool) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, true
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path)), false
	}
	return path, false
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// tail keeps the last of what a command prints. It may be written concurrently.
type tail struct {
	mu sync.Mutex
	b  []byte
}

// maxTail is in bytes.
const maxTail = 8 << 10

// Write never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(b)
	if n > maxTail {
		b = b[n-maxTail:]
	}
	t.b = append(t.b, b...)
	if over := len(t.b) - maxTail; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return n, nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
