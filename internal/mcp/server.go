package mcp

//lint:file-ignore SA1019 servers that speak a version before 2026-07-28 ask for roots, models and logs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes"
	"hermes/internal/mcp/setting"
	"hermes/internal/order"
	"hermes/internal/text"
)

const (
	firstWait = time.Second
	mostWait  = 2 * time.Minute
	// steady is how long a connection has to last until waits begin again from the first.
	steady = time.Minute
	// refreshEvery bounds how often a server that says so has its list read.
	refreshEvery = time.Second
)

// Server is one server. It is a [hermes.Toolset] and may be used concurrently.
type Server struct {
	cfg      Config
	set      setting.Server
	approved *approvals
	toolset  string // its name as a toolset

	changes chan struct{} // holds one: the list has changed
	signals
	stop    func()        // ends run and waits for that; nil before it was started
	stopped chan struct{} // closed by the end of run
	pinned  bool          // run has seen that its first tools are approved

	mu     sync.Mutex
	phase  Phase
	reason string
	moved  chan struct{} // closed when phase changes, and replaced
	conn   *connection   // while phase is Connected
	list   listing
	read   bool // the cached list was read
	use
}

// signals wake run. Each holds one.
type signals struct {
	wanted  chan struct{} // someone waits for a connection
	refresh chan struct{} // the server says that its list has changed
	again   chan struct{} // connect again
}

// use is what is known of the calls of a server.
type use struct {
	used    time.Time // the end of the last one
	calls   map[*calling]bool
	tokens  int64       // the last one that was given
	sampled []time.Time // the questions to models of the last minute
}

// connection is one connection to the server.
type connection struct {
	session *mcp.ClientSession
	end     func() error
	silent  <-chan struct{} // gets a value when it does not tell changes any more; nil never does
	over    chan struct{}   // closed when the connection has ended
	once    sync.Once
	why     error // set before over
}

// finish says that the connection has ended. The first reason counts.
func (c *connection) finish(why error) {
	c.once.Do(func() {
		c.why = why
		close(c.over)
	})
}

func (s *Servers) server(set setting.Server) *Server {
	return &Server{
		cfg: s.cfg, set: set, approved: s.approved, toolset: ToolsetName(set.Name), phase: Idle, moved: make(chan struct{}), use: use{calls: map[*calling]bool{}},
		changes: make(chan struct{}, 1), signals: signals{make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)},
	}
}

// signal fills a channel that holds one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run keeps the server connected until ctx ends.
func (o *Server) run(ctx context.Context) {
	wait, listen := firstWait, firstWait
	for ctx.Err() == nil {
		began := o.cfg.Now()
		idle, err := o.live(ctx, &listen)
		switch {
		case ctx.Err() != nil:
			o.enter(Failed, context.Cause(ctx).Error(), nil)
			return
		case idle:
			o.enter(Idle, "", nil)
			wait = firstWait
			o.rest(ctx, 0)
			continue
		case err == nil: // it is to be connected again
			wait = firstWait
			continue
		}
		err = o.reached(err)
		o.cfg.Log.Warn("MCP server", "server", o.set.Name, "err", err)
		o.enter(Failed, err.Error(), nil)
		if o.cfg.Now().Sub(began) >= steady {
			wait = firstWait
		}
		o.rest(ctx, wait+rand.N(wait/4))
		wait = min(2*wait, mostWait)
	}
}

// rest waits for some time, or until a connection is wanted; 0 waits for that only.
func (o *Server) rest(ctx context.Context, wait time.Duration) {
	var over <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-ctx.Done():
	case <-over:
	case <-o.wanted:
	case <-o.again:
	}
}

// live connects and serves one connection until it ends, and says why: it was idle for too
// long, it failed, or neither. listen is how long to wait once the server tells no changes any more.
func (o *Server) live(ctx context.Context, listen *time.Duration) (idle bool, err error) {
	defer o.caught(&err)
	o.enter(Connecting, "", nil)
	c, err := o.connect(ctx)
	if err != nil {
		return false, err
	}
	defer func() {
		if endErr := c.end(); endErr != nil && err == nil && !idle {
			o.cfg.Log.Warn("MCP server did not end well", "server", o.set.Name, "err", endErr)
		}
	}()
	if err := o.look(ctx, c); err != nil {
		return false, err
	}
	o.enter(Connected, "", c)
	return o.serve(ctx, c, listen)
}

// serve waits for the end of a connection.
func (o *Server) serve(ctx context.Context, c *connection, listen *time.Duration) (idle bool, err error) {
	var end <-chan time.Time
	if o.set.Times.Lifetime > 0 {
		t := time.NewTimer(o.set.Times.Lifetime)
		defer t.Stop()
		end = t.C
	}
	var check <-chan time.Time
	if o.set.Times.Idle > 0 {
		t := time.NewTicker(max(o.set.Times.Idle/4, 10*time.Millisecond))
		defer t.Stop()
		check = t.C
	}
	pulse, still := o.pulse(c)
	defer still()
	var last time.Time
	began := o.cfg.Now()
	for {
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-c.over:
			return false, fmt.Errorf("the connection was lost: %w", c.why)
		case <-o.again:
			return false, nil
		case <-c.silent: // another connection subscribes again
			if o.cfg.Now().Sub(began) >= steady {
				*listen = firstWait
			}
			end = time.After(*listen)
			*listen = min(2**listen, mostWait)
		case <-end:
			if o.retire(0) {
				return false, nil
			}
			end = time.After(time.Second)
		case <-check:
			if o.retire(o.set.Times.Idle) {
				return true, nil
			}
		case <-pulse:
			if err := o.look(ctx, c); err != nil {
				return false, err
			}
		case <-o.refresh:
			if wait := refreshEvery - o.cfg.Now().Sub(last); wait > 0 && wait <= refreshEvery {
				select {
				case <-time.After(wait):
				case <-ctx.Done():
				}
			}
			last = o.cfg.Now()
			if err := o.look(ctx, c); err != nil {
				return false, err
			}
		}
	}
}

// enter changes the phase.
func (o *Server) enter(p Phase, reason string, c *connection) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.phase, o.reason, o.conn = p, reason, c
	if c != nil {
		o.used = o.cfg.Now()
		select {
		case <-o.wanted: // this is what was wanted
		default:
		}
	}
	close(o.moved)
	o.moved = make(chan struct{})
	signal(o.changes)
}

// retire gives up the connection if no call has run for some time, and reports whether it did. A
// call that begins then waits for the next connection.
func (o *Server) retire(unused time.Duration) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.calls) > 0 || o.cfg.Now().Sub(o.used) < unused {
		return false
	}
	o.phase, o.conn = Connecting, nil
	return true
}

// Again ends the connection and makes a new one.
func (o *Server) Again() { signal(o.again) }

// connect makes a connection within the time for it.
func (o *Server) connect(ctx context.Context) (*connection, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.set.Times.Connect, fmt.Errorf("it did not answer within %v; connect_timeout sets how long to wait", o.set.Times.Connect))
	defer cancel()
	first := &attempt{}
	defer first.done()
	ctx = context.WithValue(ctx, attemptKey{}, first)
	w, err := o.transport(ctx)
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "hermes", Title: "Hermes", Version: o.cfg.Version}, o.options())
	client.AddReceivingMiddleware(o.received)
	if o.cfg.Roots != nil {
		for _, dir := range o.cfg.Roots() {
			client.AddRoots(rootOf(dir))
		}
	}
	var opts mcp.ClientSessionOptions
	if o.set.Protocol == setting.ProtocolLegacy {
		opts.ProtocolVersion = lastLegacy
	}
	session, err := client.Connect(ctx, w.transport, &opts)
	err = w.refused.or(err)
	if err == nil && o.set.Protocol == setting.ProtocolStateless && version(session) < firstStateless {
		err = fmt.Errorf("it speaks the protocol %s, and its settings demand stateless", version(session))
		_ = session.Close() // nothing was done with it
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, errors.Join(err, w.end())
	}
	c := &connection{session: session, silent: w.silent, over: make(chan struct{})}
	c.end = sync.OnceValue(func() error {
		closing := make(chan struct{})
		go func() { // ends when the transport does, which end sees to
			_ = session.Close()
			close(closing)
		}()
		select {
		case <-closing:
		case <-time.After(goodbye):
		}
		return w.end()
	})
	go func() { // ends with the connection
		c.finish(cmp.Or(o.reached(session.Wait()), errors.New("the server closed it")))
	}()
	return c, nil
}

// goodbye is how long a server may take to say that it has closed a connection.
const goodbye = 2 * time.Second

// The versions of the protocol between which it became stateless.
const (
	lastLegacy     = "2025-11-25"
	firstStateless = "2026-07-28"
)

func version(s *mcp.ClientSession) string {
	if r := s.InitializeResult(); r != nil {
		return r.ProtocolVersion
	}
	return ""
}

// transport returns how the server is reached.
func (o *Server) transport(ctx context.Context) (way, error) {
	if o.set.Remote != nil {
		return o.remote()
	}
	if o.cfg.Malware != nil && !o.set.SkipPreflight {
		if why := o.cfg.Malware(ctx, o.set); why != "" {
			return way{}, errors.New(why)
		}
	}
	if o.cfg.Environment == nil {
		return way{}, errors.New("programs of MCP servers cannot be started here")
	}
	p := &program{set: o.set, environment: o.cfg.Environment, now: o.cfg.Now}
	return way{transport: p, end: p.end}, nil
}

// connected returns the connection, and waits until there is one.
func (o *Server) connected(ctx context.Context) (*connection, error) {
	asked := false
	for {
		o.mu.Lock()
		c, phase, reason, moved, stopped := o.conn, o.phase, o.reason, o.moved, o.stopped
		o.mu.Unlock()
		switch {
		case c != nil:
			select {
			case <-c.over: // run has not seen it yet
			default:
				return c, nil
			}
		case phase == Failed && asked:
			return nil, fmt.Errorf("the MCP server %s cannot be used now: %s", o.set.Name, text.OneLine(reason, 500))
		case phase == Failed || phase == Idle:
			asked = true
			signal(o.wanted)
		}
		select {
		case <-moved:
		case <-stopped:
			return nil, fmt.Errorf("the MCP server %s has ended: %s", o.set.Name, text.OneLine(reason, 500))
		case <-ctx.Done():
			return nil, fmt.Errorf("the MCP server %s is not connected: %w", o.set.Name, context.Cause(ctx))
		}
	}
}

func (o *Server) state() State { return o.Listing().State(o) }

// State is what is known of the server that the listing is of, with the tools of the listing.
func (l Listing) State(o *Server) State {
	tools := l.list.tools
	o.mu.Lock()
	s := State{Name: o.set.Name, Phase: o.phase, Reason: text.OneLine(text.Plain(o.reason), 500)}
	c := o.conn
	o.mu.Unlock()
	if c != nil {
		s.Protocol = version(c.session)
		if r := c.session.InitializeResult(); r != nil && r.ServerInfo != nil {
			s.Title, s.Version = text.OneLine(text.Plain(r.ServerInfo.Name), 100), text.OneLine(text.Plain(r.ServerInfo.Version), 40)
		}
	}
	for _, t := range tools {
		s.Tools = append(s.Tools, ToolState{Name: t.name, Original: t.def.Name, Description: t.def.Description, Blocked: o.blocked(t.def)})
	}
	order.By(s.Tools, func(a, b ToolState) int { return cmp.Compare(a.Name, b.Name) })
	return s
}

var _ hermes.Toolset = (*Server)(nil)

// Ready waits until the server is connected and has listed its tools, or has failed. It starts no
// server: see [Servers.Start].
func (o *Server) Ready(ctx context.Context) error {
	for {
		o.mu.Lock()
		phase, reason, moved := o.phase, o.reason, o.moved
		o.mu.Unlock()
		switch phase {
		case Connected:
			return nil
		case Failed:
			return errors.New(reason)
		case Idle:
			signal(o.wanted)
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Settings returns the settings of the server, which must not be changed.
func (o *Server) Settings() setting.Server { return o.set }

// State returns what is known of the server.
func (o *Server) State() State { return o.state() }
