package skill

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"hermes"
	"hermes/internal/atomicfile"
	"hermes/internal/skill/guard"
)

// write applies a change on disk, one process at a time.
func (l *Library) write(ctx context.Context, e hermes.SkillEdit, it item) (out hermes.SkillOutcome, err error) {
	done, err := l.exclusive(ctx)
	if err != nil {
		return out, err
	}
	defer done()
	out.Notes = lint(e)
	folder := it.folder
	if folder == "" {
		folder = l.ownFolder(e, it)
	}
	err = l.cfg.Record(ctx, actor(e.Agent, e.Session), Pending{Edit: &e}.What(), []string{folder}, func() error {
		out.Path, err = l.writeFile(e, it, folder)
		return err
	})
	if err != nil {
		return hermes.SkillOutcome{}, err
	}
	now := l.cfg.Now().UTC()
	return out, l.changeUsage(ctx, e.Name, func(u *Usage) {
		u.Changed, u.Provenance = now, hermes.AddProvenance(u.Provenance, e.Provenance)
		if e.New {
			u.Created, u.Agent, u.Session = now, e.Agent, e.Session
		}
		u.addTrial(e.Trial)
	})
}

// ownFolder returns the folder of a new skill, or of the user's copy of a bundled
// one.
func (l *Library) ownFolder(e hermes.SkillEdit, it item) string {
	if it.bundled != nil {
		return l.inCategory(it.category, it.meta.Name)
	}
	return filepath.Join(cmp.Or(l.cfg.CreateDir, l.cfg.Home.Skills()), e.Category, e.Name)
}

func actor(agent bool, session string) string {
	if agent && session != "" {
		return session
	}
	return "person"
}

func (l *Library) writeFile(e hermes.SkillEdit, it item, folder string) (string, error) {
	if e.New {
		return folder, l.writeFolder(folder, map[string][]byte{mainFile: []byte(e.Content)})
	}
	if it.bundled != nil {
		if err := l.adopt(it, folder); err != nil {
			return "", err
		}
		it.folder = folder
	}
	return l.replace(it, e)
}

// exclusive keeps other processes from changing skills at the same time.
func (l *Library) exclusive(ctx context.Context) (func(), error) {
	if err := l.cfg.Home.Make(l.cfg.Home.Skills()); err != nil {
		return nil, err
	}
	held, err := atomicfile.Acquire(ctx, filepath.Join(l.cfg.Home.Skills(), ".write"), "hermes skills", lockWait)
	if err != nil {
		return nil, err
	}
	return func() { _ = held.Release() }, nil // the lock ends with the process anyway
}

// adopt copies a bundled skill into the user's folder, where it can be changed.
func (l *Library) adopt(it item, folder string) error {
	files := map[string][]byte{}
	for _, name := range contents(it.bundled) {
		raw, err := fs.ReadFile(it.bundled, name)
		if err != nil {
			return err
		}
		files[name] = raw
	}
	return l.writeFolder(folder, files)
}

// writeFolder writes a whole folder atomically.
func (l *Library) writeFolder(folder string, files map[string][]byte) (err error) {
	if err := errors.Join(l.placeable(folder), vacant(folder)); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return fmt.Errorf("create the folder of the skill: %w", err)
	}
	tmp := filepath.Join(filepath.Dir(folder), ".new-"+rand.Text()[:8])
	defer func() {
		if err != nil {
			_ = os.RemoveAll(tmp)
		}
	}()
	if err := writeTree(tmp, files); err != nil {
		return err
	}
	return os.Rename(tmp, folder)
}

func writeTree(folder string, files map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, data := range files {
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return err
		}
		if err := root.WriteFile(name, data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// replace writes one file of an existing skill.
func (l *Library) replace(it item, e hermes.SkillEdit) (string, error) {
	root, err := os.OpenRoot(it.folder)
	if err != nil {
		return "", fmt.Errorf("open the skill %q: %w", e.Name, err)
	}
	defer root.Close()
	name := cmp.Or(e.File, mainFile)
	if err := sameFile(root, name); err != nil {
		return "", err
	}
	before, err := root.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read %s of the skill %q: %w", name, e.Name, err)
	}
	if e.Base != "" && e.Base != hash(before) {
		return "", fmt.Errorf("%s of the skill %q has changed in the meantime; read it again and repeat the change", name, e.Name)
	}
	if before == nil {
		files := contents(root.FS())
		if len(files) >= guard.MaxFiles {
			return "", fmt.Errorf("the skill %q already has %d files; merge some of them", e.Name, guard.MaxFiles)
		}
		if other := otherSpelling(files, name); other != "" {
			return "", fmt.Errorf("the skill %q already has %s; use that spelling or another name", e.Name, other)
		}
	}
	if err := rootWrite(root, name, []byte(e.Content)); err != nil {
		return "", fmt.Errorf("write %s of the skill %q: %w", name, e.Name, err)
	}
	return filepath.Join(it.folder, filepath.FromSlash(name)), nil
}

// rootWrite replaces a file atomically, within the folder.
func rootWrite(root *os.Root, name string, data []byte) error {
	mode := fs.FileMode(0o600)
	if st, err := root.Stat(name); err == nil {
		if !st.Mode().IsRegular() {
			return errors.New("not a regular file")
		}
		mode = st.Mode().Perm()
	}
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	tmp := path.Join(path.Dir(name), ".new-"+rand.Text()[:8])
	if err := root.WriteFile(tmp, data, mode); err != nil {
		_ = root.Remove(tmp)
		return err
	}
	if err := root.Rename(tmp, name); err != nil {
		_ = root.Remove(tmp)
		return err
	}
	return nil
}
