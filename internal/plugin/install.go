package plugin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/plugin/source"
	"hermes/internal/plugin/upstream"
	"hermes/internal/text"
)

// What is not a plugin in the folder of plugins begins with one of these, and is what a command left
// that was killed: a plugin that is not there yet, the one that it replaces, and one that is removed.
const (
	newPrefix  = ".new-"
	oldPrefix  = ".old-" // the name of the plugin follows
	gonePrefix = ".gone-"
)

// Installer changes the folder of plugins. A plugin in it is the old or the new one, whole, whenever
// the program is killed. There is one at a time in all processes; it may not be used concurrently.
type Installer struct {
	folder string
	lock   *atomicfile.Lock
	tools  source.Tools
}

// Begin makes the installer of a folder, and cleans up what a killed one left. It waits for another
// process for 10 s. The caller ends it with Close.
func Begin(ctx context.Context, folder string, tools source.Tools) (*Installer, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	lock, err := acquire(ctx, folder, 10*time.Second)
	if err != nil {
		return nil, err
	}
	i := &Installer{folder: folder, lock: lock, tools: tools}
	if err := sweep(folder); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return i, nil
}

func acquire(ctx context.Context, folder string, wait time.Duration) (*atomicfile.Lock, error) {
	return atomicfile.Acquire(ctx, filepath.Join(folder, ".install"), "hermes plugins", wait)
}

// Close removes what was staged and not put in place, and lets others change the folder.
func (i *Installer) Close() error { return errors.Join(sweep(i.folder), i.lock.Release()) }

// Recover cleans up what a killed command left, unless another one is at work.
func Recover(ctx context.Context, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil || !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return leftover(e.Name()) }) {
		return nil // nothing is there
	}
	lock, err := acquire(ctx, folder, 0)
	if err != nil {
		return nil // it is at work, and cleans up itself
	}
	return errors.Join(sweep(folder), lock.Release())
}

func leftover(name string) bool {
	return strings.HasPrefix(name, newPrefix) || strings.HasPrefix(name, oldPrefix) || strings.HasPrefix(name, gonePrefix)
}

// sweep removes leftovers. A plugin that was to be replaced and whose successor is not there comes
// back. The caller holds the lock.
func sweep(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		at := filepath.Join(folder, e.Name())
		if name, old := strings.CutPrefix(e.Name(), oldPrefix); old && ValidName(name) {
			if _, err := os.Lstat(filepath.Join(folder, name)); errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, os.Rename(at, filepath.Join(folder, name)))
				continue
			}
		}
		if leftover(e.Name()) {
			errs = append(errs, os.RemoveAll(at))
		}
	}
	return errors.Join(errs...)
}

// Staged is a plugin that was fetched and is not installed yet.
type Staged struct {
	// Dir has its files.
	Dir      string
	Manifest Manifest
	// Notes are about its manifest, Lacks about what a plugin of the Python Hermes wants and does not
	// get. Both are sentences for the user.
	Notes, Lacks []string
	Source       source.Source
}

// Stage fetches a plugin and checks it. Another one than that which comes along cannot have its name. It starts nothing and changes no installed one.
func (i *Installer) Stage(ctx context.Context, s source.Source) (*Staged, error) {
	staging, err := os.MkdirTemp(i.folder, newPrefix)
	if err != nil {
		return nil, err
	}
	if err := s.Fetch(ctx, i.tools, staging); err != nil {
		return nil, err
	}
	out := &Staged{}
	if out.Dir, err = rooted(staging); err != nil {
		return nil, err
	}
	switch python := upstream.Is(out.Dir); {
	case python:
		if s.Python == nil {
			s.Python = &upstream.Grants{}
		}
		if out.Lacks, err = upstream.Convert(out.Dir, called(s, staging, out.Dir), *s.Python); err != nil {
			return nil, err
		}
	case s.Python != nil && !s.Python.Empty():
		return nil, errors.New("it is no plugin of the Python Hermes: it declares itself what it may do, and nothing can be added to that")
	default:
		s.Python = nil
	}
	if out.Manifest, out.Notes, err = ReadManifest(out.Dir); err != nil {
		return nil, err
	}
	if err := i.tools.Refuse(out.Manifest.Name, s); err != nil {
		return nil, err
	}
	out.Source = s
	sealer, err := source.NewSealer(i.folder)
	if err != nil {
		return nil, err
	}
	if err := s.Write(out.Dir, out.Manifest.Name, sealer); err != nil {
		return nil, err
	}
	if _, err := Digest(out.Dir); err != nil {
		return nil, err
	}
	return out, nil
}

// called is what a plugin is called that does not say so: as its folder or repository is.
func called(s source.Source, staging, dir string) string {
	if dir != staging {
		return filepath.Base(dir)
	}
	if s.Below != "" {
		return path.Base(s.Below)
	}
	name := path.Base(strings.ReplaceAll(filepath.ToSlash(s.From), ":", "/"))
	for _, end := range []string{".git", ".zip", ".tar.gz", ".tgz"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// rooted returns the folder with the plugin: the one that was fetched, or the only one in it.
func rooted(dir string) (string, error) {
	is := func(dir string) bool {
		_, err := os.Lstat(filepath.Join(dir, ManifestName))
		return err == nil || upstream.Is(dir)
	}
	if is(dir) {
		return dir, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(entries) == 1 && entries[0].IsDir() {
		if in := filepath.Join(dir, entries[0].Name()); is(in) {
			return in, nil
		}
	}
	return "", fmt.Errorf("there is no %s in it, so it is no plugin", ManifestName)
}

// Put installs what was staged. One of the same name is only replaced if replace is set.
func (i *Installer) Put(s *Staged, replace bool) error {
	to := filepath.Join(i.folder, s.Manifest.Name)
	old := filepath.Join(i.folder, oldPrefix+s.Manifest.Name)
	switch _, err := os.Lstat(to); {
	case err == nil && !replace:
		return fmt.Errorf("there is a plugin %s already; use --replace", s.Manifest.Name)
	case err == nil:
		if err := os.Rename(to, old); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.Rename(s.Dir, to); err != nil {
		if back := os.Rename(old, to); back != nil && !errors.Is(back, fs.ErrNotExist) {
			err = errors.Join(err, back)
		}
		return err
	}
	return os.RemoveAll(old)
}

// Remove removes the files of a plugin. Its pin is for [Pins.Remove].
func (i *Installer) Remove(name string) error {
	if !ValidName(name) {
		return fmt.Errorf("%q is not the name of a plugin", text.VisibleName(name))
	}
	gone, err := os.MkdirTemp(i.folder, gonePrefix)
	if err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(i.folder, name), filepath.Join(gone, name)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("there is no plugin %s; `hermes plugins list` shows all", name)
		}
		return err
	}
	return os.RemoveAll(gone)
}

// Installed lists the names of the plugins in a folder, sorted.
func Installed(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && ValidName(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// SourceOf returns where a command installed a plugin of a folder from. ok is false if that is not known, as
// of files that were put there by hand, whatever they say of themselves.
func SourceOf(folder, name string) (s source.Source, ok bool, err error) {
	dir := filepath.Join(folder, name)
	r, ok, err := source.ReadRecord(dir)
	if err != nil || !ok {
		return s, false, err
	}
	sealer, err := source.SealerOf(folder)
	if err != nil {
		return s, false, err
	}
	if sealer.Sealed(name, r) {
		return r.Source, true, nil
	}
	// Records had no seal once: one that the user enabled with the plugin is still good. A pin says
	// where such a plugin comes from if it was enabled again since.
	pins, err := PinsIn(folder).Read()
	if pin := pins[name]; err != nil || r.Seal != "" || pin.Digest == "" || pin.Source != "" && pin.Source != r.Place() {
		return s, false, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return s, false, err
	}
	d, err := Digest(dir)
	if err != nil || d != pins[name].Digest {
		return s, false, err
	}
	return r.Source, true, nil
}
