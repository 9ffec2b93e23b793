package confine

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/order"
	"hermes/internal/sandbox/gitguard"
)

// outdated reports whether a place would show a file with secrets that the user made since
// its walls were planned. Call it with the lock held.
func (w *Walls) outdated(at *place) bool {
	return slices.ContainsFunc(w.workspace.before.Found.Env, func(rel string) bool { return !slices.Contains(at.plan.Found.Env, rel) && !w.made[rel] })
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
const maxRounds = 8

// changes looks at what a command changed of the files that git and the user's tools
// obey, in the workspace and the folders of its needs. Harmless settings stay; the rest is
// restored and reported. Call it with the lock held.
func (v *visit) changes() (told refusals) {
	w := v.walls
	before := w.workspace.before.Found.Env
	told = v.changesOf(&w.workspace, v.allowed)
	for _, rel := range w.workspace.before.Found.Env {
		if !slices.Contains(before, rel) {
			w.made[rel] = true
		}
	}
	for _, dir := range v.place.folders {
		if g := w.projects[dir]; g != nil { // else its walls ended meanwhile, and it was looked at then
			told = append(told, v.changesOf(g, g.allowed)...)
		}
	}
	return told
}

// changesOf is changes in one folder. allowed is what the user let commands change.
func (v *visit) changesOf(g *guarded, allowed []string) refusals {
	w := v.walls
	now, err := g.before.Again()
	if err == nil && (!now.Full || g.before.Full) {
		changed := now.Compare(g.before)
		if len(changed) == 0 || !slices.ContainsFunc(changed, w.watched(allowed)) {
			g.before, g.left, g.unsettled = now, nil, false
			return g.tooMuch(now)
		}
	}
	// Nothing may change them again while they are looked at.
	thaw, err := v.freezeLocked()
	if err != nil {
		return g.unlooked(err)
	}
	defer thaw()
	for _, at := range w.places { // they do not protect what is new
		at.stale = true
	}
	return w.settle(g, allowed)
}

// settle restores what was changed and is watched. What follows is compared with what was
// accepted, and not with what is there afterwards: something may have run all the same.
// What could not be restored or looked at is never accepted.
func (w *Walls) settle(g *guarded, allowed []string) (told refusals) {
	for range maxRounds {
		now, err := g.before.Again()
		if errors.Is(err, fs.ErrPermission) && g.before.Reopen() == nil {
			told.add(refusal{hermes.Refusal{Kind: hermes.RefusedChange, Name: g.dir, Note: "opened again: what is in it could not be looked at"}, restoredOnly})
			now, err = g.before.Again()
		}
		if err != nil {
			return append(told, g.unlooked(err)...)
		}
		changes, watched := now.Compare(g.before), w.watched(allowed)
		if told.first(changes, watched) {
			continue // there is more to be seen now
		}
		undone, left, same := told.judge(changes, watched)
		before := now.Undo(slices.Concat(undone, left, same))
		before.Full = g.before.Full // what was not looked at now was not there before
		g.left, g.unsettled = left, now.Full && !before.Full
		g.before = before
		if len(undone) > 0 {
			continue
		}
		if len(left) > 0 { // a restore that failed may have changed something
			after, err := g.before.Again()
			if err != nil {
				return append(told, g.unlooked(err)...)
			}
			g.left = slices.DeleteFunc(after.Compare(g.before), func(c gitguard.Change) bool { return !watched(c) })
		}
		for _, r := range g.tooMuch(now) {
			told.add(r)
		}
		return told
	}
	return append(told, g.unlooked(errors.New("it changed again with each look"))...)
}

// weight says how much it matters that a refusal is read.
type weight int

const (
	tellUser     weight = iota // something may run that the user did not make
	newPlace                   // a repository that is protected from now on
	restoredOnly               // all is as it was
)

type refusal struct {
	hermes.Refusal
	weight weight
}

// refusals are what is told about changes, the last of each path.
type refusals []refusal

// sorted returns those that matter before all else, and the rest. What is cut off a long
// list is not what the user must know.
func (told refusals) sorted() (first, rest []hermes.Refusal) {
	order.By(told, func(a, b refusal) int { return cmp.Compare(a.weight, b.weight) })
	for _, r := range told {
		if r.weight == restoredOnly {
			rest = append(rest, r.Refusal)
			continue
		}
		first = append(first, r.Refusal)
	}
	return first, rest
}

func (told *refusals) add(r refusal) {
	i := slices.IndexFunc(*told, func(t refusal) bool { return t.Name == r.Name })
	if i < 0 {
		*told = append(*told, r)
		return
	}
	(*told)[i] = r
}

// first restores what more is seen after: folders that the user may not look into, else
// git's own folders that are gone. Nothing else is judged before: what was in them is not
// deleted, and where they are now is no new repository.
func (told *refusals) first(changes []gitguard.Change, watched func(gitguard.Change) bool) bool {
	for _, e := range []gitguard.Event{gitguard.Locked, gitguard.Removed} {
		done := false
		for _, c := range changes {
			if c.Event != e || c.Class != gitguard.GitFolder || !watched(c) {
				continue
			}
			if r, end := judge(c); end == undone {
				told.add(*r)
				done = true
			}
		}
		if done {
			return true
		}
	}
	return false
}

// judge judges all changes. It returns those that were restored, that could not be, and
// that are none.
func (told *refusals) judge(changes []gitguard.Change, watched func(gitguard.Change) bool) (done, left, same []gitguard.Change) {
	var born []string           // repositories that were not there before
	for _, c := range changes { // folders come before what is in them
		if c.Event == gitguard.NewRepository {
			born = append(born, c.Path)
		}
		if !watched(c) || ordinary(c, born) {
			continue
		}
		r, end := judge(c)
		if r != nil {
			told.add(*r)
		}
		switch end {
		case undone:
			done = append(done, c)
		case failed:
			left = append(left, c)
		case none:
			same = append(same, c)
		}
	}
	return done, left, same
}

// watched returns what reports whether a change may be that of a program inside, and is
// none that git makes by itself. What is mounted read-only in all places that there were
// since everything was looked at can only have been changed by the user, unless it has a
// second name. Call it after what it judges was read: a mount goes away when what it covers
// is replaced outside.
func (w *Walls) watched(allowed []string) func(gitguard.Change) bool {
	var all []map[string]bool
	for _, at := range w.places {
		all = append(all, at.mounts())
	}
	for _, at := range w.ended {
		all = append(all, at.mounts())
	}
	return func(c gitguard.Change) bool {
		if slices.ContainsFunc(allowed, func(g string) bool { return below(c.Path, g) }) || c.Usual() {
			return false
		}
		return c.Shared() || len(all) == 0 || slices.ContainsFunc(all, func(mounts map[string]bool) bool { return !fixed(mounts, c.Path) })
	}
}

// fixed reports whether the mount that a path is in is read-only.
func fixed(mounts map[string]bool, path string) bool {
	for {
		if readOnly, ok := mounts[path]; ok {
			return readOnly
		}
		if path == filepath.Dir(path) {
			return false
		}
		path = filepath.Dir(path)
	}
}

// leave looks once more at a folder in which programs ran until now: no command comes after
// them that would find what they changed. Call it with the lock held, and nothing inside.
func (w *Walls) leave(g *guarded, allowed []string) {
	if g.on && (g.unsettled || len(g.left) > 0) {
		first, rest := w.settle(g, allowed).sorted()
		for _, r := range append(first, rest...) {
			w.program.config.Log.Warn("a program of the sandbox changed what the user's tools obey", "path", r.Name, "done", r.Note, "session", w.config.Session)
		}
	}
	g.before.Close()
}

func (v *visit) freezeLocked() (func(), error) {
	v.walls.mu.Unlock()
	defer v.walls.mu.Lock()
	return v.walls.freeze()
}

// obeyed says why a file is protected, if nothing more is known.
const obeyed = "the user's own tools run or obey it"

// end is what became of a change.
type end int

const (
	kept   end = iota // it may stay
	undone            // restored
	failed            // not restored, and must be
	none              // there was nothing to restore
)

// judge keeps or restores one change.
func judge(c gitguard.Change) (*refusal, end) {
	why := cmp.Or(c.Why, obeyed)
	var err error
	switch {
	case c.Event == gitguard.NewRepository:
		return &refusal{hermes.Refusal{Kind: hermes.RefusedChange, Name: c.Path, Note: "a new repository; its hooks and settings are protected from now on"}, newPlace}, kept
	case c.Class == gitguard.Unseen:
		why = "it names or holds more than was looked at, and git and other tools may run what that says"
		err = gitguard.Restore(c)
	case c.Event == gitguard.Locked:
		why = "what is in it could not be looked at"
		err = gitguard.Restore(c)
	case c.Class == gitguard.GitConfig:
		_, bad := c.Judge()
		if len(bad) == 0 {
			return nil, kept
		}
		bad, err = gitguard.KeepHarmless(c)
		why = "git would run or obey " + cmp.Or(keys(bad), "it")
	default:
		err = gitguard.Restore(c)
	}
	switch {
	case errors.Is(err, gitguard.ErrAsBefore):
		return nil, none
	case errors.Is(err, gitguard.ErrGone) || errors.Is(err, gitguard.ErrUnknown): // telling it again would not help
		return restored(c, err, why), kept
	case err != nil:
		return restored(c, err, why), failed
	}
	return restored(c, nil, why), undone
}

// ordinary reports whether something is what git itself puts into a new repository: its
// folders, and hooks that are examples and never run. A link is neither: it would lead to
// what is not looked at.
func ordinary(c gitguard.Change, born []string) bool {
	if c.Event != gitguard.Added || !slices.ContainsFunc(born, func(r string) bool { return below(c.Path, r) }) {
		return false
	}
	name := filepath.Base(c.Path)
	switch c.Class {
	case gitguard.GitFolder:
		return c.Folder()
	case gitguard.GitHook:
		return strings.HasSuffix(name, ".sample") && c.File() || name == "hooks" && c.Folder()
	case gitguard.GitRemote:
		return (name == "branches" || name == "remotes") && c.Folder()
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
func restored(c gitguard.Change, err error, why string) *refusal {
	r := &refusal{hermes.Refusal{Kind: hermes.RefusedChange, Name: c.Path}, tellUser}
	if err == nil {
		r.weight = restoredOnly
	}
	switch {
	case err == nil && c.Event == gitguard.Locked:
		r.Note = "opened again: " + why
	case err == nil && c.Class == gitguard.GitConfig:
		r.Note = "put back in part: " + why
	case err == nil && c.Event == gitguard.Added:
		r.Note = "removed again: " + why
	case err == nil:
		r.Note = "restored: " + why
	case errors.Is(err, gitguard.ErrKeep):
		r.Note = "NOT restored, tell the user: " + why
	default:
		r.Note = "could not be restored, tell the user: " + why + " (" + err.Error() + ")"
	}
	return r
}
