package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/atomicfile"
)

// Default is the name of the root home among the profiles.
const Default = "default"

const (
	profilesFolder = "profiles"
	maxNameLength  = 64
	maxStickySize  = 256 // bytes; a name and a line break
)

// ProfileError says which profile was requested, by what, and what is wrong with it.
type ProfileError struct {
	Name    string
	Source  string // "-p", "HERMES_PROFILE" or the path of the sticky file; may be empty
	Missing bool   // a valid name, but there is no such profile
}

func (e *ProfileError) Error() string {
	if !e.Missing {
		return fmt.Sprintf("%q is not a valid profile name; use lower-case letters, digits, - and _, at most %d characters", e.Name, maxNameLength)
	}
	text := fmt.Sprintf("there is no profile %q", e.Name)
	if e.Source != "" && e.Source != "-p" {
		text += " (set by " + e.Source + ")"
	}
	return text + fmt.Sprintf("; list them with `hermes profile list`, create it with `hermes profile create %s`, or use `-p default`", e.Name)
}

// Sub returns a profile of the same root; "" and "default" are the root home.
// The folder need not exist. A bad name is a *ProfileError.
func (d Dir) Sub(name string) (Dir, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" || name == Default {
		return Dir{root: d.root}, nil
	}
	if !validName(name) {
		return Dir{}, &ProfileError{Name: name}
	}
	return Dir{root: d.root, profile: name}, nil
}

// Profiles lists the profiles of the root by name, the default first. A home
// that does not exist yet has only the default.
func (d Dir) Profiles() ([]string, error) {
	names := []string{Default}
	entries, err := os.ReadDir(filepath.Join(d.root, profilesFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return names, fmt.Errorf("list profiles: %w", plain(err))
	}
	for _, e := range entries {
		if e.IsDir() && validName(e.Name()) && e.Name() != Default {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names[1:])
	return names, nil
}

// StickyFile holds the name of the profile to use if none is given.
func (d Dir) StickyFile() string { return filepath.Join(d.root, "active_profile") }

// Sticky reads StickyFile. It returns "" if the file is missing, unreadable or
// empty.
func (d Dir) Sticky() string {
	f, err := os.Open(d.StickyFile())
	if err != nil {
		return ""
	}
	defer f.Close()
	name := make([]byte, maxStickySize)
	n, _ := f.Read(name)
	return strings.TrimSpace(string(name[:n]))
}

// Stick makes a profile the one to use if none is given.
func (d Dir) Stick() error {
	if d.profile == "" {
		if err := os.Remove(d.StickyFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := d.Make(d.root); err != nil {
		return err
	}
	return atomicfile.Write(d.StickyFile(), []byte(d.profile+"\n"), atomicfile.Options{})
}

// Weigh counts the files of a home and sums their sizes. It skips what cannot be read.
func (d Dir) Weigh() (files int, bytes int64) {
	_ = filepath.WalkDir(d.Path(), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			files++
			bytes += info.Size()
		}
		return nil
	})
	return files, bytes
}

// validName accepts names that work as a folder on every system and as a command.
func validName(name string) bool {
	if name == "" || len(name) > maxNameLength {
		return false
	}
	for i, r := range name {
		letter := 'a' <= r && r <= 'z' || '0' <= r && r <= '9'
		if !letter && (i == 0 || r != '-' && r != '_') {
			return false
		}
	}
	return true
}

func hasContent(folder string) bool {
	f, err := os.Open(folder)
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(1)
	return len(names) > 0
}
