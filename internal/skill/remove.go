package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"hermes"
)

// Remove deletes a file of a skill, or moves the whole skill to the archive.
func (l *Library) Remove(ctx context.Context, r hermes.SkillRemoval) (hermes.SkillOutcome, error) {
	if err := checkRemoval(&r); err != nil {
		return hermes.SkillOutcome{}, err
	}
	it, err := l.find(ctx, r.Name)
	if err != nil {
		return hermes.SkillOutcome{}, err
	}
	if err := l.removable(it, r); err != nil {
		return hermes.SkillOutcome{}, err
	}
	if r.Propose || r.Agent && l.waits(it) {
		r.Propose = false
		id, err := l.savePending(Pending{Removal: &r})
		return hermes.SkillOutcome{Pending: id}, err
	}
	return l.remove(ctx, r, it)
}

// checkRemoval refuses to remove the file that is the skill itself: only a
// removal that names no file removes the skill.
func checkRemoval(r *hermes.SkillRemoval) error {
	if r.File == "" {
		return nil
	}
	file := normalFile(r.File)
	if file == "" {
		return fmt.Errorf("%s is the skill %q itself and cannot be removed alone; to remove the whole skill, delete it", mainFile, r.Name)
	}
	r.File = file
	return CheckFile(file)
}

func (l *Library) removable(it item, r hermes.SkillRemoval) error {
	if err := it.writable(); err != nil {
		return err
	}
	if it.bundled != nil {
		return fmt.Errorf("the skill %q is built in; the user can disable it with: hermes skills config disable %s", it.meta.Name, it.meta.Name)
	}
	if r.File != "" {
		return CheckFile(r.File)
	}
	return nil
}

func (l *Library) remove(ctx context.Context, r hermes.SkillRemoval, it item) (hermes.SkillOutcome, error) {
	done, err := l.exclusive(ctx)
	if err != nil {
		return hermes.SkillOutcome{}, err
	}
	defer done()
	var out hermes.SkillOutcome
	err = l.cfg.Record(ctx, actor(r.Agent, r.Session), Pending{Removal: &r}.What(), []string{it.folder, l.lockFile()}, func() (err error) {
		out.Path, err = l.removeNow(ctx, r, it)
		return err
	})
	return out, err
}

func (l *Library) removeNow(ctx context.Context, r hermes.SkillRemoval, it item) (string, error) {
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
	if err := sameFile(root, file); err != nil {
		return "", err
	}
	st, err := root.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the skill %q has no file %q; it has: %s: %w", it.meta.Name, file, offered(contents(root.FS())), hermes.ErrNotFound)
	}
	if err != nil {
		return "", err
	}
	if st.IsDir() {
		return "", fmt.Errorf("%s of the skill %q is a folder; name the file to remove: %s", file, it.meta.Name, offered(contents(root.FS())))
	}
	if err := root.Remove(file); err != nil {
		return "", err
	}
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if root.Remove(dir) != nil { // it is not empty
			break
		}
	}
	return filepath.Join(it.folder, filepath.FromSlash(file)), nil
}
