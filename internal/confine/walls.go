package confine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/egress"
	"hermes/internal/egress/swap"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/plan"
)

// Config is what the walls of one session need.
type Config struct {
	// Session is its id, for records.
	Session string
	// Profile is what runs inside: Command, or a server, hook or plugin with a Name, which has a
	// private home of its own.
	Profile plan.Profile
	Name    string
	// Workspace is the folder that commands may change, with links followed.
	Workspace string
	// Environ are the variables that commands get, as NAME=value.
	Environ []string
	// Secrets are those that processes use without seeing them. Who may write, and who is
	// told of refusals, is set here.
	Secrets swap.Config
	// Granted lists what the user allowed every command of the session; nil is nothing.
	// It is asked before each command.
	Granted func() []hermes.Need
	// Given lists files that commands may read also if they are in Hermes' own home; nil lists no file. They
	// are not of Hermes itself. It is asked before each command.
	Given func() []string
	// Read returns the untrusted text that the session has read by now, as in
	// [hermes.Message.Provenance]; nil means nothing. It is asked for each request that changes
	// something with a declared secret.
	Read func() string
}

// Walls are those of one session. They may be used concurrently; Close ends what runs
// inside.
type Walls struct {
	program *Program
	config  Config
	session *egress.Session // nil: offline
	serving sync.WaitGroup
	refused addresses
	agent   agent
	swap    *swap.Swap // nil: no secrets are declared
	broken  error      // why the declarations are wrong
	writes  writes
	swaps   refusedSecrets
	system  func() []string // plan.NotForOthers, once: it takes milliseconds

	mu      sync.Mutex
	closed  bool
	places  map[key]*place
	usual   key // of the commands that ask for nothing
	running int // commands inside
	gate    gate
	// trust is the folder with the authority for declared secrets, and authorities are the
	// variables that name its files.
	trust       string
	authorities []string
	workspace   guarded
	projects    map[string]*guarded // the folders outside of the workspace that needs opened
	ended       []*place            // those that ended since everything was looked at
	written     []string            // what needs ever allowed to write
	// made are files with secrets, below the workspace, that programs inside made.
	made     map[string]bool
	forwards map[int]*forward
	// hostsOpen ends what every command of the session may reach, by the host.
	hostsOpen map[string]func()
}

// Walls returns the walls of a session, nil if the program has none. It starts nothing.
func (p *Program) Walls(c Config) *Walls {
	if real, err := filepath.EvalSymlinks(c.Workspace); err == nil { // else its first command says so
		c.Workspace = real
	}
	w := p.empty(c)
	p.begin(w)
	w.makeSwap()
	if p.config.Proxy != nil {
		allow := p.config.Allow
		switch c.Profile { // these reach what they declared, and not what commands may
		case plan.Plugin:
			allow = nil
		case plan.MCP:
			allow = p.config.Registries
		}
		w.session = p.config.Proxy.Session(egress.SessionConfig{
			Name: c.Session, Allow: allow, Deny: p.config.Deny, Swapper: w.swapper(),
		})
	}
	return w
}

// empty returns walls of which nothing is built.
func (p *Program) empty(c Config) *Walls {
	return &Walls{program: p, config: c, workspace: guarded{dir: c.Workspace}, places: map[key]*place{}, projects: map[string]*guarded{}, hostsOpen: map[string]func(){}, forwards: map[int]*forward{}, made: map[string]bool{}, system: sync.OnceValue(plan.NotForOthers)}
}

// mayChange reports whether programs inside can change files of a folder: those of the workspace
// if they are commands, and those that a need opens.
func (w *Walls) mayChange(dir string) bool {
	overlaps := func(path string) bool { return below(path, dir) || below(dir, path) }
	if w.config.Profile == plan.Command {
		return overlaps(w.config.Workspace)
	}
	return slices.ContainsFunc(w.granted(), func(n hermes.Need) bool { return n.Kind == hermes.RefusedWrite && overlaps(n.Name) })
}

func (w *Walls) network(k key) sandbox.Network {
	if w.session == nil || k.offline {
		return sandbox.Offline
	}
	return sandbox.Proxied
}

var errClosed = errors.New("the session has ended")

// at returns the place for a key, and starts its keeper if none runs. It returns nil if
// this host allows no walls and none have to be. Call it with the lock held.
func (w *Walls) at(ctx context.Context, k key) (*place, error) {
	if w.closed {
		return nil, errClosed
	}
	if w.broken != nil {
		return nil, w.broken
	}
	w.prune(k)
	w.leaveProjects()
	if at := w.places[k]; at != nil {
		return at, nil
	}
	at, err := w.program.choose(ctx, func(l sandbox.Layer) (*place, error) { return w.start(ctx, k, l) },
		func(l sandbox.Layer) (*place, error) { return w.program.alone(ctx, l) })
	if at != nil {
		w.places[k] = at
		w.openProjects(at)
		w.written = append(w.written, grantsOf(k).Write...)
	}
	return at, err
}

// prune ends places in which nothing runs if they are out of date, or for what one command
// asked. One in which something runs, such as a server, stays, and later commands reach
// it: what is not protected there is compared and restored. If it would show a file with
// secrets it is ended all the same. k is the place that is wanted.
func (w *Walls) prune(k key) {
	given := w.named()
	maps.DeleteFunc(w.places, func(of key, at *place) bool {
		select {
		case <-at.keeper.Gone():
			if !at.keeper.Empty() {
				w.doubt()
			}
		default:
			shown := at.lose()
			at.stale = at.stale || w.reopened(at) || !at.files.same(filesAt(given, of))
			if shown != "" && !at.keeper.Empty() {
				w.doubt()
				w.program.config.Log.Warn("what ran in the sandbox was ended: a file with secrets was replaced, and would have been readable there", "path", shown, "session", w.config.Session)
				break
			}
			if at.running > 0 || !at.keeper.Empty() || !at.stale && (of == k || of == w.usual) {
				return false
			}
		}
		at.end()
		at.keeper.Close()
		w.ended = append(w.ended, at)
		return true
	})
}

// reopened reports whether a folder can be read now that could not be when a place was
// planned.
func (w *Walls) reopened(at *place) bool {
	return slices.ContainsFunc(at.plan.Found.Closed, func(rel string) bool { return !slices.Contains(w.workspace.before.Found.Closed, rel) })
}

// end closes a place with what one command was allowed, and ends what the command left
// running there. Call it with the lock held.
func (w *Walls) end(at *place) {
	at.end()
	at.keeper.Close()
	w.ended = append(w.ended, at)
	maps.DeleteFunc(w.places, func(_ key, other *place) bool { return other == at })
}

// EndInside ends all that runs inside. The next command gets walls of its own.
func (w *Walls) EndInside() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var err error
	for of, at := range w.places {
		if at.running == 0 && at.keeper.Empty() {
			continue
		}
		w.doubt()
		at.end()
		err = errors.Join(err, at.keeper.Close())
		w.ended = append(w.ended, at)
		delete(w.places, of)
	}
	return err
}

// lose looks whether a place still protects what it did, and returns a hidden file that it
// would show.
func (at *place) lose() (shown string) {
	for _, path := range at.keeper.Lost() {
		at.stale = true
		if slices.Contains(at.plan.Policy.Hidden, path) {
			shown = path
		}
	}
	return shown
}

// Build builds the walls if there are none yet, and describes what holds.
func (w *Walls) Build(ctx context.Context) hermes.Isolation {
	granted := w.granted()
	w.mu.Lock()
	w.usual = keyOf(w.config.Profile, granted)
	at, err := w.places[w.usual], error(nil)
	if at == nil || at.gone() { // Enter looks whether it still protects what it should
		at, err = w.at(ctx, w.usual)
	}
	w.mu.Unlock()
	out := w.Describe()
	if at == nil || err != nil { // the next command says why
		out.Holds = false
	}
	return out
}

func (w *Walls) granted() []hermes.Need {
	if w.config.Granted == nil {
		return nil
	}
	return w.config.Granted()
}

// WallsMark lists the paths that the user has allowed all commands, so that it changes when one is
// allowed or revoked; see [isolation.Marker].
func (w *Walls) WallsMark() string {
	mark := keyOf(w.config.Profile, w.granted()).paths
	return mark + fmt.Sprintf("%q", slices.Sorted(slices.Values(w.named())))
}

// Describe says what the walls keep, as far as that is known without building them.
func (w *Walls) Describe() hermes.Isolation {
	s := w.program.State()
	out := hermes.Isolation{Layer: s.Layer.String(), Holds: s.Known && s.Layer > sandbox.None, Lacks: s.Lacks}
	if !s.Known {
		s.Layer = min(sandbox.Expect(), w.program.config.Strongest)
		out.Layer = s.Layer.String()
	}
	switch s.Layer {
	case sandbox.A, sandbox.B:
		out.Text = "Commands run in a sandbox (layer " + s.Layer.String() + "): they can change only the workspace and temporary files, and reach only allowed hosts."
	default:
		out.Text = "No sandbox: commands may do what the user may."
		if len(s.Reasons) > 0 {
			out.Text = "No sandbox (" + strings.Join(s.Reasons, "; ") + "): commands may do what the user may."
		}
	}
	return out
}

// Bounds says what commands may reach and change, or could change earlier in the session.
func (w *Walls) Bounds() (reach hermes.Network, write []string) {
	if s := w.program.State(); s.Known && s.Layer == sandbox.None {
		return hermes.NetworkHost, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	reach = hermes.NetworkProxy
	if w.session == nil {
		reach = hermes.NetworkOff
	}
	write = append([]string{w.config.Workspace}, w.written...)
	for _, at := range w.places {
		write = append(write, at.plan.Policy.Write...)
		write = append(write, at.plan.Policy.Temp)
	}
	slices.Sort(write)
	return reach, slices.Compact(write)
}

// OnHost returns where what a usual command sees at a path is outside of the walls; see
// [isolation.Places].
func (w *Walls) OnHost(path string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.places[w.usual]
	if at == nil || at.plan.Policy.Layer != sandbox.A {
		return path
	}
	p := at.plan.Policy
	real, err := filepath.EvalSymlinks(path)
	if err == nil && slices.ContainsFunc(slices.Concat(p.Write, p.Read), func(seen string) bool { return below(real, seen) }) {
		return path
	}
	for _, move := range [][2]string{{p.Home, p.PrivateHome}, {"/tmp", p.Temp}, {"/var/tmp", p.Temp}} {
		if move[0] != "" && move[1] != "" && below(path, move[0]) {
			return move[1] + strings.TrimPrefix(path, move[0])
		}
	}
	return path
}

// Close ends everything inside.
func (w *Walls) Close() error {
	w.program.end(w)
	w.mu.Lock()
	w.closed = true
	all := slices.Collect(maps.Values(w.places))
	if w.running > 0 || w.busy() {
		w.doubt()
	}
	var allowed []string
	for _, at := range all {
		allowed = append(allowed, at.allowed...)
		at.end()
	}
	w.ended = append(w.ended, all...)
	w.places = map[key]*place{}
	forwards := w.forwards
	w.forwards = map[int]*forward{}
	w.mu.Unlock()
	for _, f := range forwards {
		f.close()
	}
	var err error
	for _, at := range all {
		err = errors.Join(err, at.keeper.Close())
	}
	w.mu.Lock()
	w.leave(&w.workspace, allowed)
	w.leaveProjects()
	w.mu.Unlock()
	if w.session != nil {
		w.session.Close()
	}
	w.agent.close()
	w.serving.Wait()
	w.removeAuthorities()
	return err
}
