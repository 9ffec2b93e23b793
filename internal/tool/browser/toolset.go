// Package browser is the toolset with which a model works web pages in a browser, as a person does:
// it reads a page as an outline with refs, and clicks, types and scrolls by these.
//
// It owns the arguments and results of the tools, whose browser a call uses, when that ends, and what
// a call may send to a site. How a browser is started, which addresses are allowed and what a secret
// is comes from the [Config]; how a page is read and worked is package hermes/internal/browser. All
// text of pages is untrusted. Start at [New], then seat.go and tools.go.
package browser

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"hermes"
	"hermes/internal/browser"
)

// Config is what the tools need of the program. Its funcs may be called concurrently.
type Config struct {
	// Open starts a browser for an outermost session, or connects to one; local is the one for which
	// Place asks. after is called when it is closed.
	Open func(ctx context.Context, session string, local bool) (b *browser.Browser, after func() error, err error)
	// Place reports whether an address that Judge allows is opened in a local browser that an outermost
	// session has beside one of a service. Nil: none is.
	Place func(ctx context.Context, session, url string) (local bool, err error)
	// Outside decides whether a browser of a service may be at an address; nil: at all. The error says why not.
	Outside func(ctx context.Context, url string) error
	// Ended is called when a session has ended; nil is not.
	Ended func(session string)
	// Missing says why there is no browser, worded for the user; "" if there is one.
	Missing func() string
	// Request returns what the user asked for in the newest message.
	Request func(ctx context.Context, s hermes.SessionRef) string
	// Judge decides whether an address may be opened. The error says why not.
	Judge func(ctx context.Context, url string) error
	// Secret reports whether a text has a value that must not leave this machine.
	Secret func(text string) bool
	// Keep stores the text that is too long for a result, and returns where.
	Keep func(ctx context.Context, c *hermes.Call, text string) (string, error)
	// Files stores and checks files of this machine.
	Files Files
	// Look answers a question about a picture with the help of another model. Sees reports
	// whether a model can look by itself.
	Look func(ctx context.Context, s hermes.SessionRef, question string, png []byte) (string, error)
	Sees func(model string) bool
	// Idle is how long a browser without calls goes on; 0 is two minutes.
	Idle time.Duration
	// Timeout bounds one call; 0 is 30 seconds.
	Timeout time.Duration
	// NoScripts says that the model may run no scripts in pages. Free says that it may do so also
	// after untrusted text without a question.
	NoScripts, Free bool
}

// Files stores what pages give, and decides which files they may have.
type Files interface {
	// Picture stores a screenshot and returns its path.
	Picture(png []byte) (string, error)
	// PDF stores a document and returns its path.
	PDF(session string, pdf []byte) (string, error)
	// Upload returns the path of a copy of a file that the session may read, where its browser can
	// read it. It goes with the browser.
	Upload(ctx context.Context, c *hermes.Call, session, path string) (copied string, err error)
}

// Toolset is the tools. It may be used concurrently.
type Toolset struct {
	config Config
	tools  []hermes.Tool

	mu     sync.Mutex
	closed bool
	owners map[place]*owner // of outermost sessions
	seats  map[place]*seat  // of sessions
	local  map[string]bool  // by session: it works in its local browser now
}

// place is one of the two browsers that a session may have: the usual one, or the local one beside one of a service.
type place struct {
	session string
	local   bool
}

// both are the places of a session.
func both(session string) [2]place { return [2]place{{session, false}, {session, true}} }

var (
	_ hermes.Toolset = (*Toolset)(nil)
	_ hermes.Stopper = (*Toolset)(nil)
)

// New makes the toolset. It starts nothing.
func New(c Config) *Toolset {
	if c.Idle <= 0 {
		c.Idle = 2 * time.Minute
	}
	if c.Timeout <= 0 {
		c.Timeout = 30 * time.Second
	}
	t := &Toolset{config: c, owners: map[place]*owner{}, seats: map[place]*seat{}, local: map[string]bool{}}
	for _, d := range definitions {
		t.tools = append(t.tools, &tool{set: t, definition: d})
	}
	return t
}

// Name is "browser".
func (t *Toolset) Name() string { return "browser" }

// Available says that no browser is there, or "".
func (t *Toolset) Available(context.Context) string { return t.config.Missing() }

// Tools returns the tools.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) { return t.tools, nil }

// Hook closes what a session that ends has open.
func (t *Toolset) Hook() hermes.Hook {
	return hermes.Hook{Name: "browser", SessionEnd: func(_ context.Context, s hermes.SessionRef) {
		t.Stop(s)
		if t.config.Ended != nil {
			t.config.Ended(s.ID)
		}
	}}
}

// Stop closes the tabs of a session, and the browsers of an outermost one.
func (t *Toolset) Stop(s hermes.SessionRef) {
	var owners []*owner
	var seats []*seat
	t.mu.Lock()
	for _, p := range both(s.ID) {
		if at := t.seats[p]; at != nil {
			seats = append(seats, at)
		}
		delete(t.seats, p)
		if o := t.owners[p]; o != nil && s.Depth == 0 {
			owners = append(owners, o)
			delete(t.owners, p)
		}
	}
	delete(t.local, s.ID)
	t.mu.Unlock()
	_ = endAll(owners) // what could not be removed or released is tried again by the next start of such a browser
	if len(owners) == 0 {
		for _, at := range seats {
			at.leave()
		}
	}
}

// Runs reports whether an outermost session has a browser that no service runs, and returns the title of the service
// that runs its other one, if it has one.
func (t *Toolset) Runs(session string) (own bool, service string) {
	t.mu.Lock()
	owners := t.ownersOf(session)
	t.mu.Unlock()
	for _, o := range owners {
		o.mu.Lock()
		if o.browser != nil && o.browser.Err() == nil {
			own = own || o.browser.Remote() == ""
			service += o.browser.Remote() // one of them at most is of a service
		}
		o.mu.Unlock()
	}
	return own, service
}

// ownersOf lists the browsers of an outermost session. Call it with the lock held.
func (t *Toolset) ownersOf(session string) (all []*owner) {
	for _, p := range both(session) {
		if o := t.owners[p]; o != nil {
			all = append(all, o)
		}
	}
	return all
}

// Leave closes the browsers of an outermost session, which gets others when it needs them.
func (t *Toolset) Leave(session string) error {
	t.mu.Lock()
	owners := t.ownersOf(session)
	for _, o := range owners {
		delete(t.owners, o.place) // its children come to the new one, too
	}
	for p, at := range t.seats {
		if slices.Contains(owners, at.owner) {
			delete(t.local, p.session)
		}
	}
	t.mu.Unlock()
	return endAll(owners)
}

// endAll ends browsers at the same time: a service may be slow.
func endAll(owners []*owner) error {
	errs := make([]error, len(owners))
	var all sync.WaitGroup
	for i, o := range owners {
		all.Go(func() { errs[i] = o.end(true) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// Close closes all browsers.
func (t *Toolset) Close() error {
	t.mu.Lock()
	t.closed = true
	owners := slices.Collect(maps.Values(t.owners))
	t.owners, t.seats = map[place]*owner{}, map[place]*seat{}
	t.mu.Unlock()
	return endAll(owners)
}

// arguments are those of all tools; each has some of them.
type arguments struct {
	URL, Ref, Text, Direction, Key, Question, Expression, Method, Action, ID, To, Path string

	Prompt   string `json:"prompt_text"`
	Target   string `json:"target_id"`
	Frame    string `json:"frame_id"`
	Full     bool
	Annotate bool
	Clear    bool
	Params   json.RawMessage
}

// read decodes arguments; what does not fit is empty.
func read(raw json.RawMessage) (in arguments) {
	_ = json.Unmarshal(raw, &in)
	return in
}
