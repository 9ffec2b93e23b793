package plan

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"hermes/internal/sandbox"
	"hermes/internal/sandbox/gitguard"
)

// commands reports whether programs of the profile are those that the model runs.
func (p *planner) commands() bool { return p.Profile == Command || p.Profile == GitConfig }

// writes reports whether programs of the profile change files of the user: commands do, and a server,
// hook or plugin that declared it. Then what git and tools obey is protected there.
func (p *planner) writes() bool {
	return p.commands() || len(p.Grants.Write) > 0 && (p.Profile == MCP || p.Profile == Hook || p.Profile == Plugin)
}

// writesWorkspace reports whether they change the workspace as a whole.
func (p *planner) writesWorkspace() bool {
	return p.commands() || p.writes() && p.reads() && slices.Contains(p.Grants.Write, p.Workspace)
}

// reads reports whether they read it.
func (p *planner) reads() bool { return p.Profile != Plugin && p.Profile != Browser }

// workspace allows the workspace, and finds what must be protected in it.
func (p *planner) workspace() error {
	if !p.reads() {
		return nil
	}
	if p.isState(p.Workspace) {
		p.lack("the workspace %s is part of Hermes' own home: choose another folder", p.Workspace)
		return nil
	}
	for _, s := range p.secrets {
		if within(p.Workspace, s) {
			p.lack("the workspace %s holds credentials of the user: choose another folder", p.Workspace)
			return nil
		}
	}
	if err := p.find(); err != nil {
		return err
	}
	if p.wide() {
		p.entries()
	} else {
		p.Policy.Read = append(p.Policy.Read, p.Workspace)
		if p.writesWorkspace() {
			p.Policy.Write = append(p.Policy.Write, p.Workspace)
		}
	}
	p.env()
	return nil
}

// find looks for what git and tools obey. What git's configuration names counts only if
// programs can change it.
func (p *planner) find() (err error) {
	known := p.Known.Found.Root == p.Workspace
	switch {
	case known:
		p.Found = p.Known.Found
	case p.writes():
		p.Known, err = gitguard.UserOf(p.home0, p.Environ).Take(p.Workspace)
		p.Found = p.Known.Found
	default:
		p.Found, err = gitguard.Find(p.Workspace)
	}
	if err != nil {
		return fmt.Errorf("plan the sandbox: look at the workspace: %w", err)
	}
	if slices.Contains(p.Found.Closed, ".") {
		return fmt.Errorf("the workspace %s cannot be read as a whole: give yourself the right to read and enter it (chmod u+rx), or work in a folder with fewer entries", p.Workspace)
	}
	for _, rel := range p.Found.Closed {
		p.unseen = append(p.unseen, filepath.Join(p.Workspace, filepath.FromSlash(rel)))
	}
	if p.writes() {
		var unread []string
		p.Named, unread = p.Known.Named()
		p.Notes = append(p.Notes, unread...)
	}
	return nil
}

// maxNamed is how many folders that could not be looked at are named.
const maxNamed = 8

// hideUnseen hides the folders that could not be looked at: they may hold secrets, and what
// git and tools obey. In layer B they are left out.
func (p *planner) hideUnseen() {
	if p.Layer != sandbox.A && p.Policy.Network == sandbox.Offline || p.Profile == OwnGit {
		return // as in env
	}
	named := 0
	for _, at := range merged(p.unseen) {
		if slices.Contains(p.Grants.Read, at) {
			continue
		}
		p.Policy.Hidden = append(p.Policy.Hidden, at)
		if named++; named <= maxNamed {
			p.lack("the folder %s, which could not be read as a whole: give yourself the right to read and enter it (chmod u+rx), or allow reading it", at)
		}
	}
	if named > maxNamed {
		p.lack("%d more folders that could not be read as a whole", named-maxNamed)
	}
}

// shut hides the nearest folder above a path that can be looked at.
func (p *planner) shut(at string) {
	for at != p.Workspace && at != filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil {
			p.unseen = append(p.unseen, at)
			return
		}
		at = filepath.Dir(at)
	}
}

// wide reports whether the workspace is the home, or a folder above it or above
// Hermes' home.
func (p *planner) wide() bool {
	return within(p.home, p.Workspace) || within(p.state, p.Workspace)
}

// homeInWorkspace reports whether the user's home is worked in. It is seen as it is then:
// a private one in its place would swallow what a command makes there.
func (p *planner) homeInWorkspace() bool { return p.reads() && within(p.home, p.Workspace) }

// entries allows the visible entries of a wide workspace one by one. What is made later
// directly in it is not allowed: such a command asks to run outside.
func (p *planner) entries() {
	p.note("the workspace %s is or holds the home folder: only its visible entries that are not protected are open, and new ones directly in it are not", p.Workspace)
	f, err := gitguard.OpenFolder(p.Workspace)
	if err != nil {
		return // nothing is open then
	}
	entries, _ := f.ReadDir(maxCarved)
	f.Close()
	for _, e := range entries {
		at := filepath.Join(p.Workspace, e.Name())
		if e.Name()[0] == '.' || !e.IsDir() && !e.Type().IsRegular() || holds(at, []string{p.home, p.state, p.Cache}) || p.protected(at) {
			continue
		}
		p.Policy.Read = append(p.Policy.Read, at)
		if p.writesWorkspace() && !holds(at, p.searched()) {
			p.Policy.Write = append(p.Policy.Write, at)
		}
	}
}

// searched are the folders of PATH with links followed.
func (p *planner) searched() (out []string) {
	for _, dir := range p.Path {
		if filepath.IsAbs(dir) {
			out = append(out, followed(dir))
		}
	}
	return out
}

// protected asks the table of protected paths about an entry of a wide workspace.
func (p *planner) protected(at string) bool {
	for _, path := range []string{at, filepath.Join(at, "x")} {
		if !p.rules.Write(path).Allowed() || !p.rules.CommandWrite(path).Allowed() || p.rules.Secret(path) {
			return true
		}
	}
	return false
}

// env hides environment files with secrets. Layer B can only leave them out together
// with the right to make files beside them, so there they are readable while no network
// could send them away.
func (p *planner) env() {
	if p.Layer != sandbox.A && p.Policy.Network == sandbox.Offline || p.Profile == OwnGit {
		return
	}
	for _, rel := range p.Found.Env {
		at := filepath.Join(p.Workspace, filepath.FromSlash(rel))
		if holds(at, p.Grants.Read) || holds(at, p.Grants.Write) || p.closed(at) { // with the folder that it is in
			continue
		}
		if _, err := os.Lstat(at); err != nil && !isGone(err) {
			p.shut(at) // a command could open the folder again; no cover can be mounted in it now
			continue
		}
		p.Policy.Hidden = append(p.Policy.Hidden, at)
		if p.Layer != sandbox.A && p.writesWorkspace() {
			p.lack("making and removing files directly in %s: %s beside them is closed while the network is on; reading it can be allowed", filepath.Dir(at), filepath.Base(at))
		}
	}
}

// repositories protects what git and tools obey, and opens the git folder of a worktree
// or of a repository that the workspace is a part of.
func (p *planner) repositories() {
	for _, rel := range p.Found.Tools {
		if p.Profile == GitConfig && filepath.Base(rel) == ".gitmodules" {
			continue // "git submodule add" writes it; its settings are judged afterwards
		}
		if at := filepath.Join(p.Workspace, filepath.FromSlash(rel)); !holds(at, []string{p.state}) && !p.isState(at) { // which is closed
			p.protect(at)
		}
	}
	for _, r := range p.Found.Repos {
		p.repository(r)
	}
	for _, n := range p.Named {
		p.namedByGit(n)
	}
	if len(p.Found.Unlooked) > 0 && p.writes() {
		p.note("not every folder was searched for repositories: %d were skipped, as %s", len(p.Found.Unlooked), p.Found.Unlooked[0])
	}
	p.enclosing()
}

func (p *planner) repository(r gitguard.Repo) {
	entry := filepath.Join(p.Workspace, filepath.FromSlash(r.Dir), r.Name)
	switch {
	case r.Form == gitguard.File && p.Profile != GitConfig: // "git worktree remove" deletes it
		p.protect(entry)
	case r.Form == gitguard.Link:
		p.note("%s is a link: it can be replaced, and is checked after each command", entry)
	}
	switch {
	case r.Git == "":
		p.note("%s leads out of the workspace and its target does not name it: git does not work there", entry)
	case r.Outside && p.isState(r.Git):
	case r.Outside:
		p.note("%s is a worktree of %s, which is open as well", filepath.Dir(entry), filepath.Dir(r.Git))
		p.Policy.Read = append(p.Policy.Read, r.Git)
		if p.writesWorkspace() {
			p.Policy.Write = append(p.Policy.Write, r.Git)
		}
		p.obeyed(r.Git, 0)
	default:
		p.obeyed(r.Git, 0)
	}
}

// namedByGit protects what git's configuration names. A link cannot be protected, only
// what it leads to, which is named as well.
func (p *planner) namedByGit(n gitguard.Named) {
	if p.Profile == GitConfig && n.Class == gitguard.GitConfig {
		return // its settings are judged afterwards
	}
	if holds(n.Path, []string{p.state}) || p.isState(n.Path) || withinAny(n.Path, p.Policy.Hidden) { // which are closed
		return
	}
	if info, err := os.Lstat(n.Path); err != nil || info.Mode().IsRegular() || n.Tree && info.IsDir() {
		p.protect(n.Path)
	}
}

func (p *planner) protect(at string) {
	if !p.writes() {
		return
	}
	switch _, err := os.Lstat(at); {
	case err == nil:
		p.Policy.Protected = append(p.Policy.Protected, at)
	case !isGone(err):
		p.shut(at)
	}
}

// obeyed protects what git runs or obeys in a git folder. A profile of git itself may
// change settings, but no program that git runs, and not where git looks.
func (p *planner) obeyed(git string, depth int) {
	if p.Profile != GitConfig {
		p.protect(filepath.Join(git, "config"))
		p.protect(filepath.Join(git, "config.worktree"))
	}
	for _, name := range []string{"hooks", "commondir", "gitdir", "remotes", "branches"} {
		p.protect(filepath.Join(git, name))
	}
	for _, tree := range p.foldersOf(filepath.Join(git, "worktrees")) {
		for _, name := range []string{"commondir", "gitdir", "config.worktree"} {
			if p.Profile != GitConfig { // it adds and removes worktrees, which is judged afterwards
				p.protect(filepath.Join(tree, name))
			}
		}
	}
	p.modules(filepath.Join(git, "modules"), depth)
}

// maxModules is how many folders of submodules and worktrees are looked at.
const maxModules = 1024

// modules protects the git folders of submodules, whose names may hold slashes. Those
// beyond the bounds are hidden.
func (p *planner) modules(dir string, depth int) {
	for _, sub := range p.foldersOf(dir) {
		switch {
		case depth > 4:
			p.unseen = append(p.unseen, sub)
		case exists(filepath.Join(sub, "HEAD")):
			p.obeyed(sub, depth+1)
		default:
			p.modules(sub, depth+1)
		}
	}
}

// foldersOf lists the folders in a folder of git. One that cannot be read, or has more than
// the bound of all lets, is hidden.
func (p *planner) foldersOf(dir string) (out []string) {
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() || isGone(err) {
		return nil
	}
	f, err := gitguard.OpenFolder(dir)
	if err != nil || p.modulesLeft <= 0 {
		p.shut(dir)
		return nil
	}
	defer f.Close()
	entries, err := f.ReadDir(p.modulesLeft + 1)
	if p.modulesLeft -= len(entries) + 1; p.modulesLeft < 0 || err != nil && err != io.EOF {
		p.shut(dir)
		return nil
	}
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// enclosing opens, for reading, the git folder of the repository that the workspace is a
// part of. Commits there ask to run outside.
func (p *planner) enclosing() {
	if !p.reads() || p.wide() || exists(filepath.Join(p.Workspace, ".git")) || len(p.Policy.Read) == 0 || p.isState(p.Workspace) {
		return
	}
	for dir := filepath.Dir(p.Workspace); !within(p.home, dir) && !within(p.state, dir); dir = filepath.Dir(dir) {
		git := filepath.Join(dir, ".git")
		if info, err := os.Lstat(git); err == nil && info.IsDir() {
			p.read(git)
			p.note("the workspace is a part of the repository %s: git can read it but not commit; open that folder to commit", dir)
			return
		}
		if dir == filepath.Dir(dir) {
			return
		}
	}
}
