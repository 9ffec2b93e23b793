package skill

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func (l *Library) backupFolder() string {
	return filepath.Join(l.cfg.Home.Skills(), ".curator_backups")
}

// Backup writes all skills of the home to an archive and keeps the newest keep
// archives; 0 keeps all.
func (l *Library) Backup(keep int) (path string, err error) {
	if err := l.cfg.Home.Make(l.backupFolder()); err != nil {
		return "", err
	}
	path = l.freeBackup()
	tmp := path + ".part"
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	err = errors.Join(l.pack(f), f.Close())
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp)
		return "", fmt.Errorf("back up the skills: %w", err)
	}
	return path, l.dropBackups(keep)
}

// freeBackup returns an unused path for a backup. Several in one second get
// different paths.
func (l *Library) freeBackup() string {
	stamp := filepath.Join(l.backupFolder(), l.cfg.Now().UTC().Format("20060102-150405"))
	path := stamp + ".tar.gz"
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); err != nil {
			return path
		}
		path = fmt.Sprintf("%s.%d.tar.gz", stamp, n)
	}
}

func (l *Library) dropBackups(keep int) error {
	all, err := l.Backups()
	if err != nil || keep <= 0 || len(all) <= keep {
		return err
	}
	for _, name := range all[keep:] {
		if err := os.Remove(filepath.Join(l.backupFolder(), name+".tar.gz")); err != nil {
			return err
		}
	}
	return nil
}

// Backups lists the names of the archives, newest first.
func (l *Library) Backups() ([]string, error) {
	entries, err := os.ReadDir(l.backupFolder())
	if os.IsNotExist(err) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".tar.gz"); ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out, err
}

func (l *Library) pack(w io.Writer) error {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	root, err := os.OpenRoot(l.cfg.Home.Skills())
	if err != nil {
		return err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == "." {
			return err
		}
		if d.IsDir() && (p == ".curator_backups" || p == ".hub/quarantine" || p == ".archive") {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || strings.HasSuffix(p, ".lock") {
			return nil
		}
		raw, err := fs.ReadFile(root.FS(), p)
		if err != nil {
			return err
		}
		if err := t.WriteHeader(&tar.Header{Name: p, Mode: 0o600, Size: int64(len(raw)), Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		_, err = t.Write(raw)
		return err
	})
	return errors.Join(err, t.Close(), z.Close())
}

// Rollback restores the files of a backup, the newest if id is empty. Skills made
// since then are kept with their records, and the current state is backed up first.
// Nothing is changed if a skill of the backup would come into another skill, or hide
// those of a category.
func (l *Library) Rollback(ctx context.Context, id string) (string, error) {
	all, err := l.Backups()
	if err != nil {
		return "", err
	}
	if id == "" && len(all) > 0 {
		id = all[0]
	}
	if !slices.Contains(all, id) {
		return "", fmt.Errorf("there is no backup %q; list them with `hermes curator rollback --list`", id)
	}
	done, err := l.exclusive(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	f, err := os.Open(filepath.Join(l.backupFolder(), id+".tar.gz"))
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := readBackup(f, l.restorable); err != nil {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if _, err := l.Backup(0); err != nil { // keep all: the requested one may be the oldest
		return "", err
	}
	root, err := os.OpenRoot(l.cfg.Home.Skills())
	if err != nil {
		return "", err
	}
	defer root.Close()
	return id, readBackup(f, func(name string, raw []byte) error {
		if raw = l.joined(root, name, raw); raw == nil {
			return nil
		}
		return rootWrite(root, name, raw)
	})
}

// readBackup calls do for each file of a backup.
func readBackup(r io.Reader, do func(name string, raw []byte) error) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return fmt.Errorf("the backup is damaged: %w", err)
	}
	t := tar.NewReader(z)
	for {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the backup is damaged: %w", err)
		}
		if h.Typeflag != tar.TypeReg || h.Size > maxFile*4 {
			continue
		}
		raw, err := io.ReadAll(io.LimitReader(t, h.Size))
		if err != nil {
			return fmt.Errorf("the backup is damaged: %w", err)
		}
		if err := do(h.Name, raw); err != nil {
			return err
		}
	}
}

// restorable returns an error if a file of a backup is that of a skill and no list
// would find it, or others that are there now.
func (l *Library) restorable(name string, _ []byte) error {
	if path.Base(name) != mainFile || path.Dir(name) == "." {
		return nil
	}
	folder := filepath.Join(l.cfg.Home.Skills(), filepath.FromSlash(path.Dir(name)))
	if err := l.placeable(folder); err != nil {
		return fmt.Errorf("nothing was restored: %w; or rename what is there now", err)
	}
	if _, err := os.Lstat(filepath.Join(folder, mainFile)); err == nil {
		return nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if _, err := os.Lstat(filepath.Join(folder, e.Name(), mainFile)); err == nil {
			return fmt.Errorf("nothing was restored: %s was a skill and is a category now, with the skill %q; rename the folder first", folder, e.Name())
		}
	}
	return nil
}

// joined returns what to write for a file of a backup; nil for the state that is not
// of skills: trusted projects and the times of the curator. The records of skills
// that the backup does not have stay.
func (l *Library) joined(root *os.Root, name string, raw []byte) []byte {
	full := filepath.Join(l.cfg.Home.Skills(), filepath.FromSlash(name))
	switch full {
	case l.trustFile(), l.curatorFile():
		return nil
	case l.usageFile(), l.lockFile():
	default:
		return raw
	}
	present, err := fs.ReadFile(root.FS(), name)
	if err != nil {
		return raw
	}
	var out any
	if full == l.usageFile() {
		now, err := decodeUsage(present)
		before, beforeErr := decodeUsage(raw)
		if errors.Join(err, beforeErr) != nil {
			return nil // a broken record is not replaced blindly
		}
		maps.Copy(now, before)
		out = now
	} else {
		now, before := Lock{}, Lock{}
		if errors.Join(json.Unmarshal(present, &now), json.Unmarshal(raw, &before)) != nil {
			return nil
		}
		for skill, in := range now.Skills {
			if !before.has(skill) {
				if before.Skills == nil {
					before.Skills = map[string]Installed{}
				}
				before.Skills[skill] = in
			}
		}
		out = before
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil
	}
	return append(text, '\n')
}
