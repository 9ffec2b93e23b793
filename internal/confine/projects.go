package confine

import (
	"maps"
	"slices"

	"hermes/internal/sandbox/gitguard"
)

// project is a folder outside of the workspace that a need allows to write. What git and
// the user's tools run or obey in it is guarded as in the workspace.
type project struct {
	before  gitguard.Snapshot
	guarded bool              // before is set
	left    []gitguard.Change // what could not be restored
	allowed []string          // what needs opened of it
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
			p = &project{}
			w.projects[dir] = p
		}
		p.allowed = append(p.allowed, at.allowed...)
	}
}

// guardProjects remembers what is in the folders of a place before a command. Call it with
// the lock held.
func (w *Walls) guardProjects(at *place) error {
	for _, dir := range at.folders {
		p := w.projects[dir]
		if p.guarded && (w.running > 0 || w.unsettled || w.busy()) {
			continue
		}
		s, err := gitguard.UserOf(w.program.config.Home, w.config.Environ).Take(dir)
		if err != nil {
			return err
		}
		p.before, p.guarded = s, true
	}
	return nil
}

// changesOfProjects looks at what a command changed in the folders of its place. Call it with the
// lock held.
func (v *visit) changesOfProjects() (out refusals) {
	w := v.walls
	for _, dir := range v.place.folders {
		p := w.projects[dir]
		if p == nil { // its walls ended meanwhile, and it was looked at then
			continue
		}
		now, err := p.before.Again()
		if err == nil && !now.Full && !slices.ContainsFunc(now.Compare(p.before), w.watched(p.allowed)) {
			p.before, p.left = now, nil
			continue
		}
		thaw, err := v.freezeLocked()
		if err != nil {
			out = append(out, w.unlooked(err)...)
			continue
		}
		for _, at := range w.places { // they do not protect what is new
			at.stale = at.stale || slices.Contains(at.folders, dir)
		}
		out = append(out, w.settleIn(p)...)
		thaw()
	}
	return out
}

// settleIn is settle for another folder.
func (w *Walls) settleIn(p *project) refusals {
	before, left, told, ended, unsettled := w.before, w.left, w.told, w.ended, w.unsettled
	w.before, w.left = p.before, p.left
	out := w.settle(p.allowed)
	p.before, p.left = w.before, w.left
	w.before, w.left, w.told, w.ended = before, left, told, ended
	w.unsettled = w.unsettled || unsettled
	return out
}

// leaveProjects forgets the folders that no place opens any more, so that what changes there
// later is the user's doing. Call it with the lock held.
func (w *Walls) leaveProjects() {
	for dir, p := range w.projects {
		if slices.ContainsFunc(slices.Collect(maps.Values(w.places)), func(at *place) bool { return slices.Contains(at.folders, dir) }) {
			continue
		}
		delete(w.projects, dir)
		if !p.guarded || !w.unsettled {
			continue
		}
		first, rest := w.settleIn(p).sorted()
		for _, r := range append(first, rest...) {
			w.program.config.Log.Warn("a program of the sandbox changed what the user's tools obey", "path", r.Name, "done", r.Note, "session", w.config.Session)
		}
	}
}
