package confine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/egress"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/gitguard"
	"hermes/internal/sandbox/plan"
)

// Config is what the walls of one session need.
type Config struct {
	// Session is its id, for records.
	Session string
	// Workspace is the folder that commands may change.
	Workspace string
	// Environ are the variables that commands get, as NAME=value.
	Environ []string
	// Granted lists what the user allowed every command of the session; nil is nothing.
	// It is asked before each command.
	Granted func() []hermes.Need
}

// Walls are those of one session. They may be used concurrently; Close ends what runs
// inside.
type Walls struct {
	program *Program
	config  Config
	session *egress.Session // nil: offline
	serving sync.WaitGroup
	refused addresses

	mu       sync.Mutex
	closed   bool
	places   map[key]*place
	old      []*place // replaced, while their processes run
	running  int      // commands inside
	alone    sync.Mutex
	before   gitguard.Snapshot // after the last command, if processes of it may still run
	guarding bool              // before is set
	left     bool              // processes ran on after the last command
	loose    bool              // so they did in walls that were out of date
	forwards map[int]*forward
}

// Walls returns the walls of a session, nil if the program has none. It starts nothing.
func (p *Program) Walls(c Config) *Walls {
	w := &Walls{program: p, config: c, places: map[key]*place{}, forwards: map[int]*forward{}}
	if p.config.Proxy != nil {
		w.session = p.config.Proxy.Session(egress.SessionConfig{
			Name: c.Session, Allow: p.config.Allow, Deny: p.config.Deny, Swapper: p.config.Swapper,
		})
	}
	return w
}

func (w *Walls) network() sandbox.Network {
	if w.session == nil {
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
	if at := w.places[k]; at != nil {
		select {
		case <-at.keeper.Gone():
			at.keeper.Close()
			delete(w.places, k)
		default:
			// While something runs in it, as a server, later commands go on to reach
			// that. What is not protected there is compared and restored.
			if !at.stale || !at.keeper.Empty() {
				return at, nil
			}
			w.old = append(w.old, at)
			delete(w.places, k)
		}
	}
	at, err := w.program.choose(ctx, func(l sandbox.Layer) (*place, error) { return w.start(ctx, k, l) })
	if at != nil {
		w.places[k] = at
	}
	return at, err
}

// Build builds the walls if there are none yet, and describes what holds.
func (w *Walls) Build(ctx context.Context) hermes.Isolation {
	w.mu.Lock()
	at, err := w.at(ctx, keyOf(plan.Command, w.granted()))
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

// Describe says what the walls keep, as far as that is known without building them.
func (w *Walls) Describe() hermes.Isolation {
	s := w.program.State()
	out := hermes.Isolation{Layer: s.Layer.String(), Holds: s.Known && s.Layer > sandbox.None, Lacks: s.Lacks}
	expected := ""
	if !s.Known {
		l := min(sandbox.Expect(), w.program.config.Strongest)
		out.Layer = l.String()
		s.Layer = l
	}
	switch s.Layer {
	case sandbox.A, sandbox.B:
		out.Text = "Commands run in a sandbox (layer " + s.Layer.String() + expected + "): they can change only the workspace and temporary files, and reach only allowed hosts."
	default:
		out.Text = "No sandbox: commands may do what the user may."
		if len(s.Reasons) > 0 {
			out.Text = "No sandbox (" + strings.Join(s.Reasons, "; ") + "): commands may do what the user may."
		}
	}
	return out
}

// Bounds says what commands may reach and change.
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
	write = []string{w.config.Workspace}
	for _, at := range w.places {
		write = append(write, at.plan.Policy.Write...)
		write = append(write, at.plan.Policy.Temp)
	}
	slices.Sort(write)
	return reach, slices.Compact(write)
}

// Close ends everything inside.
func (w *Walls) Close() error {
	w.mu.Lock()
	w.closed = true
	var all []*place
	for _, at := range w.places {
		all = append(all, at)
	}
	all = append(all, w.old...)
	w.places, w.old = map[key]*place{}, nil
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
	if w.session != nil {
		w.session.Close()
	}
	w.serving.Wait()
	return err
}
