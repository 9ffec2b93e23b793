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
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes"
)

// Curation says when a skill that nobody uses becomes stale and is archived.
type Curation struct {
	StaleAfter, ArchiveAfter time.Duration
	Backups                  int // how many are kept; 0 makes none
}

// Curated is a skill in the eyes of the curator.
type Curated struct {
	Name  string
	Usage Usage
	Idle  time.Duration
	// Fate is active, stale, archive, pinned, or harmful.
	Fate string
}

// Survey judges the skills that the agent made: the only ones the curator
// touches.
func (l *Library) Survey(ctx context.Context, c Curation) ([]Curated, error) {
	items, err := l.items(ctx)
	if err != nil {
		return nil, err
	}
	usage, err := l.Usages()
	if err != nil {
		return nil, err
	}
	var out []Curated
	for _, it := range items {
		u := usage[it.meta.Name]
		if it.source != hermes.SkillUser || !u.Agent {
			continue
		}
		cu := Curated{Name: it.meta.Name, Usage: u, Idle: l.cfg.Now().Sub(u.Last()), Fate: "active"}
		switch {
		case u.Pinned:
			cu.Fate = "pinned"
		case u.Harms >= 3 && u.Harms > u.Wins:
			cu.Fate = "harmful"
		case cu.Idle >= c.ArchiveAfter:
			cu.Fate = "archive"
		case cu.Idle >= c.StaleAfter:
			cu.Fate = "stale"
		}
		out = append(out, cu)
	}
	return out, nil
}

// Curate archives what is long unused or has done more harm than good. It
// never deletes. dry only tells.
func (l *Library) Curate(ctx context.Context, c Curation, dry bool) (archived []Curated, err error) {
	all, err := l.Survey(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, cu := range all {
		if cu.Fate == "archive" || cu.Fate == "harmful" {
			archived = append(archived, cu)
		}
	}
	if dry {
		return archived, nil
	}
	if len(archived) > 0 && c.Backups > 0 {
		if _, err := l.Backup(c.Backups); err != nil {
			return nil, err
		}
	}
	for _, cu := range archived {
		why := "unused for " + days(cu.Idle)
		if cu.Fate == "harmful" {
			why = fmt.Sprintf("it misled %d times and helped %d times", cu.Usage.Harms, cu.Usage.Wins)
		}
		if err := l.Archive(ctx, cu.Name, why); err != nil {
			return nil, err
		}
	}
	return archived, l.writeCuratorState(ctx, func(s *CuratorState) { s.LastRun = l.cfg.Now().UTC(); s.Archived = len(archived) })
}

func days(d time.Duration) string { return fmt.Sprintf("%d days", int(d.Hours()/24)) }

// CuratorState is when the curator last worked, and whether it is paused.
type CuratorState struct {
	LastRun  time.Time `json:"last_run,omitzero"`
	Archived int       `json:"archived"`
	Paused   bool      `json:"paused,omitempty"`
}

func (l *Library) curatorFile() string { return filepath.Join(l.cfg.Home.Skills(), ".curator.json") }

// Curator is the state of the curator.
func (l *Library) Curator() (CuratorState, error) {
	var s CuratorState
	raw, err := os.ReadFile(l.curatorFile())
	if os.IsNotExist(err) {
		return s, nil
	}
	return s, errors.Join(err, json.Unmarshal(raw, &s))
}

// PauseCurator keeps the curator from working by itself.
func (l *Library) PauseCurator(ctx context.Context, on bool) error {
	return l.writeCuratorState(ctx, func(s *CuratorState) { s.Paused = on })
}

// CuratorDue reports that the curator should work now. The first time it waits
// for one interval.
func (l *Library) CuratorDue(ctx context.Context, every time.Duration) (bool, error) {
	s, err := l.Curator()
	if err != nil || s.Paused {
		return false, err
	}
	if s.LastRun.IsZero() {
		return false, l.writeCuratorState(ctx, func(s *CuratorState) { s.LastRun = l.cfg.Now().UTC() })
	}
	return l.cfg.Now().Sub(s.LastRun) >= every, nil
}

func (l *Library) writeCuratorState(ctx context.Context, change func(*CuratorState)) error {
	return l.changeJSON(ctx, l.curatorFile(), func(raw []byte) (any, error) {
		var s CuratorState
		_ = json.Unmarshal(raw, &s) // a broken state begins anew
		change(&s)
		return s, nil
	})
}

func (l *Library) backupFolder() string {
	return filepath.Join(l.cfg.Home.Skills(), ".curator_backups")
}

// Backup writes all skills of the home into an archive and keeps so many.
func (l *Library) Backup(keep int) (path string, err error) {
	if err := l.cfg.Home.Make(l.backupFolder()); err != nil {
		return "", err
	}
	path = filepath.Join(l.backupFolder(), l.cfg.Now().UTC().Format("20060102-150405")+".tar.gz")
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

// Backups lists the archives by their time, newest first.
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

// Rollback brings the files of a backup back, the newest if id is empty. What
// was made since stays; what stands now is backed up first.
func (l *Library) Rollback(ctx context.Context, id string) (string, error) {
	all, err := l.Backups()
	if err != nil {
		return "", err
	}
	if id == "" && len(all) > 0 {
		id = all[0]
	}
	if !slices.Contains(all, id) {
		return "", fmt.Errorf("there is no backup %q; `hermes curator rollback --list` shows them", id)
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
	return id, l.unpack(f)
}

func (l *Library) unpack(r io.Reader) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return fmt.Errorf("the backup is broken: %w", err)
	}
	root, err := os.OpenRoot(l.cfg.Home.Skills())
	if err != nil {
		return err
	}
	defer root.Close()
	t := tar.NewReader(z)
	for {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the backup is broken: %w", err)
		}
		if h.Typeflag != tar.TypeReg || h.Size > maxFile*4 {
			continue
		}
		raw, err := io.ReadAll(io.LimitReader(t, h.Size))
		if err != nil {
			return fmt.Errorf("the backup is broken: %w", err)
		}
		if err := rootWrite(root, h.Name, raw); err != nil {
			return err
		}
	}
}
