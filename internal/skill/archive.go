package skill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/internal/order"

	"hermes"
)

// Archived is a skill in the archive, which can be restored.
type Archived struct {
	Name     string    `json:"name"`
	Category string    `json:"category,omitempty"`
	Why      string    `json:"why"`
	At       time.Time `json:"at"`
	Folder   string    `json:"-"`
}

const (
	archiveNote  = ".archived.json"
	archiveStamp = "20060102-150405.000"
)

func (l *Library) archiveFolder() string { return filepath.Join(l.cfg.Home.Skills(), ".archive") }

// archive moves a skill's folder to the archive. The caller holds the exclusive
// lock.
func (l *Library) archive(it item, why string) (string, error) {
	now := l.cfg.Now().UTC()
	if err := l.cfg.Home.Make(l.archiveFolder()); err != nil {
		return "", err
	}
	to := filepath.Join(l.archiveFolder(), it.meta.Name+"@"+now.Format(archiveStamp))
	if st, err := os.Lstat(it.folder); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		return it.folder, os.Remove(it.folder) // only the link is removed, not its target
	}
	note, err := json.Marshal(Archived{Name: it.meta.Name, Category: it.category, Why: why, At: now})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(it.folder, archiveNote), note, 0o600); err != nil {
		return "", fmt.Errorf("archive the skill %q: %w", it.meta.Name, err)
	}
	if err := os.Rename(it.folder, to); err != nil {
		_ = os.Remove(filepath.Join(it.folder, archiveNote))
		return "", fmt.Errorf("archive the skill %q: %w", it.meta.Name, err)
	}
	if above := filepath.Dir(it.folder); above != l.cfg.Home.Skills() && above != l.cfg.CreateDir {
		_ = os.Remove(above) // succeeds only if the category is empty now
	}
	return to, nil
}

// Archive moves one of the user's own skills to the archive.
func (l *Library) Archive(ctx context.Context, name, why string) error {
	return l.archiveBy(ctx, "person", name, why)
}

func (l *Library) archiveBy(ctx context.Context, by, name, why string) error {
	it, err := l.find(ctx, name)
	if err != nil {
		return err
	}
	if it.source != hermes.SkillUser {
		return fmt.Errorf("%q is a %s skill; only skills made here can be archived", name, it.source)
	}
	done, err := l.exclusive(ctx)
	if err != nil {
		return err
	}
	defer done()
	return l.cfg.Record(ctx, by, "archive the skill "+name, []string{it.folder}, func() error {
		_, err := l.archive(it, why)
		return err
	})
}

// ListArchived lists the archived skills, newest first.
func (l *Library) ListArchived() ([]Archived, error) {
	entries, err := os.ReadDir(l.archiveFolder())
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Archived
	for _, e := range entries {
		name, at, ok := strings.Cut(e.Name(), "@")
		if !ok || !e.IsDir() {
			continue
		}
		a := Archived{Name: name}
		a.At, _ = time.Parse(archiveStamp, at) // the note is more precise
		folder := filepath.Join(l.archiveFolder(), e.Name())
		if raw, err := os.ReadFile(filepath.Join(folder, archiveNote)); err == nil {
			_ = json.Unmarshal(raw, &a) // without a valid note the name is enough
		}
		a.Name, a.Folder = name, folder
		out = append(out, a)
	}
	order.By(out, func(a, b Archived) int { return b.At.Compare(a.At) })
	return out, nil
}

// Restore restores the newest archived skill of a name.
func (l *Library) Restore(ctx context.Context, name string) error {
	all, err := l.ListArchived()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(a Archived) bool { return a.Name == name })
	if at < 0 {
		return fmt.Errorf("there is no archived skill %q; list them with `hermes curator list-archived`: %w", name, hermes.ErrNotFound)
	}
	a := all[at]
	if err := errors.Join(CheckName(a.Name), CheckCategory(a.Category)); err != nil {
		return err
	}
	if it, err := l.find(ctx, name); err == nil && it.bundled == nil {
		return fmt.Errorf("there is already a %s skill %q; delete or rename it first", it.source, name)
	}
	done, err := l.exclusive(ctx)
	if err != nil {
		return err
	}
	defer done()
	to := l.inCategory(a.Category, a.Name)
	if err := errors.Join(l.placeable(to), vacant(to)); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.Rename(a.Folder, to); err != nil {
		return err
	}
	_ = os.Remove(filepath.Join(to, archiveNote)) // hidden: not part of the skill
	return l.changeUsage(ctx, name, func(u *Usage) { u.Changed = l.cfg.Now().UTC() })
}

// overdue lists the skills that were archived longer than ttl ago; with a ttl of
// 0 none is overdue.
func (l *Library) overdue(ttl time.Duration) ([]Archived, error) {
	if ttl <= 0 {
		return nil, nil
	}
	all, err := l.ListArchived()
	now := l.cfg.Now()
	return slices.DeleteFunc(all, func(a Archived) bool { return a.At.IsZero() || now.Sub(a.At) < ttl }), err
}

// Purge deletes archived skills older than a time (0: of any age), of the given
// names or of all. With dry it deletes nothing. It returns what it deletes.
func (l *Library) Purge(ctx context.Context, older time.Duration, names []string, dry bool) ([]Archived, error) {
	all, err := l.ListArchived()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(a Archived) bool { return a.Name == name }) {
			return nil, fmt.Errorf("there is no archived skill %q; list them with `hermes curator list-archived`: %w", name, hermes.ErrNotFound)
		}
	}
	now := l.cfg.Now()
	all = slices.DeleteFunc(all, func(a Archived) bool {
		return len(names) > 0 && !slices.Contains(names, a.Name) || older > 0 && (a.At.IsZero() || now.Sub(a.At) < older)
	})
	if dry {
		return all, nil
	}
	return all, l.purge(ctx, "person", all)
}

// purge deletes archived skills. Each can be restored while the undo journal
// keeps the change.
func (l *Library) purge(ctx context.Context, by string, list []Archived) error {
	if len(list) == 0 {
		return nil
	}
	done, err := l.exclusive(ctx)
	if err != nil {
		return err
	}
	defer done()
	for _, a := range list {
		err := l.cfg.Record(ctx, by, "delete the archived skill "+a.Name, []string{a.Folder}, func() error { return os.RemoveAll(a.Folder) })
		if err != nil {
			return fmt.Errorf("delete the archived skill %q: %w", a.Name, err)
		}
	}
	return nil
}
