package confine

import (
	"errors"
	"io/fs"
	"maps"
	"slices"

	"hermes"
	"hermes/internal/sandbox/gitguard"
)

// guarded is a folder in which what git and the user's tools run or obey is compared after
// each command, and restored: the workspace, and folders that needs opened.
type guarded struct {
	dir    string
	before gitguard.Snapshot // as it was accepted
	on     bool              // before is set
	left   []gitguard.Change // what could not be restored, and is tried again
	told   bool              // that it has too much to be guarded
	// unsettled says that programs may have changed something that was not looked at yet:
	// one ran on, its keeper ended meanwhile, or there was too much.
	unsettled bool
	allowed   []string // what needs opened of it
}

// guard remembers what git and tools obey in a folder, before a command. What was
// changed while nothing ran inside is the user's doing; what could not be restored is not,
// as long as it is there. Call it with the lock held.
func (w *Walls) guard(g *guarded) error {
	if g.on && (w.running > 0 || g.unsettled || w.busy()) {
		return nil
	}
	if !g.on {
		first, err := gitguard.UserOf(w.program.config.Home, w.config.Environ).Watch(g.dir)
		if err == nil {
			g.before, g.on, g.left = first, true, nil
		}
		return err
	}
	err := g.next()
	if errors.Is(err, fs.ErrNotExist) { // it is gone: another one may take its place
		g.before.Close()
		g.on = false
	}
	return err
}

// next accepts what is there now, except for what could not be restored.
func (g *guarded) next() error {
	next, err := g.before.Next()
	if err != nil {
		return err
	}
	g.left = slices.DeleteFunc(g.left, func(c gitguard.Change) bool { return !next.Shows(c) })
	g.before = next.Undo(g.left)
	return nil
}

// allGuarded lists what is guarded.
func (w *Walls) allGuarded() []*guarded {
	return append(slices.Collect(maps.Values(w.projects)), &w.workspace)
}

// doubt says that programs may have changed something that is not looked at now.
func (w *Walls) doubt() {
	for _, g := range w.allGuarded() {
		g.unsettled = true
	}
}

// forget drops places that ended, if all that was changed in them was looked at and is over.
func (w *Walls) forget() {
	if !slices.ContainsFunc(w.allGuarded(), func(g *guarded) bool { return g.unsettled || len(g.left) > 0 }) {
		w.ended = nil
	}
}

// unlooked says that changes were not looked at. They are with the next command.
func (g *guarded) unlooked(why error) refusals {
	g.unsettled = true
	return refusals{{hermes.Refusal{Kind: hermes.RefusedChange, Name: g.dir, Note: "what git and the user's tools obey could not be looked at, tell the user (" + why.Error() + ")"}, tellUser}}
}

// tooMuch says that a snapshot is not of everything: once if the folder is like that,
// each time if programs made it so.
func (g *guarded) tooMuch(now gitguard.Snapshot) refusals {
	was := g.told
	g.told = now.Full
	if !now.Full || was && !g.unsettled {
		return nil
	}
	return refusals{{hermes.Refusal{Kind: hermes.RefusedChange, Name: g.dir, Note: "it has too much to be guarded, tell the user: not all that git and other tools run was looked at"}, tellUser}}
}

// foldersOf lists the folders outside of the workspace that a key allows to write.
func (w *Walls) foldersOf(k key) []string {
	return slices.DeleteFunc(grantsOf(k).Write, func(g string) bool { return !isFolder(g) || below(g, w.config.Workspace) })
}

// openProjects remembers the folders that new walls open. Call it with the lock held.
func (w *Walls) openProjects(at *place) {
	for _, dir := range at.folders {
		p := w.projects[dir]
		if p == nil {
			p = &guarded{dir: dir}
			w.projects[dir] = p
		}
		p.allowed = append(p.allowed, at.allowed...)
	}
}

// leaveProjects forgets the folders that no place opens any more, so that what changes there
// later is the user's doing. Call it with the lock held.
func (w *Walls) leaveProjects() {
	for dir, p := range w.projects {
		if slices.ContainsFunc(slices.Collect(maps.Values(w.places)), func(at *place) bool { return slices.Contains(at.folders, dir) }) {
			continue
		}
		delete(w.projects, dir)
		w.leave(p, p.allowed)
	}
}
