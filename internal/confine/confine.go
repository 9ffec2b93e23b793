// Package confine keeps the walls of sessions: it decides once which layer this host
// allows, plans what the commands of a session may do, starts their keepers, and says
// afterwards what was refused.
//
// The walls themselves are in package sandbox, what they allow in sandbox/plan, the way
// out in egress, and the files that git obeys in sandbox/gitguard. This package puts them
// together for [environment.Local], which it does not know. It asks no one: what a user
// allowed comes with a command or from Config.Granted.
//
// Start at Program, which there is one of, and Walls, one for each session. enter.go is
// the way of a command.
package confine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"hermes/internal/egress"
	"hermes/internal/sandbox"
)

// Mode says how much the walls are asked for.
type Mode string

// The modes.
const (
	Auto   Mode = "auto"   // the strongest layer that holds on this host; none if none does
	Strict Mode = "strict" // layer A, or commands do not run
	Off    Mode = "off"
)

// Program is what all sessions of a program share. The zero value is not useful; see New.
// It may be used concurrently.
type Program struct {
	config Settings

	mu     sync.Mutex
	chosen *choice // nil: no keeper was tried yet

	walls   sync.Mutex
	running []*Walls // not closed, the oldest first
}

// begin remembers walls until end.
func (p *Program) begin(w *Walls) {
	p.walls.Lock()
	defer p.walls.Unlock()
	p.running = append(p.running, w)
}

func (p *Program) end(w *Walls) {
	p.walls.Lock()
	defer p.walls.Unlock()
	p.running = slices.DeleteFunc(p.running, func(one *Walls) bool { return one == w })
}

// around lists the walls whose programs can change the workspace of some, always in one
// order, so that two sessions do not wait for each other.
func (p *Program) around(w *Walls) []*Walls {
	p.walls.Lock()
	defer p.walls.Unlock()
	var list []*Walls
	for _, one := range p.running {
		if one == w || one.mayChange(w.config.Workspace) {
			list = append(list, one)
		}
	}
	return list
}

// Settings are those of a program.
type Settings struct {
	Mode Mode
	// Home is the user's home folder and State that of Hermes, which no command may
	// read. Cache is where private homes and caches are made.
	Home, State, Cache string
	// Name is what the processes of keepers are called.
	Name string
	// Proxy is the way out; nil leaves commands offline.
	Proxy *egress.Proxy
	// Allow are the hosts that the commands of every session may reach, Registries those that
	// MCP servers may, too, and Deny those that nothing may.
	Allow, Registries, Deny []egress.Rule
	// Log gets what went wrong without a command failing; nil is slog.Default.
	Log *slog.Logger
	// Strongest is the strongest layer to try, for tests of hosts that allow less; 0 is A.
	Strongest sandbox.Layer
	// ABI is that of an older Landlock, for tests; 0 is the kernel's.
	ABI int
}

// choice is the layer in force, and why not a stronger one.
type choice struct {
	layer   sandbox.Layer
	reasons []string
	lacks   []string
}

// New returns a program's walls. It starts nothing.
func New(s Settings) *Program {
	if s.Log == nil {
		s.Log = slog.Default()
	}
	if s.Strongest == sandbox.None {
		s.Strongest = sandbox.A
	}
	return &Program{config: s}
}

// errWeak says that strict walls cannot be built.
var errWeak = errors.New("terminal.sandbox is strict, and this host does not allow the walls for it")

// layers lists what to try, the strongest first.
func (p *Program) layers() []sandbox.Layer {
	if p.chosen != nil {
		return []sandbox.Layer{p.chosen.layer}
	}
	var list []sandbox.Layer
	for l := p.config.Strongest; l > sandbox.None; l-- {
		list = append(list, l)
	}
	if p.config.Mode == Strict {
		list = list[:1]
	}
	return list
}

// choose starts a first keeper with the strongest layer that holds, and remembers the
// layer. Once there is a layer, no later session gets a weaker one: its commands fail.
// If a keeper does not start, what decides is whether one around an empty folder does
// (alone): a workspace, or a busy machine, proves nothing about the host.
// start is nil in the answer if no layer holds and none has to.
func (p *Program) choose(ctx context.Context, start, alone func(sandbox.Layer) (*place, error)) (*place, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.chosen != nil && p.chosen.layer == sandbox.None {
		return nil, nil
	}
	first := p.chosen == nil
	var reasons []string
	for _, l := range p.layers() {
		at, err := start(l)
		if err == nil {
			if first {
				p.chosen = &choice{layer: l, reasons: reasons, lacks: at.keeper.Lacks()}
			}
			return at, nil
		}
		var planned *planError
		if ctx.Err() != nil || errors.As(err, &planned) || !first {
			return nil, err
		}
		probe, refused := alone(l)
		if refused == nil {
			probe.keeper.Close()
			p.chosen = &choice{layer: l, reasons: reasons, lacks: probe.keeper.Lacks()}
			return nil, err
		}
		if !errors.Is(refused, sandbox.ErrUnavailable) {
			return nil, fmt.Errorf("%w; if this stays so, see `hermes doctor`", refused)
		}
		reasons = append(reasons, fmt.Sprintf("layer %s: %v", l, refused))
	}
	if p.config.Mode == Strict {
		return nil, fmt.Errorf("%w: %s. Use `hermes config set terminal.sandbox auto` for the strongest walls that it allows", errWeak, reasons[0])
	}
	p.chosen = &choice{layer: sandbox.None, reasons: reasons}
	p.config.Log.Warn("commands run without a sandbox", "reasons", reasons)
	return nil, nil
}

// State is what is known of the walls of this host.
type State struct {
	Layer   sandbox.Layer
	Known   bool     // a keeper was tried
	Reasons []string // why there is no stronger layer
	Lacks   []string // what the layer does not keep here
}

// State returns what is known so far. It tries nothing.
func (p *Program) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.chosen == nil {
		return State{}
	}
	return State{p.chosen.layer, true, p.chosen.reasons, p.chosen.lacks}
}

// Probe builds walls around an empty folder, attacks them, and returns what holds.
func (p *Program) Probe(ctx context.Context) (State, error) {
	if p.config.Mode == Off {
		return State{Known: true, Reasons: []string{"terminal.sandbox is off"}}, nil
	}
	if s := p.State(); s.Known {
		return s, nil
	}
	w, err := p.probe()
	if err != nil {
		return State{}, err
	}
	defer w.Close()
	w.mu.Lock()
	_, err = w.at(ctx, key{})
	w.mu.Unlock()
	return p.State(), err
}

// probe returns walls around an empty folder.
func (p *Program) probe() (*Walls, error) {
	dir, err := p.folder("probe")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, err
	}
	return p.Walls(Config{Workspace: dir}), nil
}

// alone starts a keeper around an empty folder.
func (p *Program) alone(ctx context.Context, l sandbox.Layer) (*place, error) {
	w, err := p.probe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.start(ctx, key{}, l)
}

// folder makes a folder of this package in the cache.
func (p *Program) folder(name string) (string, error) {
	dir := filepath.Join(p.config.Cache, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make a folder for the sandbox: %w", err)
	}
	return dir, nil
}
