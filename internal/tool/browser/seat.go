package browser

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"hermes"
	"hermes/internal/browser"
)

// owner is a browser of an outermost session and its children.
type owner struct {
	place
	set *Toolset

	// turn is held while the browser is started or ended.
	turn chan struct{}

	mu      sync.Mutex
	browser *browser.Browser // nil: none was started, or it has ended
	after   func() error     // when it is closed
	ended   bool             // for good
	calls   int              // that go on
	idle    *time.Timer
	listed  int    // downloads that the model knows
	note    string // for the model: why the browser that was there is not
}

// seat is where a session works: a tab of the browser.
type seat struct {
	owner   *owner
	session string // whose tabs are given to it

	mu   sync.Mutex
	page *browser.Page // nil: none is open
	told bool          // whose browser it is
}

var errEnding = errors.New("the session is closing; no browser is started any more")

// seat returns the place where the session of a call works now.
func (t *Toolset) seat(s hermes.SessionRef) (*seat, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sit(s, t.local[s.ID])
}

// move has a session work in its usual browser, or in its local one.
func (t *Toolset) move(s hermes.SessionRef, local bool) (*seat, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.local[s.ID] = local
	return t.sit(s, local)
}

// sit returns a place of a session. Call it with the lock held.
func (t *Toolset) sit(s hermes.SessionRef, local bool) (*seat, error) {
	if t.closed {
		return nil, errEnding
	}
	top := place{s.Outermost(), local}
	o := t.owners[top]
	if o == nil {
		o = &owner{place: top, set: t, turn: make(chan struct{}, 1)}
		t.owners[top] = o
	}
	here := place{s.ID, local}
	at := t.seats[here]
	if at == nil || at.owner != o {
		at = &seat{owner: o, session: s.ID}
		t.seats[here] = at
	}
	return at, nil
}

// sitting returns the place where a session works now, if it has one.
func (t *Toolset) sitting(s hermes.SessionRef) *seat {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seats[place{s.ID, t.local[s.ID]}]
}

// begin keeps the browser from being closed for idleness until the call is over.
func (o *owner) begin() (over func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls++
	if o.idle != nil {
		o.idle.Stop()
	}
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.calls--; o.calls == 0 && !o.ended && o.browser != nil {
			o.idle = time.AfterFunc(o.set.config.Idle, o.rest)
		}
	}
}

// rest closes a browser that was not used for long.
func (o *owner) rest() {
	o.mu.Lock()
	busy := o.calls > 0
	o.mu.Unlock()
	if !busy {
		_ = o.end(false)
	}
}

// get returns the browser, nil if there is none and start is false.
func (o *owner) get(ctx context.Context, start bool) (*browser.Browser, error) {
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	o.mu.Lock()
	b, after, ended := o.browser, o.after, o.ended
	o.mu.Unlock()
	if ended {
		return nil, errEnding
	}
	if b != nil && b.Err() != nil {
		_ = errors.Join(b.Close(), after()) // it has ended by itself
		note := "the browser has ended unexpectedly; what it had open is gone"
		if service := b.Remote(); service != "" {
			note = "the browser of " + service + " has ended, perhaps after browser.cloud_timeout; what it had open is gone"
		}
		o.mu.Lock()
		b, o.browser, o.note = nil, nil, note
		o.mu.Unlock()
	}
	if b != nil || !start {
		return b, nil
	}
	b, after, err := o.set.config.Open(ctx, o.session, o.local)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.browser, o.after, o.listed = b, after, 0
	return b, nil
}

// end closes the browser; for good, or until it is needed again.
func (o *owner) end(good bool) error {
	o.mu.Lock()
	o.ended = o.ended || good
	if o.idle != nil {
		o.idle.Stop()
	}
	o.mu.Unlock()
	o.turn <- struct{}{} // a start that goes on ends first
	defer func() { <-o.turn }()
	o.mu.Lock()
	b, after := o.browser, o.after
	if !good && o.calls > 0 {
		b = nil // a call began meanwhile
	} else if b != nil {
		o.browser, o.note = nil, "the browser was closed, since it was not used for some time"
	}
	o.mu.Unlock()
	if b == nil {
		return nil
	}
	return errors.Join(b.Close(), after())
}

// said returns the note for the model, once.
func (o *owner) said() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	note := o.note
	o.note = ""
	return note
}

// greeting says, once, that the session works in a browser of a service, or in a local one beside it.
func (s *seat) greeting(b *browser.Browser) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told || b.Remote() == "" && !s.owner.local {
		return ""
	}
	s.told = true
	if s.owner.local {
		return "this private address is opened in a local browser of the user, not in the one of the service"
	}
	return "this page is opened by " + b.Remote() + ", a service on the web, which sees what is on it and what is typed"
}

// open returns the tab of the session, a new one if it has none.
func (s *seat) open(ctx context.Context) (*browser.Page, error) {
	b, err := s.owner.get(ctx, true)
	if err != nil {
		return nil, err
	}
	if p := s.current(b); p != nil {
		return p, nil
	}
	p, err := b.NewPage(ctx)
	if err != nil {
		return nil, err
	}
	s.take(p)
	return p, nil
}

// here returns the tab of the session. The error of none says to navigate.
func (s *seat) here(ctx context.Context) (*browser.Page, error) {
	b, err := s.owner.get(ctx, false)
	if err != nil {
		return nil, err
	}
	if b != nil {
		if p := s.current(b); p != nil {
			return p, nil
		}
	}
	why := s.owner.said()
	if why == "" {
		why = "no page is open"
	}
	return nil, errors.New(why + "; open one with browser_navigate")
}

// current returns the tab of the session if it is one of this browser.
func (s *seat) current(b *browser.Browser) *browser.Page {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.page == nil {
		return nil
	}
	if s.page.Browser() != b || !slices.ContainsFunc(b.Tabs(), func(tab browser.Tab) bool { return tab.ID == s.page.ID }) {
		s.page = nil
		return nil
	}
	return s.page
}

// take makes a tab the one that the session works in.
func (s *seat) take(p *browser.Page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.page = p
	p.Give(s.session)
}

// leave closes the tabs of a child.
func (s *seat) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), s.owner.set.config.Timeout)
	defer cancel()
	b, err := s.owner.get(ctx, false)
	if b == nil || err != nil {
		return
	}
	for _, tab := range b.Tabs() {
		if tab.Owner == s.session && tab.Open {
			if p, err := b.Select(ctx, tab.ID); err == nil {
				_ = p.Close(ctx)
			}
		}
	}
}

// others reports whether a tab is one of another session with this browser.
func (t *Toolset) others(s *seat, tab browser.Tab) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return tab.Owner != s.session && t.seats[place{tab.Owner, s.owner.local}] != nil
}
