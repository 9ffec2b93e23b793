package terminal

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"hermes"
)

// Limits of following links for one command line.
const (
	maxLookups  = 2000 // names that are looked up on disk
	maxHops     = 40   // links on one path
	maxProfiles = 16   // profiles whose files are compared with hard links
)

// follower follows the links of paths for one command line, as the kernel would: a
// link's target counts before the dot segments after it. It looks at no file's
// content.
type follower struct {
	own     string            // Hermes' own home
	targets map[string]string // what was looked up: the target of a link, "" for other files
	missing map[string]bool
	lookups int
}

// followLinks returns the func that a command line's paths are followed with, nil
// if the files are not on this machine.
func (t *shellOf) followLinks(e hermes.Environment) func(string) string {
	if e == nil || runtime.GOOS == "windows" { // there the shell's paths are not those of the system
		return nil
	}
	if elsewhere(e) {
		return nil
	}
	f := &follower{own: t.config.Hermes, targets: map[string]string{}, missing: map[string]bool{}}
	return f.follow
}

// follow returns the path that a path leads to. Names below a missing folder stay
// as they are. It returns "" if the path cannot be followed: links form a loop, a
// folder may not be searched, or the line names too many paths.
func (f *follower) follow(p string) string {
	at, names := "/", strings.Split(p, "/")
	for hops := 0; len(names) > 0; {
		name := names[0]
		names = names[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, name)
		target, ok := f.lookup(next, f.missing[at])
		if !ok {
			return ""
		}
		if target == "" {
			at = next
			continue
		}
		if hops++; hops > maxHops {
			return ""
		}
		if strings.HasPrefix(target, "/") {
			at = "/"
		}
		names = append(strings.Split(target, "/"), names...)
	}
	return f.original(spelledAsUsual(at))
}

// lookup returns the target of a link, "" for anything else. It fails if it cannot
// know.
func (f *follower) lookup(p string, below bool) (target string, ok bool) {
	if below {
		f.missing[p] = true
	}
	if f.missing[p] {
		return "", true
	}
	if target, known := f.targets[p]; known {
		return target, true
	}
	if f.lookups++; f.lookups > maxLookups {
		return "", false
	}
	info, err := os.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		f.missing[p] = true
		return "", true
	case err != nil:
		return "", false
	case info.Mode()&fs.ModeSymlink != 0:
		if target, err = os.Readlink(p); err != nil || target == "" {
			return "", false
		}
	}
	f.targets[p] = target
	return target, true
}

// original returns the path of one of Hermes' own files if p is another name of it,
// a hard link, and p otherwise. It returns "" if there are too many to compare.
func (f *follower) original(p string) string {
	info, err := os.Lstat(p)
	if err != nil || !info.Mode().IsRegular() || !mayHaveNames(info) || f.own == "" {
		return p
	}
	homes := []string{f.own}
	profiles, _ := os.ReadDir(filepath.Join(f.own, "profiles")) // none is fine
	for _, p := range profiles[:min(len(profiles), maxProfiles)] {
		homes = append(homes, filepath.Join(f.own, "profiles", p.Name()))
	}
	for _, home := range homes {
		for _, name := range []string{"config.yaml", "permissions.yaml", ".env", "auth.json", "hermes.db", "SOUL.md"} {
			file := filepath.Join(home, name)
			if own, err := os.Lstat(file); err == nil && os.SameFile(info, own) {
				return file
			}
		}
	}
	if len(profiles) > maxProfiles {
		return ""
	}
	return p
}

// spelledAsUsual removes the folder that macOS' own links of /tmp, /var and /etc
// lead through.
func spelledAsUsual(p string) string {
	if rest, ok := strings.CutPrefix(p, "/private/"); ok && runtime.GOOS == "darwin" {
		return "/" + rest
	}
	return p
}
