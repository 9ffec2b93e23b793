package confine

import (
	"maps"
	"slices"

	"hermes"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/gitguard"
)

// project is a folder outside of the workspace that a need allows to write. What git and
// the user's tools run or obey in it is guarded as in the workspace.
type project struct {
	before  gitguard.Snapshot
	guarded bool     // before is set
	built   bool     // kept is set
	kept    []string // what all walls protected that could write it
	allowed []string // what needs opened of it
}

// foldersOf lists the folders outside of the workspace that a key allows to write.
func (w *Walls) foldersOf(k key) []string {
	return slices.DeleteFunc(grantsOf(k).Write, func(g string) bool { return !isFolder(g) || below(g, w.config.Workspace) })
}

// keepProjects remembers what new walls protect in the folders that they open. Call it with
// the lock held.
func (w *Walls) keepProjects(at *place) {
	for _, dir := range at.folders {
		p := w.projects[dir]
		if p == nil {
			p = &project{}
			w.projects[dir] = p
		}
		protected := slices.DeleteFunc(slices.Clone(at.plan.Policy.Protected), func(path string) bool { return !below(path, dir) })
		if p.built {
			protected = slices.DeleteFunc(protected, func(path string) bool { return !slices.Contains(p.kept, path) })
		}
		p.kept, p.built = protected, true
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
func (v *visit) changesOfProjects() (out []hermes.Refusal) {
	w := v.walls
	for _, dir := range v.place.folders {
		p := w.projects[dir]
		if p == nil { // the place ended by itself, and was looked at then
			continue
		}
		watched := func(c gitguard.Change) bool {
			return w.watchedIn(p, c, v.place.plan.Policy.Layer)
		}
		now, err := p.before.Again()
		if err != nil {
			continue // the folder is gone
		}
		if !slices.ContainsFunc(now.Compare(p.before), watched) {
			p.before = now
			continue
		}
		thaw, err := v.freezeLocked()
		if err != nil {
			out = append(out, hermes.Refusal{Kind: hermes.RefusedChange, Name: dir, Note: err.Error()})
			continue
		}
		for _, at := range w.places { // they do not protect what is new
			at.stale = at.stale || slices.Contains(at.folders, dir)
		}
		out = append(out, w.settleIn(p, watched)...)
		thaw()
	}
	return out
}

// settleIn is settle for another folder.
func (w *Walls) settleIn(p *project, watched func(gitguard.Change) bool) []hermes.Refusal {
	workspace, unsettled := w.before, w.unsettled
	w.before = p.before
	out := w.settle(watched)
	p.before = w.before
	w.before, w.unsettled = workspace, unsettled
	return out
}

// watchedIn is watched for another folder.
func (w *Walls) watchedIn(p *project, c gitguard.Change, l sandbox.Layer) bool {
	in := func(path string) bool { return below(c.Path, path) }
	if c.Usual() || slices.ContainsFunc(p.allowed, in) {
		return false
	}
	return l != sandbox.A || c.Shared() || !slices.ContainsFunc(p.kept, func(path string) bool { return in(path) && !slices.Contains(w.lost, path) })
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
		for _, r := range w.settleIn(p, func(c gitguard.Change) bool { return w.watchedIn(p, c, w.program.State().Layer) }) {
			w.program.config.Log.Warn("a program of the sandbox changed what the user's tools obey", "path", r.Name, "done", r.Note, "session", w.config.Session)
		}
	}
}
