package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/policy"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/gitguard"
)

// Profile is the kind of program that a keeper starts.
type Profile int

// The profiles.
const (
	// Command is what the model runs in the workspace.
	Command Profile = iota
	// GitConfig is a git command that writes the configuration of a repository. It is
	// Command with that configuration writable; hooks are not.
	GitConfig
	// MCP is a server for tools. It reads the workspace, and has a home of its own.
	MCP
	// Hook is a program of the user that runs at events. It reads the workspace, and
	// writes what it declared.
	Hook
	// Plugin reads and writes only what it declared.
	Plugin
	// Browser sees no files of the user. Its own sandbox needs user namespaces.
	Browser
	// OwnGit is git that Hermes itself calls. It writes nothing and has no network.
	OwnGit
)

// String returns the name of the profile.
func (p Profile) String() string {
	return [...]string{"command", "git", "mcp", "hook", "plugin", "browser", "own-git"}[p]
}

// Grants are what the user allowed beyond the profile, or what a plugin declared.
type Grants struct {
	Read, Write []string // absolute files and folders
	Devices     []string
	Nested      bool
}

// Request is what a plan is made from.
type Request struct {
	Profile Profile
	Layer   sandbox.Layer
	Network sandbox.Network
	// Name is that of the server, hook or plugin: each has its own private home.
	Name string
	// Workspace is the folder of the project, Home the user's home, State Hermes' own
	// home, which no program may read. Links need not be followed.
	Workspace, Home, State string
	// Cache is where private homes, caches and temporary files are made. It may be in
	// State.
	Cache string
	// Environ are the variables that the programs get, as NAME=value.
	Environ []string
	// Path are the entries of PATH.
	Path   []string
	Grants Grants
	// Given are files and folders of the caller that programs may read, also if they are
	// in State: the program itself, authorities that it made.
	Given []string
	// System is what [NotForOthers] listed. Nil lists it again.
	System []string
	// Known is what the session knows of the workspace. It has looked at far more folders
	// than a plan does, and remembers what a program hides since. Without it, or if it is
	// of another folder, the plan looks itself.
	Known gitguard.Snapshot
}

// Plan is what programs may do, and what the caller tells the user.
type Plan struct {
	Policy sandbox.Policy
	// Set are variables to set, as NAME=value, and Unset those to remove. Sorted.
	Set, Unset []string
	// Lacks are what programs do not get although they may expect it. Notes explain
	// what is unusual about this plan.
	Lacks, Notes []string
	// Found is what git and tools obey in the workspace.
	Found gitguard.Found
	// Named is what the configuration of git names in the workspace.
	Named []gitguard.Named

	private private
	files   []file
}

// planner is a plan in the making.
type planner struct {
	Request
	Plan
	home, state string // with links followed
	home0       string // as it was given
	workspace0  string
	secrets     []string
	named       []string // what grants name
	made        []string // private folders: allowed, although they may be in state
	given       []string // of the caller: allowed for reading, too
	unseen      []string // below the workspace: what could not be looked at
	modulesLeft int      // folders of git that may still be looked at
	rules       policy.PathRules
	path        []string
	follow      func(path string) (real string, err error) // filepath.EvalSymlinks
}

// maxKept bounds how many files of a workspace are protected and hidden: each costs a
// mount, or a rule.
const maxKept = 2048

// maxAbove is how many folders above those cost nothing.
const maxAbove = 4096

// Make computes a plan. It fails if the workspace or the home is not a folder, and if the
// workspace has more to be protected or hidden than can be.
func Make(r Request) (Plan, error) {
	p, err := newPlanner(r)
	if err != nil {
		return Plan{}, err
	}
	p.folders()
	p.system()
	if err := p.workspace(); err != nil {
		return Plan{}, err
	}
	if n := p.kept(); n > maxKept && p.reads() {
		return Plan{}, fmt.Errorf("the workspace %s holds %d files with secrets, closed folders, repositories and files that tools obey, such as %s; "+
			"the sandbox can protect %d: remove some, or work in a folder below", p.Workspace, n, slices.Concat(p.Found.Env, p.Found.Closed, p.Found.Tools, []string{".git"})[0], maxKept)
	}
	p.grants()
	p.give()
	p.tools()
	p.variables()
	p.repositories()
	p.hideUnseen()
	p.finish()
	return p.Plan, nil
}

// kept counts what is protected and hidden, and the folders above it, each of which costs
// a mount as well.
func (p *planner) kept() int {
	all := slices.Concat(p.Found.Env, p.Found.Closed, p.Found.Tools)
	for _, r := range p.Found.Repos {
		all = append(all, path.Join(r.Dir, r.Name))
	}
	n, above := len(all), map[string]bool{}
	for _, rel := range all {
		for dir := path.Dir(rel); dir != "." && !above[dir]; dir = path.Dir(dir) {
			above[dir] = true
		}
	}
	return n + max(0, len(above)-maxAbove)
}

func newPlanner(r Request) (*planner, error) {
	p := &planner{Request: r, home0: filepath.Clean(r.Home), workspace0: filepath.Clean(r.Workspace), follow: filepath.EvalSymlinks, modulesLeft: maxModules}
	for _, dir := range []struct {
		name string
		path string
		into *string
	}{{"home", r.Home, &p.home}, {"workspace", r.Workspace, &p.Workspace}} {
		real, err := filepath.EvalSymlinks(dir.path)
		if err != nil || !filepath.IsAbs(real) {
			return nil, fmt.Errorf("plan the sandbox: the %s %q is not a folder with an absolute path", dir.name, dir.path)
		}
		*dir.into = real
	}
	if !filepath.IsAbs(r.State) || !filepath.IsAbs(r.Cache) {
		return nil, fmt.Errorf("plan the sandbox: Hermes' home and cache need absolute paths")
	}
	p.state, p.Cache = followed(r.State), followed(r.Cache)
	p.rules = policy.PathRules{Home: r.Home, RealHome: p.home, State: r.State, RealState: p.state}
	p.secrets = secretsOf(p.home)
	p.Policy.Layer, p.Policy.Network = r.Layer, r.Network
	p.Policy.Nested = r.Grants.Nested || r.Profile == Browser
	p.Policy.Devices = sorted(r.Grants.Devices)
	if r.Profile == OwnGit {
		p.Policy.Network = sandbox.Offline
	}
	return p, nil
}

// private are the folders that replace the user's own.
type private struct {
	root, home, temp, cache string
}

// folders names the private folders: one set for the commands of a project, one for
// each server, hook and plugin.
func (p *planner) folders() {
	key := p.Workspace
	kind := "project"
	switch p.Profile {
	case MCP, Hook, Plugin:
		kind, key = p.Profile.String(), p.Name
	case Browser, OwnGit:
		kind = p.Profile.String()
	}
	root := privateFolder(p.Cache, kind, key)
	p.private = private{root: root, home: filepath.Join(root, "home"), temp: filepath.Join(root, "tmp"), cache: filepath.Join(root, "cache")}
	p.Policy.Temp = p.private.temp
	p.Policy.PrivateHome = p.private.home
	if !p.homeInWorkspace() {
		p.Policy.Home = p.home
	}
	p.links(p.home0)
	p.links(p.workspace0)
	p.made = []string{p.private.temp}
	if p.Profile == OwnGit {
		p.Policy.Write = append(p.Policy.Write, p.private.temp)
		return
	}
	p.made = append(p.made, p.private.home, p.private.cache)
	p.Policy.Write = append(p.Policy.Write, p.made...)
}

// PrivateFolder returns the folder in the cache that belongs to a server, hook or plugin alone: its
// home, its temporary files and its cache.
func PrivateFolder(cache string, p Profile, name string) string {
	return privateFolder(cache, p.String(), name)
}

func privateFolder(cache, kind, key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(cache, kind+"-"+plainName(filepath.Base(key))+"-"+hex.EncodeToString(sum[:6]))
}

// plainName keeps a name short and free of what a shell or a path could misread.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), 24)]
}

func (p *planner) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

func (p *planner) lack(format string, args ...any) {
	p.Lacks = append(p.Lacks, fmt.Sprintf(format, args...))
}

// read allows reading what exists, and remembers links on the way.
func (p *planner) read(paths ...string) {
	for _, at := range paths {
		if real, err := p.follow(at); err == nil {
			p.allow(at, real)
		}
	}
}

// allow allows reading what a path led to when it was followed.
func (p *planner) allow(at, real string) {
	if real != at {
		p.links(at)
	}
	if !p.closed(real) {
		p.Policy.Read = append(p.Policy.Read, real)
	}
}

// closed reports whether a path is Hermes' own, or one of the user's secrets that no
// grant names.
func (p *planner) closed(real string) bool {
	if p.isState(real) {
		return true
	}
	for _, s := range p.secrets {
		if within(real, s) && !withinAny(real, p.named) {
			return true
		}
	}
	return false
}

// isState reports whether a path belongs to Hermes' home and is not free there, as
// private folders and its own workspaces are.
func (p *planner) isState(real string) bool {
	if !within(real, p.state) || withinAny(real, p.made) || withinAny(real, p.given) {
		return false
	}
	return real == p.state || !p.rules.Write(filepath.Join(real, "x")).Allowed()
}

// finish takes what is hidden out, and sorts everything.
func (p *planner) finish() {
	pol := &p.Policy
	pol.Write, pol.Read = p.withoutState(pol.Write), p.withoutState(pol.Read)
	hidden := slices.Clone(pol.Hidden)
	for _, s := range p.secrets {
		if withinAny(s, pol.Read) || withinAny(s, pol.Write) {
			hidden = append(hidden, Carve([]string{s}, p.named)...)
		}
	}
	if p.Layer == sandbox.A { // layer B has no Unix sockets
		hidden = append(hidden, p.sockets()...)
	}
	pol.Hidden = merged(hidden)
	if p.Layer != sandbox.A {
		pol.Write, pol.Read = Carve(pol.Write, pol.Hidden), Carve(pol.Read, pol.Hidden)
		// Carve finds only what is there, and these are made later.
		pol.Write = merged(append(pol.Write, p.made...))
	}
	pol.Read = slices.DeleteFunc(pol.Read, func(r string) bool { return withinAny(r, pol.Write) })
	pol.Protected = slices.DeleteFunc(sorted(pol.Protected), func(at string) bool { return withinAny(at, pol.Hidden) })
	if !p.commands() { // else what cannot be written costs mounts for nothing
		pol.Protected = slices.DeleteFunc(pol.Protected, func(at string) bool { return !withinAny(at, pol.Write) && !holds(at, pol.Write) })
	}
	p.Set, p.Unset, pol.Links = sorted(p.Set), sorted(p.Unset), sorted(pol.Links)
	p.Lacks, p.Notes = unique(p.Lacks), unique(p.Notes)
}

// withoutState carves Hermes' home out of folders that hold it, in both layers: covering
// it would cover the private folders in it, and covering its entries would show those
// that are made later.
func (p *planner) withoutState(list []string) []string {
	out := Carve(list, []string{p.state})
	for _, at := range list {
		if within(at, p.state) && !p.isState(at) {
			out = append(out, at)
		}
	}
	return merged(out)
}
