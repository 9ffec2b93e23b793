package mcp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/mcp/setting"
	"hermes/internal/order"
)

// Config is what servers need of the program.
type Config struct {
	// Version is that of the program, which servers are told.
	Version string
	// Environment makes the place in which the program of a server runs, for it alone: with its
	// variables and walls. The server closes it.
	Environment func(s setting.Server) (hermes.Environment, error)
	// Client makes the HTTP client of a server, with its headers, certificates and login. A
	// request that needs the user fails with a *login.NeededError.
	Client func(s setting.Server) (*http.Client, error)
	// Sample asks a model for a server. Nil refuses.
	Sample func(ctx context.Context, r Sample) (Sampled, error)
	// Malware returns why a program must not be started, "" if nothing is known; nil knows
	// nothing.
	Malware func(ctx context.Context, s setting.Server) string
	// Roots lists the folders that servers are told to work in.
	Roots func() []string
	// Cache is the folder for lists of tools, Approvals the file with the definitions that the
	// user approved.
	Cache, Approvals string
	// Delay is how long Start leaves a server alone for which nothing waits, so that programs that
	// start are not in the way of the first prompt.
	Delay time.Duration
	// ResultLimit is the size in bytes above which a result is stored outside of the context.
	ResultLimit int
	Now         func() time.Time
	Log         *slog.Logger
}

// Servers are all servers of the program. They may be used concurrently.
type Servers struct {
	cfg      Config
	approved *approvals
	life     context.Context // ends with Close
	end      context.CancelCauseFunc
	running  sync.WaitGroup

	reload sync.Mutex // held by Reload

	mu   sync.Mutex
	list []*Server
	sets []hermes.Toolset // the same, sorted by name; nil until it is asked for
	// generation counts changes of the list.
	generation int
	ahead      bool // Ahead was called
	started    bool
	closed     bool
}

var errClosing = errors.New("the program is shutting down")

// New makes servers. It starts nothing: see Start. Servers that are disabled are left out. An
// error is about one server, which is left out; there may be several, joined.
func New(c Config, list []setting.Server) (*Servers, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Servers{cfg: c, approved: newApprovals(c.Approvals, c.Now)}
	s.life, s.end = context.WithCancelCause(context.Background())
	var errs []error
	for _, set := range list {
		if set.Disabled {
			continue
		}
		if _, err := s.join(set); err != nil {
			errs = append(errs, err)
		}
	}
	return s, errors.Join(errs...)
}

// Toolsets returns one toolset for each server, sorted by name, and a number that changes when they
// do. The list must not be changed.
func (s *Servers) Toolsets() (sets []hermes.Toolset, generation int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sets == nil {
		for _, o := range s.list {
			s.sets = append(s.sets, o)
		}
		order.By(s.sets, func(a, b hermes.Toolset) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return s.sets, s.generation
}

// Start starts all servers in the background and returns at once. Only the first call does.
func (s *Servers) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started || s.closed {
		return
	}
	s.started = true
	for _, o := range s.list {
		s.start(o, s.cfg.Delay)
	}
}

// start runs a server, after a while or when it is wanted. Call it with the lock held.
func (s *Servers) start(o *Server, delay time.Duration) {
	ctx, stop := context.WithCancelCause(s.life)
	o.mu.Lock()
	o.stopped = make(chan struct{})
	o.mu.Unlock()
	o.stop = func() {
		stop(errRemoved)
		<-o.stopped
	}
	s.running.Go(func() {
		defer close(o.stopped)
		defer stop(nil)
		if delay > 0 {
			o.rest(ctx, delay)
		}
		o.run(ctx)
	})
}

var errRemoved = errors.New("it was removed from the settings, or they have changed")

// Ahead reads what is kept of all servers in the background, while the database is opened and the user
// types the first prompt. Only the first call does. It begins with the last server: a session that begins
// meanwhile reads from the first on.
func (s *Servers) Ahead() {
	sets, _ := s.Toolsets()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ahead || s.closed {
		return
	}
	s.ahead = true
	s.running.Go(func() {
		for _, set := range slices.Backward(sets) {
			if s.life.Err() != nil {
				return
			}
			_, _ = set.Tools(s.life) // it has no error
		}
	})
}

// Reload makes the servers those of a list: what is new is started if Start was called, what is
// not in the list any more or has other settings is ended first, and the others go on. restart
// also ends and starts those that are the same. It returns the names of each kind. An error is
// about one server, which is left out; there may be several, joined.
func (s *Servers) Reload(list []setting.Server, restart bool) (changes Changes, err error) {
	list = slices.DeleteFunc(slices.Clone(list), func(set setting.Server) bool { return set.Disabled })
	s.reload.Lock()
	defer s.reload.Unlock()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return changes, errClosing
	}
	var kept, ended []*Server
	was := map[string]bool{}
	for _, o := range s.list {
		was[o.set.ID()] = true
		i := slices.IndexFunc(list, func(set setting.Server) bool { return set.ID() == o.set.ID() })
		switch {
		case i >= 0 && !restart && reflect.DeepEqual(list[i], o.set):
			kept = append(kept, o)
			continue
		case i < 0:
			changes.Removed = append(changes.Removed, o.set.Name)
		default:
			changes.Restarted = append(changes.Restarted, o.set.Name)
		}
		ended = append(ended, o)
	}
	s.list, s.sets = kept, nil
	s.generation++
	s.mu.Unlock()
	endAll(ended)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return changes, errClosing
	}
	s.generation++
	var errs []error
	for _, set := range list {
		if slices.ContainsFunc(kept, func(o *Server) bool { return o.set.ID() == set.ID() }) {
			continue
		}
		o, err := s.join(set)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if !was[set.ID()] {
			changes.Added = append(changes.Added, set.Name)
		}
		if s.started {
			s.start(o, 0)
		}
	}
	return changes, errors.Join(errs...)
}

// endAll ends servers, at the same time, and returns when all have ended.
func endAll(list []*Server) {
	var ending sync.WaitGroup
	for _, o := range list {
		if o.stop != nil {
			ending.Go(o.stop)
		}
	}
	ending.Wait()
}

// Changes are what a reload did, by names of servers.
type Changes struct{ Added, Removed, Restarted []string }

// join adds a server to the list. Call it with the lock held.
func (s *Servers) join(set setting.Server) (*Server, error) {
	if i := slices.IndexFunc(s.list, func(o *Server) bool { return part(o.set.Name) == part(set.Name) }); i >= 0 {
		return nil, fmt.Errorf("the MCP servers %s and %s have the same name for models; rename one of them", s.list[i].set.Name, set.Name)
	}
	o := s.server(set)
	s.list, s.sets = append(s.list, o), nil
	return o, nil
}

// Close ends all servers, at the same time, and returns when everything that they started is
// gone.
func (s *Servers) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end(errClosing)
	s.running.Wait()
	return nil
}

// State is what is known of a server.
type State struct {
	Name  string
	Phase Phase
	// Reason says why it cannot be used, worded for the user; "" if it can.
	Reason string
	Tools  []ToolState
	// Protocol is the version that is spoken, Title and Version what the server says of itself.
	Protocol, Title, Version string
}

// ToolState is a tool of a server.
type ToolState struct {
	Name, Original, Description string
	// Blocked says why it does not run before it is approved; "" if it does.
	Blocked string
}

// Phase is where a server is in its life.
type Phase string

// The phases.
const (
	Idle       Phase = "idle" // not started, or ended because it was not used
	Connecting Phase = "connecting"
	Connected  Phase = "connected"
	Failed     Phase = "failed" // it is tried again later
)

// Settle waits until each server is connected or has failed, or until ctx ends.
func (s *Servers) Settle(ctx context.Context) {
	s.mu.Lock()
	list, started := slices.Clone(s.list), s.started
	s.mu.Unlock()
	if !started {
		return
	}
	var waiting sync.WaitGroup
	for _, o := range list {
		waiting.Go(func() { _ = o.Ready(ctx) }) // why it failed is in its state
	}
	waiting.Wait()
}

// States lists the servers, sorted by name.
func (s *Servers) States() []State {
	s.mu.Lock()
	list := slices.Clone(s.list)
	s.mu.Unlock()
	var out []State
	for _, o := range list {
		out = append(out, o.state())
	}
	order.By(out, func(a, b State) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Server returns a server by its name, or false.
func (s *Servers) Server(name string) (*Server, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.list {
		if o.set.Name == name || part(o.set.Name) == part(name) {
			return o, true
		}
	}
	return nil, false
}

// Listing is what a server offered at some moment.
type Listing struct{ list listing }

// Listing returns what the server offers now.
func (o *Server) Listing() Listing { return Listing{o.current()} }

// Keep approves the tools of a listing, which the user was shown, if the server was never seen, and
// keeps it for the next session: for one that was connected without a place for that. What the
// server has said since is not approved.
func (o *Server) Keep(c Config, shown Listing) error {
	l := shown.list
	var defs []definition
	for _, t := range l.tools {
		defs = append(defs, t.def)
	}
	a := newApprovals(c.Approvals, o.cfg.Now)
	if _, err := a.first(o.set.ID(), defs); err != nil {
		return err
	}
	kept := &Server{cfg: c, set: o.set, approved: a}
	kept.cfg.Now = o.cfg.Now
	return kept.keep(l)
}

// removed removes a file. One that is not there is no error.
func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Forget removes what is kept of a server: which of its tools were approved, and their list.
func Forget(c Config, name string) error {
	a := newApprovals(c.Approvals, c.Now)
	o := &Server{cfg: c, set: setting.Server{Name: name}}
	return errors.Join(a.forget(name), o.forgetLists())
}
