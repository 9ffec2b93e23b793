// Package credentialfile finds the files of this machine that the user, or a skill, lets commands
// elsewhere read: such as ~/.aws/credentials. A [Locator] says what a name means, where the file is
// in the home folder of another machine, and which files are refused: those outside of the user's home and
// of Hermes' own, and those that Hermes itself logs in with. A [Set] reads them.
//
// The package does not know how files get to a place. Start at Locator.Locate.
package credentialfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"hermes/internal/policy"
)

// MaxSize is the size of the biggest file, in bytes.
const MaxSize = 1 << 20

// Locator says what names mean. It is not changed while it is used.
type Locator struct {
	// UserHome is the home folder of the user, Home that of the profile of Hermes. Both are
	// absolute; without one of them, no file is found below it.
	UserHome, Home string
	// Rules know the files that Hermes keeps.
	Rules policy.PathRules
	// Logins are files of other programs from which Hermes takes logins of its own.
	Logins []string
	// HoldsKey reports whether a text holds a key of Hermes; nil is never.
	HoldsKey func(text string) bool
}

// File is a file that commands elsewhere may read.
type File struct {
	// Name is what the user wrote.
	Name string
	// Source is its absolute path here.
	Source string
	// There is its path below the home folder of the place, with slashes.
	There string

	base string // the home in which it is
}

// Locate says which file a name of the user means: a path below ~, an absolute one below the
// user's home or that of Hermes, or one that is relative to the home of Hermes. In a
// place, a file of the user's home has the same path below the home there, and one of Hermes' home is
// below .hermes. The file need not exist. An error says why the name is refused.
func (l Locator) Locate(name string) (File, error) {
	at := filepath.FromSlash(name)
	switch {
	case strings.TrimSpace(name) == "" || strings.ContainsFunc(name, unicode.IsControl):
		return File{}, fmt.Errorf("%q is no path of a file", name)
	case hasDots(at):
		return File{}, fmt.Errorf("%q leaves its folder with ..; write the path without it", name)
	case strings.HasPrefix(at, "~"+string(filepath.Separator)):
		at = filepath.Join(l.UserHome, at[2:])
	case !filepath.IsAbs(at):
		at = filepath.Join(l.Home, at)
	}
	f := File{Name: name, Source: filepath.Clean(at)}
	for _, home := range []struct{ base, there string }{{l.Home, ".hermes"}, {l.UserHome, ""}} {
		rel, err := filepath.Rel(home.base, f.Source)
		if home.base == "" || err != nil || !filepath.IsLocal(rel) || rel == "." {
			continue
		}
		f.base, f.There = home.base, path.Join(home.there, filepath.ToSlash(rel))
		return f, l.refuse(f.Source, name)
	}
	return File{}, fmt.Errorf("%q is neither in the user's home folder nor in that of Hermes", name)
}

// LocateOwn is Locate for a name that a skill gives: only files of Hermes' home, by their
// relative path.
func (l Locator) LocateOwn(name string) (File, error) {
	if filepath.IsAbs(filepath.FromSlash(name)) || strings.HasPrefix(name, "~") {
		return File{}, fmt.Errorf("%q: a skill may name only files of Hermes' home folder, by their path in it", name)
	}
	f, err := l.Locate(name)
	if err == nil && strings.HasPrefix(f.There, ".hermes/profiles/") {
		return File{}, fmt.Errorf("%q is of another profile", name)
	}
	return f, err
}

func hasDots(at string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(at), "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// refuse refuses what Hermes itself keeps or logs in with.
func (l Locator) refuse(at, name string) error {
	if l.Rules.OfHermes(at) {
		return fmt.Errorf("%q is a file of Hermes itself, which commands never get: put what they need into a file of its own", name)
	}
	if slices.Contains(l.Logins, at) {
		return usedItself(name)
	}
	return nil
}

// refuseSame refuses a file that is one of them under another name.
func (l Locator) refuseSame(info fs.FileInfo, name string) error {
	for _, kept := range slices.Concat(l.Logins, l.secrets()) {
		if other, err := os.Stat(kept); err == nil && os.SameFile(info, other) {
			return usedItself(name)
		}
	}
	return nil
}

func usedItself(name string) error {
	return fmt.Errorf("%q holds a login that Hermes uses itself, which commands never get: give them one of their own", name)
}

// secrets are the files with keys and logins of all profiles.
func (l Locator) secrets() (list []string) {
	for _, root := range []string{l.Rules.State, l.Home, filepath.Join(l.UserHome, ".hermes")} {
		if !filepath.IsAbs(root) {
			continue
		}
		homes := []string{root}
		profiles, _ := os.ReadDir(filepath.Join(root, "profiles")) // without it, there are none
		for _, e := range profiles {
			homes = append(homes, filepath.Join(root, "profiles", e.Name()))
		}
		for _, home := range homes {
			for _, name := range []string{".env", "auth.json", "audit.key", ".anthropic_oauth.json", "config.yaml"} {
				list = append(list, filepath.Join(home, name))
			}
			for _, folder := range []string{"mcp-tokens", "pairing"} {
				files, _ := os.ReadDir(filepath.Join(home, folder))
				for _, e := range files {
					list = append(list, filepath.Join(home, folder, e.Name()))
				}
			}
		}
	}
	return list
}

// Read reads a file. Links that lead out of the home folder in which it is are not followed; what they
// lead to in it is judged as the file is. An error wraps [fs.ErrNotExist] if there is none.
func (l Locator) Read(f File) ([]byte, error) {
	data, _, err := l.read(f)
	return data, err
}

// read is Read; real is the path of what was judged and read, without links.
func (l Locator) read(f File) (data []byte, real string, err error) {
	info, real, in, err := l.open(f)
	if err != nil {
		return nil, "", err
	}
	defer in.Close()
	if err := cmp.Or(l.refuse(real, f.Name), l.refuseSame(info, f.Name)); err != nil {
		return nil, "", err
	}
	if info.Size() > MaxSize {
		return nil, "", fmt.Errorf("%q has more than %d MB", f.Name, MaxSize>>20)
	}
	data, err = io.ReadAll(io.LimitReader(in, MaxSize+1))
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("read %q: %w", f.Name, err)
	case len(data) > MaxSize:
		return nil, "", fmt.Errorf("%q has more than %d MB", f.Name, MaxSize>>20)
	case l.HoldsKey != nil && l.HoldsKey(string(data)):
		return nil, "", fmt.Errorf("%q holds a key of Hermes itself, which commands never get: give them one of their own", f.Name)
	}
	return data, real, nil
}

// open opens a file as what it is after following links: real is its path then.
func (l Locator) open(f File) (info fs.FileInfo, real string, in *os.File, err error) {
	problem := func(err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("read %q: %w", f.Name, cause(err))
		}
		return fmt.Errorf("%q cannot be read, or a link leads out of %s: %w", f.Name, f.base, cause(err))
	}
	base, err := filepath.EvalSymlinks(f.base)
	if err != nil {
		return nil, "", nil, problem(err)
	}
	if real, err = filepath.EvalSymlinks(f.Source); err != nil {
		return nil, "", nil, problem(err)
	}
	rel, err := filepath.Rel(base, real)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, "", nil, problem(errors.New("it is outside"))
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, "", nil, problem(err)
	}
	defer root.Close()
	if info, err = root.Lstat(rel); err != nil {
		return nil, "", nil, problem(err)
	}
	if !info.Mode().IsRegular() { // a pipe would wait
		return nil, "", nil, fmt.Errorf("%q is not a regular file; name each file", f.Name)
	}
	if in, err = root.OpenFile(rel, os.O_RDONLY|nonblock, 0); err != nil {
		return nil, "", nil, problem(err)
	}
	opened, err := in.Stat()
	judged, statErr := os.Lstat(real)
	if err = cmp.Or(err, statErr); err == nil && (!opened.Mode().IsRegular() || !os.SameFile(opened, judged)) {
		err = fmt.Errorf("%q was replaced while it was read", f.Name)
	}
	if err != nil {
		_ = in.Close()
		return nil, "", nil, err
	}
	return opened, real, in, nil
}

// cause is an error without the path that it repeats.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
