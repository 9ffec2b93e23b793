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
	"sync"
	"time"

	"hermes"
	"hermes/internal/browser"
)

// Config is what the tools need of the program. Its funcs may be called concurrently.
type Config struct {
	// Open starts a browser for an outermost session, or connects to one. after is called when it is
	// closed.
	Open func(ctx context.Context, session string) (b *browser.Browser, after func() error, err error)
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
	owners map[string]*owner // by the id of an outermost session
	seats  map[string]*seat  // by the id of a session
}

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
	t := &Toolset{config: c, owners: map[string]*owner{}, seats: map[string]*seat{}}
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

// Stop closes the tabs of a session, and the browser of an outermost one.
func (t *Toolset) Stop(s hermes.SessionRef) {
	t.mu.Lock()
	at := t.seats[s.ID]
	delete(t.seats, s.ID)
	var o *owner
	if s.Depth == 0 {
		o = t.owners[s.ID]
		delete(t.owners, s.ID)
	}
	t.mu.Unlock()
	switch {
	case o != nil:
		_ = o.end(true) // it is logged nowhere: what was left is removed by the next start
	case at != nil:
		at.leave()
	}
}

// Runs reports whether an outermost session has a browser.
func (t *Toolset) Runs(session string) bool {
	t.mu.Lock()
	o := t.owners[session]
	t.mu.Unlock()
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.browser != nil && o.browser.Err() == nil
}

// Leave closes the browser of an outermost session, which gets another one when it needs it.
func (t *Toolset) Leave(session string) error {
	t.mu.Lock()
	o := t.owners[session]
	delete(t.owners, session) // its children come to the new one, too
	t.mu.Unlock()
	if o == nil {
		return nil
	}
	return o.end(true)
}

// Close closes all browsers.
func (t *Toolset) Close() error {
	t.mu.Lock()
	t.closed = true
	owners := t.owners
	t.owners, t.seats = map[string]*owner{}, map[string]*seat{}
	t.mu.Unlock()
	var errs []error
	for _, o := range owners {
		errs = append(errs, o.end(true))
	}
	return errors.Join(errs...)
}

// arguments are those of all tools; each has some of them.
type arguments struct {
	URL, Ref, Text, Direction, Key, Question, Expression, Method, Action, ID, To, Path string

	Prompt   string `json:"prompt_text"`
	Target   string `json:"target_id"`
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
