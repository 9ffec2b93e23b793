package confine

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/sandbox/gitguard"
	"hermes/internal/sandbox/plan"
)

// Opens says what a need for a path would open; see [hermes.Opener].
func (w *Walls) Opens(ctx context.Context, n hermes.Need) hermes.Opening {
	if n.Kind == hermes.RefusedWrite && w.writable(ctx, n.Name) {
		return hermes.Opening{Refuse: "it can be written already; name the file that was refused"}
	}
	if n.Kind == hermes.RefusedWrite {
		if dir := w.searched(n.Name); dir != "" {
			return hermes.Opening{Holds: dir + ", where your shell and other programs look for programs (PATH)"}
		}
	}
	in := plan.LookInside(gitguard.UserOf(w.program.config.Home, w.config.Environ), n.Name)
	list := in.Secrets
	if n.Kind == hermes.RefusedWrite {
		list = slices.Concat(in.Runs, list)
	}
	if len(list) == 0 && in.Whole {
		return hermes.Opening{}
	}
	return hermes.Opening{Holds: named(n.Name, list, in.Whole)}
}

// searched returns the first folder of the user's PATH that a path is, holds or is in, else "".
func (w *Walls) searched(path string) string {
	for _, dir := range pathOf(w.config.Environ) {
		if !filepath.IsAbs(dir) {
			continue
		}
		real, _ := realOf(dir)
		for _, at := range []string{filepath.Clean(dir), real} {
			if below(path, at) || below(at, path) {
				return dir
			}
		}
	}
	return ""
}

// maxNamed is how many of the files in a folder a question names.
const maxNamed = 5

// named says what a folder holds.
func named(folder string, list []string, whole bool) string {
	var names []string
	for _, at := range list[:min(len(list), maxNamed)] {
		if rel, err := filepath.Rel(folder, at); err == nil && rel != "." {
			names = append(names, rel)
		}
	}
	text := strings.Join(names, ", ")
	if more := len(list) - len(names); text != "" && more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	switch {
	case text == "" && whole: // it is a repository itself
		return "a folder of git, some of which stays protected"
	case text == "":
		return "a folder with more files than can be looked at"
	case !whole:
		text += ", and more files than can be looked at"
	}
	return "a folder with " + text + ", which stay protected until they are named"
}

// writable reports whether commands may write a path without a need, or whether it holds
// the workspace: to allow it would open nothing that was refused.
func (w *Walls) writable(ctx context.Context, path string) bool {
	if below(w.config.Workspace, path) {
		return true
	}
	usual := keyOf(w.config.Profile, w.granted())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.usual = usual
	at, err := w.at(ctx, usual)
	if at == nil || err != nil { // the next command says why
		return false
	}
	granted := grantsOf(usual).Write
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(f string) bool { return below(path, f) })
	}
	p := at.plan.Policy
	return in(p.Write) && !in(p.Protected) && !in(p.Hidden) && !in(granted) && !w.obeyed(at, path)
}

// obeyed reports whether a path is compared after each command, and restored, also if the
// plan of a place does not protect it. Call it with the lock held.
func (w *Walls) obeyed(at *place, path string) bool {
	for _, n := range at.plan.Named {
		if below(path, n.Path) {
			return true
		}
	}
	return w.workspace.on && w.workspace.before.Holds(path)
}
