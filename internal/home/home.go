// Package home finds the folder where Hermes keeps its files and names every path
// in it. Dir is a plain value that callers pass on; nothing here is global.
//
// A home has a root and may have profiles, each a complete home below
// profiles/<name>. Find decides which one a run uses. The path methods of Dir do
// not touch the disk, except CacheInUse; Make creates a folder (mode 0700) before
// a write, and Create a whole profile (clone.go). Prune and its classes (prune.go) limit
// the size and age of files that accumulate.
//
// The package does not know the content of the files. Start at Find.
package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Dir is one home: the root home or one profile of it. The zero Dir is not a
// home; get one from Find or At. A Dir is a plain value, safe to copy and share.
type Dir struct {
	root    string
	profile string
}

// Source says where Find looks. Getenv is required.
type Source struct {
	Getenv func(string) string
	// Profile is the name given on the command line; "" leaves the choice to
	// the environment and the sticky default.
	Profile string
	// OS is the target system, named as in runtime.GOOS; "" is this one.
	OS string
}

// ErrNoHome means that neither HERMES_HOME nor the user's home folder is known.
var ErrNoHome = errors.New("cannot find your home folder; set HERMES_HOME to a folder that Hermes may use")

// Find returns the home of this run. The root is HERMES_HOME, else
// %LOCALAPPDATA%\hermes on Windows, else ~/.hermes. The profile is the one asked
// for, else the one that HERMES_HOME itself points to, else HERMES_PROFILE, else
// the sticky default that `hermes profile use` wrote. For a profile that does not
// exist, Find returns a *ProfileError and the root home, so that the caller can fix
// it. The default profile needs no folder yet.
func Find(s Source) (Dir, error) {
	base, err := baseOf(s)
	if err != nil {
		return Dir{}, err
	}
	d := At(base)
	name, source := s.Profile, "-p"
	switch {
	case name != "":
	case d.profile != "":
		return d, nil // HERMES_HOME names the profile's own folder
	case s.Getenv("HERMES_PROFILE") != "":
		name, source = s.Getenv("HERMES_PROFILE"), "HERMES_PROFILE"
	default:
		name, source = d.Sticky(), d.StickyFile()
	}
	return d.open(name, source)
}

func (d Dir) open(name, source string) (Dir, error) {
	root := Dir{root: d.root}
	p, err := d.Sub(name)
	if err != nil {
		return root, err
	}
	if p.profile == "" || isDir(p.Path()) {
		return p, nil
	}
	return root, &ProfileError{Name: p.profile, Source: source, Missing: true}
}

// At returns the home at path. A path that ends in profiles/<name> is that profile
// of the root above it. At cleans the path but does not read the disk.
func At(path string) Dir {
	path = filepath.Clean(path)
	name, parent := filepath.Base(path), filepath.Dir(path)
	if filepath.Base(parent) == profilesFolder && validName(name) && name != Default {
		return Dir{root: filepath.Dir(parent), profile: name}
	}
	return Dir{root: path}
}

func baseOf(s Source) (string, error) {
	system := s.OS
	if system == "" {
		system = runtime.GOOS
	}
	userHome := s.Getenv("HOME")
	if system == "windows" {
		userHome = s.Getenv("USERPROFILE")
	}
	if set := strings.TrimSpace(s.Getenv("HERMES_HOME")); set != "" {
		return filepath.Abs(expand(set, userHome))
	}
	if local := s.Getenv("LOCALAPPDATA"); system == "windows" && local != "" {
		return filepath.Join(local, "hermes"), nil
	}
	if userHome == "" {
		return "", ErrNoHome
	}
	if system == "windows" {
		return filepath.Join(userHome, "AppData", "Local", "hermes"), nil
	}
	return filepath.Abs(filepath.Join(userHome, ".hermes"))
}

// expand replaces a leading ~ by the user's home folder, because HERMES_HOME is
// often set in files that no shell expands.
func expand(path, userHome string) string {
	rest, found := strings.CutPrefix(path, "~")
	if !found || userHome == "" || (rest != "" && rest[0] != '/' && rest[0] != '\\') {
		return path
	}
	return filepath.Join(userHome, rest)
}

// Make creates a folder of this home and its parents, readable by the owner only.
// Existing folders keep their mode. Make refuses a path outside the home.
func (d Dir) Make(folder string) error {
	rel, err := filepath.Rel(d.root, folder)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return fmt.Errorf("make folder: %s is outside the home %s", folder, d.root)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make folder: %w", plain(err))
	}
	return nil
}

// Exists reports whether the home's folder exists. Before the first write it
// usually does not.
func (d Dir) Exists() bool { return isDir(d.Path()) }

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// plain keeps the path and the reason of a file error and drops the name of the
// system call, which means nothing to a user.
func plain(err error) error {
	var pathError *fs.PathError
	if !errors.As(err, &pathError) {
		return err
	}
	return fmt.Errorf("%s: %w", pathError.Path, pathError.Err)
}
