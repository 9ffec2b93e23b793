package skill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes"
)

// Remove takes a file of a skill away, or the whole skill to the archive.
func (l *Library) Remove(ctx context.Context, r hermes.SkillRemoval) (hermes.SkillOutcome, error) {
	r.File = normalFile(r.File)
	it, err := l.find(ctx, r.Name)
	if err != nil {
		return hermes.SkillOutcome{}, err
	}
	if err := l.removable(it, r); err != nil {
		return hermes.SkillOutcome{}, err
	}
	if r.Stage || r.Agent && l.waits(it) {
		r.Stage = false
		id, err := l.stage(Pending{Removal: &r})
		return hermes.SkillOutcome{Staged: id}, err
	}
	return l.takeAway(ctx, r, it)
}

func (l *Library) removable(it item, r hermes.SkillRemoval) error {
	if err := it.writable(); err != nil {
		return err
	}
	if it.bundled != nil {
		return fmt.Errorf("the skill %q is part of the program; the person can switch it off with: hermes skills config disable %s", it.meta.Name, it.meta.Name)
	}
	if r.File != "" {
		return CheckFile(r.File)
	}
	return nil
}

func (l *Library) takeAway(ctx context.Context, r hermes.SkillRemoval, it item) (hermes.SkillOutcome, error) {
	done, err := l.exclusive(ctx)
	if err != nil {
		return hermes.SkillOutcome{}, err
	}
	defer done()
	var out hermes.SkillOutcome
	err = l.cfg.Around(ctx, actor(r.Agent, r.Session), Pending{Removal: &r}.What(), []string{it.folder, l.lockFile()}, func() (err error) {
		out.Path, err = l.takeAwayNow(ctx, r, it)
		return err
	})
	return out, err
}

func (l *Library) takeAwayNow(ctx context.Context, r hermes.SkillRemoval, it item) (string, error) {
	if r.File != "" {
		return l.removeFile(it, r.File)
	}
	at, err := l.archive(it, "removed")
	if err != nil || it.source != hermes.SkillHub {
		return at, err
	}
	return at, l.changeLock(ctx, func(k *Lock) error { delete(k.Skills, it.meta.Name); return nil })
}

func (l *Library) removeFile(it item, file string) (string, error) {
	root, err := os.OpenRoot(it.folder)
	if err != nil {
		return "", err
	}
	defer root.Close()
	_, err = root.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the skill %q has no file %q; it has: %s: %w", it.meta.Name, file, offered(contents(root.FS())), hermes.ErrNotFound)
	}
	if err != nil {
		return "", err
	}
	if err := root.Remove(file); err != nil {
		return "", err
	}
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if root.Remove(dir) != nil { // it still holds something
			break
		}
	}
	return filepath.Join(it.folder, filepath.FromSlash(file)), nil
}

// Archived is a skill that was taken away and can come back.
type Archived struct {
	Name     string    `json:"name"`
	Category string    `json:"category,omitempty"`
	Why      string    `json:"why"`
	At       time.Time `json:"at"`
	Folder   string    `json:"-"`
}

const archiveNote = ".archived.json"

func (l *Library) archiveFolder() string { return filepath.Join(l.cfg.Home.Skills(), ".archive") }

// archive moves a skill's folder away. Hold the exclusive lock.
func (l *Library) archive(it item, why string) (string, error) {
	now := l.cfg.Now().UTC()
	if err := l.cfg.Home.Make(l.archiveFolder()); err != nil {
		return "", err
	}
	to := filepath.Join(l.archiveFolder(), it.meta.Name+"@"+now.Format("20060102-150405.000"))
	if st, err := os.Lstat(it.folder); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		return it.folder, os.Remove(it.folder) // the link goes, what it points at stays
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
	_ = os.Remove(filepath.Dir(it.folder)) // a category that is empty now; else it stays
	return to, nil
}

// Archive takes a skill of the person's own out of sight.
func (l *Library) Archive(ctx context.Context, name, why string) error {
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
	return l.cfg.Around(ctx, "person", "archive the skill "+name, []string{it.folder}, func() error {
		_, err := l.archive(it, why)
		return err
	})
}

// ListArchived lists what can be restored, newest first.
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
		name, _, ok := strings.Cut(e.Name(), "@")
		if !ok || !e.IsDir() {
			continue
		}
		a := Archived{Name: name}
		folder := filepath.Join(l.archiveFolder(), e.Name())
		if raw, err := os.ReadFile(filepath.Join(folder, archiveNote)); err == nil {
			_ = json.Unmarshal(raw, &a) // a note that is broken leaves the name
		}
		a.Name, a.Folder = name, folder
		out = append(out, a)
	}
	slices.SortStableFunc(out, func(a, b Archived) int { return b.At.Compare(a.At) })
	return out, nil
}

// Restore brings the newest archived skill of a name back.
func (l *Library) Restore(ctx context.Context, name string) error {
	all, err := l.ListArchived()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(a Archived) bool { return a.Name == name })
	if at < 0 {
		return fmt.Errorf("no skill %q is archived; `hermes curator list-archived` shows them: %w", name, hermes.ErrNotFound)
	}
	a := all[at]
	if err := errors.Join(CheckName(a.Name), CheckCategory(a.Category)); err != nil {
		return err
	}
	if it, err := l.find(ctx, name); err == nil && it.bundled == nil {
		return fmt.Errorf("there is a %s skill %q again; remove or rename it first", it.source, name)
	}
	done, err := l.exclusive(ctx)
	if err != nil {
		return err
	}
	defer done()
	to := filepath.Join(l.cfg.Home.Skills(), a.Category, a.Name)
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("the folder %s is in the way; move it first", to)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if err := os.Rename(a.Folder, to); err != nil {
		return err
	}
	_ = os.Remove(filepath.Join(to, archiveNote)) // hidden: no part of the skill
	return l.changeUsage(ctx, name, func(u *Usage) { u.Changed = l.cfg.Now().UTC() })
}
