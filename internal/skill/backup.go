package skill

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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
