package confine

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/gitguard"
)

// guard remembers what git and tools obey in the workspace, before a command. What was
// changed while nothing ran inside is the user's doing. Call it with the lock held.
func (w *Walls) guard() error {
	if w.guarding && (w.running > 0 || w.unsettled || w.busy()) {
		return nil
	}
	if !w.guarding {
		first, err := gitguard.UserOf(w.program.config.Home, w.config.Environ).Watch(w.config.Workspace)
		if err == nil {
			w.before, w.guarding = first, true
		}
		return err
	}
	next, err := w.before.Next()
	if err != nil {
		w.before.Close()
		w.guarding = false
		return err
	}
	w.before = next
	return nil
}

// outdated reports whether a place would show a file with secrets that the user made since
// its walls were planned. Call it with the lock held.
func (w *Walls) outdated(at *place) bool {
	return slices.ContainsFunc(w.before.Found.Env, func(rel string) bool { return !slices.Contains(at.plan.Found.Env, rel) && !w.made[rel] })
}

// busy reports whether processes of earlier commands may still run.
func (w *Walls) busy() bool {
	for _, at := range w.places {
		if !at.keeper.Empty() {
			return true
		}
	}
	return false
}

// maxRounds bounds how often files are looked at again after some were restored.
const maxRounds = 4

// changes looks at what a command changed of the files that git and the user's tools
// obey. Harmless settings stay; the rest is restored and reported. Call it with the lock
// held.
func (v *visit) changes() []hermes.Refusal {
	w := v.walls
	now, err := w.before.Again()
	if err != nil {
		return nil // the workspace is gone
	}
	for _, rel := range now.Found.Env {
		if !slices.Contains(w.before.Found.Env, rel) {
			w.made[rel] = true
		}
	}
	watched := func(c gitguard.Change) bool {
		return w.watched(c, v.place.plan.Policy.Layer, v.allowed) && !c.Usual()
	}
	changed := now.Compare(w.before)
	if len(changed) > 0 {
		for _, at := range w.places {
			w.lose(at)
		}
	}
	if !slices.ContainsFunc(changed, watched) {
		w.before, w.unsettled = now, false
		return nil
	}
	// Nothing may change them again while they are looked at.
	thaw, err := v.freezeLocked()
	if err != nil {
		return []hermes.Refusal{{Kind: hermes.RefusedChange, Name: w.config.Workspace, Note: err.Error()}}
	}
	defer thaw()
	for _, at := range w.places { // they do not protect what is new
		at.stale = true
	}
	return w.settle(watched)
}

// settle restores what was changed and is watched. What follows is compared with what was
// accepted, and not with what is there afterwards: something may have run all the same.
func (w *Walls) settle(watched func(gitguard.Change) bool) (out []hermes.Refusal) {
	for range maxRounds {
		now, err := w.before.Again()
		if err != nil {
			return out
		}
		if r := movedBack(now.Compare(w.before), watched); r != nil {
			out = append(out, r...) // what is in it is judged where it was
			continue
		}
		var born []string // repositories that were not there before
		var undone []gitguard.Change
		for _, c := range now.Compare(w.before) { // folders come before what is in them
			if c.Event == gitguard.NewRepository {
				born = append(born, c.Path)
			}
			if !watched(c) || ordinary(c, born) {
				continue
			}
			r, done := judge(c)
			if out = append(out, r...); done {
				undone = append(undone, c)
			}
		}
		w.before, w.unsettled = now.Undo(undone), false
		if len(undone) == 0 {
			break
		}
	}
	return out
}

// movedBack restores git's own folders that are gone. Nothing else is judged before: what
// was in them is not deleted, and where they are now is no new repository.
func movedBack(changes []gitguard.Change, watched func(gitguard.Change) bool) (out []hermes.Refusal) {
	for _, c := range changes {
		if c.Class != gitguard.GitFolder || c.Event != gitguard.Removed || !watched(c) {
			continue
		}
		if r, undone := judge(c); undone {
			out = append(out, r...)
		}
	}
	return out
}

// watched reports whether a change may be that of a program inside. In layer A, what was
// mounted read-only in all walls of the session can only have been changed by the user,
// unless it has a second name, or was replaced outside, which takes the mount away.
func (w *Walls) watched(c gitguard.Change, l sandbox.Layer, allowed []string) bool {
	if slices.ContainsFunc(allowed, func(g string) bool { return below(c.Path, g) }) {
		return false
	}
	return l != sandbox.A || c.Shared() || !slices.ContainsFunc(w.kept, func(path string) bool { return below(c.Path, path) && !slices.Contains(w.lost, path) })
}

// keep remembers what new walls protect: only what all did was never open to a program
// inside, which may still have it open.
func (w *Walls) keep(protected []string) {
	if !w.built {
		w.built, w.kept = true, slices.Clone(protected)
		return
	}
	in := func(list []string) func(string) bool {
		return func(path string) bool {
			return slices.ContainsFunc(list, func(f string) bool { return below(path, f) })
		}
	}
	before, now := in(w.kept), in(protected)
	var both []string
	for _, path := range w.kept {
		if now(path) {
			both = append(both, path)
		}
	}
	for _, path := range protected {
		if before(path) {
			both = append(both, path)
		}
	}
	slices.Sort(both)
	w.kept = slices.Compact(both)
}

// leave looks once more when a session ends while programs ran: no command comes after
// it that would find what they changed. Call it with the lock held, and nothing inside.
func (w *Walls) leave(all []*place) {
	var allowed []string
	for _, at := range all {
		allowed = append(allowed, at.allowed...)
	}
	for _, r := range w.settle(func(c gitguard.Change) bool { return w.watched(c, w.program.State().Layer, allowed) && !c.Usual() }) {
		w.program.config.Log.Warn("a program of the sandbox changed what the user's tools obey", "path", r.Name, "done", r.Note, "session", w.config.Session)
	}
}

func (v *visit) freezeLocked() (func(), error) {
	v.walls.mu.Unlock()
	defer v.walls.mu.Lock()
	return v.walls.freeze()
}

// obeyed says why a file is protected, if nothing more is known.
const obeyed = "the user's own tools run or obey it"

// judge keeps or restores one change, and reports whether it was restored.
func judge(c gitguard.Change) (out []hermes.Refusal, undone bool) {
	name := c.Path
	switch {
	case c.Event == gitguard.NewRepository:
		return []hermes.Refusal{{Kind: hermes.RefusedChange, Name: name, Note: "a new repository; its hooks and settings are protected from now on"}}, false
	case c.Class == gitguard.GitConfig:
		if _, bad := c.Judge(); len(bad) == 0 {
			return nil, false
		}
		dropped, err := gitguard.KeepHarmless(c)
		return []hermes.Refusal{restored(c, err, "git would run or obey "+keys(dropped))}, err == nil
	}
	err := gitguard.Restore(c)
	if c.Class == gitguard.Unseen {
		return []hermes.Refusal{restored(c, err, "it names or holds more than was looked at, and git and other tools may run what that says")}, false
	}
	return []hermes.Refusal{restored(c, err, cmp.Or(c.Why, obeyed))}, err == nil
}

// ordinary reports whether something is what git itself puts into a new repository: its
// folders, and hooks that are examples and never run.
func ordinary(c gitguard.Change, born []string) bool {
	if c.Event != gitguard.Added || !slices.ContainsFunc(born, func(r string) bool { return below(c.Path, r) }) {
		return false
	}
	switch c.Class {
	case gitguard.GitFolder:
		return c.Folder()
	case gitguard.GitHook: // a link in its place would lead to hooks that are not looked at
		return strings.HasSuffix(c.Path, ".sample") || filepath.Base(c.Path) == "hooks" && c.Folder()
	case gitguard.GitRemote:
		return (filepath.Base(c.Path) == "branches" || filepath.Base(c.Path) == "remotes") && c.Folder()
	}
	return false
}

func keys(list []gitguard.Key) string {
	var names []string
	for _, k := range list {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// restored says what became of a change that was to be restored.
func restored(c gitguard.Change, err error, why string) hermes.Refusal {
	r := hermes.Refusal{Kind: hermes.RefusedChange, Name: c.Path}
	switch {
	case err == nil && c.Class == gitguard.GitConfig:
		r.Note = "put back in part: " + why
	case err == nil && c.Event == gitguard.Added:
		r.Note = "removed again: " + why
	case err == nil:
		r.Note = "restored: " + why
	case errors.Is(err, gitguard.ErrKeep):
		r.Note = "NOT restored, tell the user: " + why
	default:
		r.Note = "could not be restored (" + err.Error() + "), tell the user: " + why
	}
	return r
}
