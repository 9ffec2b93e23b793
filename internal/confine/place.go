package confine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/gitguard"
	"hermes/internal/sandbox/plan"
)

// key says which walls a command needs: those of a profile with some paths beyond it.
type key struct {
	profile plan.Profile
	paths   string // needs, one a line, sorted
	offline bool   // nothing but loopback
	only    string // the paths that may be changed, one a line after the first, if it is not empty
}

// place is a keeper with the plan that it was started with.
type place struct {
	plan    plan.Plan
	keeper  *sandbox.Keeper
	port    int             // of the proxy, as programs inside see it; 0 is none
	running int             // commands in it
	stale   bool            // the workspace has something now that it does not protect
	allowed []string        // what the user allowed of the protected paths
	files   files           // those that it shows by themselves
	folders []string        // outside of the workspace, that needs allow to write
	ends    bool            // end was called
	last    map[string]bool // what was mounted then
}

// mounts lists what is mounted in a place; see [sandbox.Keeper.ReadOnly].
func (at *place) mounts() map[string]bool {
	if at.ends {
		return at.last
	}
	return at.keeper.ReadOnly()
}

// gone reports whether the keeper of a place has ended.
func (at *place) gone() bool {
	select {
	case <-at.keeper.Gone():
		return true
	default:
		return false
	}
}

// end remembers what is mounted in a place that is to be closed.
func (at *place) end() {
	at.last, at.ends = at.mounts(), true
}

// planError is an error of the session's folders, which a weaker layer would not change.
type planError struct{ error }

func (e *planError) Unwrap() error { return e.error }

// start plans and starts a keeper of a layer.
func (w *Walls) start(ctx context.Context, k key, l sandbox.Layer) (*place, error) {
	set := w.program.config
	if real, err := filepath.EvalSymlinks(w.config.Workspace); err != nil || real != w.config.Workspace {
		return nil, &planError{fmt.Errorf("the workspace %s is not the folder any more that it was; open it again", w.config.Workspace)}
	}
	shown := filesAt(w.named(), k) // before they are opened: a later one is another one
	given, err := w.given()
	if err != nil {
		return nil, &planError{err}
	}
	known, err := w.known(ctx)
	if err != nil {
		return nil, &planError{err}
	}
	p, err := plan.Make(plan.Request{
		Profile: k.profile, Name: w.config.Name, Layer: l, Network: w.network(k), Workspace: w.config.Workspace, Home: set.Home, State: set.State, Cache: set.Cache,
		Environ: w.config.Environ, Path: pathOf(w.config.Environ), Grants: grantsOf(k), Given: given,
		Known: known, System: w.system(),
	})
	if err != nil {
		return nil, &planError{err}
	}
	if err := p.Prepare(); err != nil {
		return nil, &planError{err}
	}
	opened := opens(p.Policy.Protected, grantsOf(k).Write)
	unprotect(&p.Policy, opened)
	k.narrow(&p.Policy)
	protectProgram(&p.Policy)
	canary, err := w.canary()
	if err != nil {
		return nil, &planError{err}
	}
	host, err := listenOnHost()
	if err != nil {
		return nil, err
	}
	defer host.Close()
	keeper, err := sandbox.Start(ctx, sandbox.Config{
		Policy: p.Policy, Name: set.Name, ABI: set.ABI, Refused: w.refusedAddress,
		Target: sandbox.Target{Canary: canary, Port: host.Addr().(*net.TCPAddr).Port},
	})
	if err != nil {
		return nil, err
	}
	w.serveKeys(p, keeper)
	at := &place{plan: p, keeper: keeper, allowed: opened, files: shown, folders: w.foldersOf(k)}
	if l := keeper.Listener(); l != nil {
		at.port = l.Addr().(*net.TCPAddr).Port
		w.serving.Go(func() { _ = w.session.Serve(l) }) // ends with the session or the keeper
	}
	return at, nil
}

// maxFirst is how often a large workspace is looked at before the first walls: each time
// takes 40 ms.
const maxFirst = 5

// known is what is in the workspace now, and what the session saw in it before. Call it with
// the lock held.
func (w *Walls) known(ctx context.Context) (gitguard.Snapshot, error) {
	g := &w.workspace
	if g.on {
		return g.before.Again()
	}
	err := w.guard(g)
	for n := 0; err == nil && n < maxFirst && g.before.Partial(); n++ {
		if err = ctx.Err(); err == nil {
			err = g.next() // nothing runs yet
		}
	}
	return g.before, err
}

// listenOnHost is a port of the host that nothing behind walls may reach.
func listenOnHost() (net.Listener, error) { return net.Listen("tcp4", "127.0.0.1:0") }

// canary makes a file that a keeper must not be able to read.
func (w *Walls) canary() (string, error) {
	dir, err := w.program.folder("canary")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "canary")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.WriteFile(path, []byte("If a command can read this file, its sandbox does not hold.\n"), 0o600); err != nil {
		return "", fmt.Errorf("make a file for the sandbox to attack: %w", err)
	}
	return path, nil
}

// grantsOf are the paths that a key allows.
func grantsOf(k key) (g plan.Grants) {
	for line := range strings.Lines(k.paths) {
		n, ok := hermes.ParseNeed(strings.TrimSuffix(line, "\n"))
		switch {
		case !ok:
		case n.Kind == hermes.RefusedRead:
			g.Read = append(g.Read, n.Name)
		case n.Kind == hermes.RefusedWrite:
			g.Write = append(g.Write, n.Name)
		}
	}
	return g
}

// keyOf collects the paths among needs.
func keyOf(p plan.Profile, needs []hermes.Need) key {
	var lines []string
	for _, n := range needs {
		if (n.Kind == hermes.RefusedRead || n.Kind == hermes.RefusedWrite) && !strings.ContainsRune(n.Name, '\n') {
			lines = append(lines, n.String()+"\n")
		}
	}
	slices.Sort(lines)
	return key{profile: p, paths: strings.Join(slices.Compact(lines), "")}
}

// limited narrows a key to what a command limits itself to.
func (k key) limited(l hermes.Limits) (key, error) {
	switch {
	case l.Processes > 0:
		return k, errors.New("the number of processes cannot be limited in the sandbox; run the command without that limit")
	case l.Network == hermes.NetworkOff:
		k.offline = true
	}
	if l.Write != nil {
		paths := slices.Clone(l.Write)
		slices.Sort(paths)
		k.only = "\n" + strings.Join(slices.Compact(paths), "\n")
	}
	return k, nil
}

// narrow leaves to a policy only the writable paths of a key, beside temporary files and
// the private home.
func (k key) narrow(p *sandbox.Policy) {
	if k.only == "" {
		return
	}
	var write []string
	for _, only := range strings.Split(k.only, "\n")[1:] {
		if slices.ContainsFunc(p.Write, func(w string) bool { return below(only, w) }) {
			write = append(write, only)
		}
	}
	for _, w := range p.Write {
		if below(w, p.Temp) || below(w, p.PrivateHome) {
			write = append(write, w)
			continue
		}
		p.Read = append(p.Read, w)
	}
	p.Write = write
}

// opens returns which of the paths that a user allowed to be written open what is
// protected: those that are protected themselves, or below such a folder, and files. A
// folder above protected paths does not open them: the user read its name only.
func opens(protected, granted []string) []string {
	return slices.DeleteFunc(slices.Clone(granted), func(g string) bool {
		return isFolder(g) && !slices.ContainsFunc(protected, func(p string) bool { return below(g, p) })
	})
}

// unprotect takes the protection of what was opened away. Beside a file in a protected
// folder, the others stay protected, and new ones are removed afterwards.
func unprotect(p *sandbox.Policy, opened []string) {
	p.Protected = plan.Carve(p.Protected, opened)
}

// protectProgram protects this program where commands can write: it is started again for
// each keeper.
func protectProgram(p *sandbox.Policy) {
	path, err := os.Executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err == nil && slices.ContainsFunc(p.Write, func(folder string) bool { return below(path, folder) }) {
		p.Protected = append(p.Protected, path)
	}
}

// below reports whether a path is a folder or in it. Both are clean.
func below(path, folder string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(folder, "/"))
	return ok && (rest == "" || rest[0] == '/')
}

func pathOf(environ []string) []string {
	for _, v := range slices.Backward(environ) {
		if list, ok := strings.CutPrefix(v, "PATH="); ok {
			return filepath.SplitList(list)
		}
	}
	return nil
}

// named lists the files of Config.Given.
func (w *Walls) named() []string {
	if w.config.Given == nil {
		return nil
	}
	return w.config.Given()
}

// files are regular files by their paths. Walls show a file and not its name: when a program has put
// another one in its place, as with a login that it renews, commands need new walls to read it.
type files map[string]fs.FileInfo

// filesAt returns what is at the paths now that are given, and that a key lets commands read.
func filesAt(given []string, k key) files {
	all := files{}
	for _, paths := range [][]string{given, grantsOf(k).Read} {
		for _, at := range paths {
			if info, err := os.Lstat(at); err == nil && info.Mode().IsRegular() {
				all[at] = info
			}
		}
	}
	return all
}

// same reports whether these are the same files.
func (f files) same(others files) bool { return maps.EqualFunc(f, others, os.SameFile) }
