// Package browser drives a Chromium over the DevTools protocol: it starts one or connects to
// one that runs, and reads and works its pages as a person would, by what is visible.
//
// [Start] owns the browser that it starts: Close ends all its processes and removes what it
// stored, and so does the end of this process, however it ends. [Connect] uses a browser of
// somebody else and touches only tabs that it opened, that these opened, or that were selected.
//
// A [Page] is a tab. [Page.Snapshot] shows it as text with refs such as @e12, which the
// actions take; a ref is of one element of one document, and never leads to another. All
// text of a page is the page's: the caller must treat it as untrusted.
//
// The package does not know sessions, tools, settings or approvals. Start reading at
// [Browser], then page.go and snapshot.go.
package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"hermes/internal/cdp"
	"hermes/internal/order"
)

// Options are what a browser that is started and one that is connected to have in common.
type Options struct {
	// Dialogs says what happens to dialogs of pages (alert, confirm, prompt).
	Dialogs DialogPolicy
	// DialogTimeout is how long a dialog may wait for an answer before it is dismissed;
	// 0 is five minutes.
	DialogTimeout time.Duration
	// Downloads says where files go. Without a folder, downloads are refused.
	Downloads Downloads
	// LoadTimeout bounds how long an action waits for a page to load; 0 is 20 seconds.
	LoadTimeout time.Duration
	// CallTimeout bounds any other wait for the browser; 0 is 30 seconds.
	CallTimeout time.Duration
	// Width and Height are the size of the viewport; 0 is 1280 by 800. A browser that is
	// connected to keeps its own.
	Width, Height int
	// Remote is the title of the service on the web that runs a browser that is connected to, "" for others.
	// Such a browser keeps no downloads, and the console only of the page that is shown.
	Remote string
}

// callTimeout bounds a wait for the browser, if the options do not.
const callTimeout = 30 * time.Second

// Bounds of what pages can make grow.
const (
	maxTabs   = 50
	maxFrames = 30 // that a snapshot reads
)

// Browser is a browser with its tabs. Its methods may be called concurrently. The caller must
// call Close.
type Browser struct {
	opts    Options
	conn    *cdp.Conn
	program *program // nil if somebody else started it
	life    context.Context
	end     context.CancelFunc
	work    sync.WaitGroup
	closing sync.Once

	mu        sync.Mutex
	pages     []*Page              // in the order of their opening
	sessions  map[string]*session  // by session id
	targets   map[string]targetRow // tabs that are there, by target id
	owners    map[string]string    // of tabs, by target id
	made      int                  // tabs so far
	downloads downloads
	changed   chan struct{} // closed and replaced when a tab or download changes
}

// targetRow is a tab as the browser tells of it.
type targetRow struct {
	ID     string `json:"targetId"`
	Type   string
	Title  string
	URL    string
	Opener string `json:"openerId"`
}

// session is a connection to a tab, or to a frame of one that has a process of its own.
type session struct {
	id   string
	page *Page
	root string // id of its topmost frame
}

// Tab is a line in the list of tabs.
type Tab struct {
	ID    string // as Select and Page take it
	Title string
	URL   string
	Open  bool // it is one of those that this Browser works with
	// Owner is whom it was given to, or the tab that opened it; see Page.Give.
	Owner string
}

// ErrGone says that the browser has ended, or the connection to it.
var ErrGone = cdp.ErrClosed

// ErrNoTab says that there is no such tab.
var ErrNoTab = errors.New("there is no such tab: list the tabs")

func open(t cdp.Transport, p *program, o Options) *Browser {
	o.DialogTimeout = orDefault(o.DialogTimeout, 5*time.Minute)
	o.LoadTimeout = orDefault(o.LoadTimeout, 20*time.Second)
	o.CallTimeout = orDefault(o.CallTimeout, callTimeout)
	if o.Width <= 0 || o.Height <= 0 {
		o.Width, o.Height = 1280, 800
	}
	b := &Browser{
		opts: o, program: p, sessions: map[string]*session{}, targets: map[string]targetRow{}, owners: map[string]string{},
		changed: make(chan struct{}), downloads: downloads{begun: map[string]*Download{}},
	}
	b.life, b.end = context.WithCancel(context.Background())
	b.conn = cdp.New(t, b.event)
	return b
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// prepare asks for news of tabs and says where downloads go.
func (b *Browser) prepare(ctx context.Context) error {
	if err := b.prepareDownloads(ctx); err != nil {
		return err
	}
	filter := []map[string]any{{"type": "page"}}
	if err := b.call(ctx, "", "Target.setDiscoverTargets", fields{"discover": true, "filter": filter}, nil); err != nil {
		return err
	}
	if b.program == nil {
		return nil
	}
	return b.call(ctx, "", "Target.setAutoAttach", fields{
		"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": filter,
	}, nil)
}

// fields are parameters of a call.
type fields map[string]any

// call calls a method, for as long as the options allow.
func (b *Browser) call(ctx context.Context, session, method string, params, result any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, b.opts.CallTimeout, fmt.Errorf("the browser did not answer within %s", b.opts.CallTimeout))
	defer cancel()
	return b.conn.Call(ctx, session, method, params, result)
}

// Err says why the browser has gone; nil as long as it is there.
func (b *Browser) Err() error { return b.conn.Err() }

// Close ends a browser that Start started, with all its processes, and removes its profile
// unless that is a persistent one. Of one that was connected to, it closes the tabs that were
// opened here. It may be called more than once.
func (b *Browser) Close() error {
	var err error
	b.closing.Do(func() {
		if b.program == nil {
			b.closeOwnTabs()
		} else if b.program.persistent() {
			b.program.ask(b)
		}
		b.end()
		b.conn.Close()
		b.work.Wait()
		if b.program != nil {
			err = b.program.close()
			b.removeLost()
		}
	})
	return err
}

func (b *Browser) closeOwnTabs() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for _, p := range b.list() {
		b.mu.Lock()
		own := p.own
		b.mu.Unlock()
		if own {
			_ = b.conn.Call(ctx, "", "Target.closeTarget", fields{"targetId": p.target}, nil)
		}
	}
}

func (b *Browser) list() []*Page {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.pages)
}

// NewPage opens a tab with an empty page.
func (b *Browser) NewPage(ctx context.Context) (*Page, error) {
	if len(b.list()) >= maxTabs {
		return nil, errTabs()
	}
	var made struct{ TargetID string }
	if err := b.call(ctx, "", "Target.createTarget", fields{"url": "about:blank"}, &made); err != nil {
		return nil, err
	}
	var p *Page
	var err error
	if b.program == nil {
		err = b.attach(ctx, made.TargetID)
	}
	if err == nil {
		p, err = b.await(ctx, made.TargetID)
	}
	if err != nil { // no one has it
		b.conn.Post(b.life, "", "Target.closeTarget", fields{"targetId": made.TargetID})
		return nil, err
	}
	b.mu.Lock()
	p.own = true
	b.mu.Unlock()
	return p, nil
}

func errTabs() error { return fmt.Errorf("%d tabs are open: close one first", maxTabs) }

// Remote returns the title of the service that runs the browser, "" if none does.
func (b *Browser) Remote() string { return b.opts.Remote }

// Started reports whether the browser was started here, and not connected to.
func (b *Browser) Started() bool { return b.program != nil }

func (b *Browser) attach(ctx context.Context, target string) error {
	return b.call(ctx, "", "Target.attachToTarget", fields{"targetId": target, "flatten": true}, nil)
}

// await waits until a tab can be worked with.
func (b *Browser) await(ctx context.Context, target string) (*Page, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, b.opts.CallTimeout, errors.New("the tab did not open in time"))
	defer cancel()
	var p *Page
	err := b.wait(ctx, func() bool {
		i := slices.IndexFunc(b.pages, func(p *Page) bool { return p.target == target })
		if i >= 0 {
			p = b.pages[i]
		}
		return i >= 0
	})
	if err != nil {
		return nil, err
	}
	select {
	case <-p.ready:
		return p, p.failed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// wait waits until done, which is asked with the lock held when tabs or downloads have changed.
func (b *Browser) wait(ctx context.Context, done func() bool) error {
	for {
		b.mu.Lock()
		ok, changed := done(), b.changed
		b.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-b.conn.Gone():
			return b.conn.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Tabs lists the tabs. Of a browser that was connected to, these are all that it has.
func (b *Browser) Tabs() []Tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Tab
	known := map[string]bool{}
	for _, p := range b.pages {
		row := b.targets[p.target]
		known[p.target] = true
		all = append(all, Tab{ID: p.ID, Title: row.Title, URL: row.URL, Open: true, Owner: b.owners[p.target]})
	}
	var others []Tab
	for id, row := range b.targets {
		if !known[id] {
			others = append(others, Tab{ID: id, Title: row.Title, URL: row.URL, Owner: b.owners[id]})
		}
	}
	order.By(others, func(x, y Tab) int { return cmp.Compare(x.ID, y.ID) })
	return append(all, others...)
}

// Select returns the tab of this id, brought to the front.
func (b *Browser) Select(ctx context.Context, id string) (*Page, error) {
	target := ""
	b.mu.Lock()
	for _, p := range b.pages {
		if p.ID == id {
			target = p.target
		}
	}
	if _, there := b.targets[id]; target == "" && there && b.program == nil {
		target = id
	}
	attached := slices.ContainsFunc(b.pages, func(p *Page) bool { return p.target == target })
	full := len(b.pages) >= maxTabs
	b.mu.Unlock()
	switch {
	case target == "":
		return nil, ErrNoTab
	case !attached && full:
		return nil, errTabs()
	}
	if !attached {
		if err := b.attach(ctx, target); err != nil {
			return nil, err
		}
	}
	p, err := b.await(ctx, target)
	if err != nil {
		return nil, err
	}
	return p, b.call(ctx, "", "Target.activateTarget", fields{"targetId": target}, nil)
}

// join adds the page of a new tab.
func (b *Browser) join(target string) *Page {
	b.made++
	p := newPage(b, target, "t"+strconv.Itoa(b.made))
	b.pages = append(b.pages, p)
	b.tell()
	return p
}

// inherit gives a tab the owner of the one that opened it. Call it with the lock held.
func (b *Browser) inherit(row targetRow) {
	if owner := b.owners[row.Opener]; owner != "" && b.owners[row.ID] == "" {
		b.owners[row.ID] = owner
	}
}

// tell wakes who waits for tabs. Call it with the lock held.
func (b *Browser) tell() {
	close(b.changed)
	b.changed = make(chan struct{})
}
