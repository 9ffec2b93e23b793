package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/cdp"
)

// Bounds of what is kept of a page.
const (
	maxTitle = 300
	maxURL   = 2000
)

// Page is a tab. Its methods may be called concurrently; actions follow one after the
// other. While it shows a dialog, all but Dialog and AnswerDialog return a *DialogError.
type Page struct {
	// ID is its name in the list of tabs.
	ID string

	b       *Browser
	target  string // its id, which is that of its main frame
	main    string // the session of the tab
	opener  string // the tab that opened it
	own     bool   // opened by NewPage
	ready   chan struct{}
	once    sync.Once
	failed  error // why it never got ready; set before ready is closed
	acting  sync.Mutex
	console console

	mu     sync.Mutex
	frames map[string]*frame
	state  state
	refs   refs
}

// state is what changes with what the tab tells.
type state struct {
	changed  chan struct{} // closed and replaced with each change
	closed   bool
	crashed  bool
	starting int // navigations of the main frame that were begun so far
	loading  bool
	dialog   *openDialog
	quiet    context.Context // ends when a dialog opens or the tab crashes
	disturb  context.CancelCauseFunc
	answered *Dialog // the last one that was answered without a caller
	chooser  *chooser
	drag     json.RawMessage
}

// frame is a frame of the page; the main frame is one of them.
type frame struct {
	_ [0]func() // it is never compared, which saves the code for it

	id, parent string
	session    string // that it is reached by
	loader     string // names its document
	loaded     string // the loader of the last document that was loaded
	url        string
	world      int64 // of our scripts in this document; 0: not made
	owner      int64 // the node of its parent that shows it; 0: not asked
	crashed    bool
}

func newPage(b *Browser, target, id string) *Page {
	p := &Page{ID: id, b: b, target: target, ready: make(chan struct{}), frames: map[string]*frame{}}
	p.state.changed = make(chan struct{})
	p.state.quiet, p.state.disturb = context.WithCancelCause(b.life)
	return p
}

// Browser returns the browser that the page is a tab of.
func (p *Page) Browser() *Browser { return p.b }

// Give notes whose tab it is. The tabs that it opens are theirs, too.
func (p *Page) Give(owner string) {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	p.b.owners[p.target] = owner
}

// Errors of a page that a caller decides by.
var (
	// ErrCrashed says that the tab has crashed. Navigate to go on.
	ErrCrashed = errors.New("the tab has crashed: open its address again")
	// ErrTabClosed says that the tab has been closed.
	ErrTabClosed = errors.New("the tab has been closed: select another one or open a new one")
)

// update changes the state and wakes who waits for changes.
func (p *Page) update(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	close(p.state.changed)
	p.state.changed = make(chan struct{})
}

// wait waits until done, which is asked with the lock held.
func (p *Page) wait(ctx context.Context, done func() bool) error {
	for {
		p.mu.Lock()
		ok, changed, err := done(), p.state.changed, p.usable()
		p.mu.Unlock()
		switch {
		case ok:
			return nil
		case err != nil:
			return err
		}
		select {
		case <-changed:
		case <-p.b.conn.Gone():
			return p.b.conn.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// usable says why the page cannot be worked with. Call it with the lock held.
func (p *Page) usable() error {
	switch {
	case p.state.closed:
		return ErrTabClosed
	case p.state.dialog != nil:
		return &DialogError{p.state.dialog.Dialog}
	case p.state.crashed:
		return ErrCrashed
	}
	return nil
}

// call calls a method of a session of this page. A dialog that opens ends the wait.
func (p *Page) call(ctx context.Context, session, method string, params, result any) error {
	p.mu.Lock()
	err, quiet := p.usable(), p.state.quiet
	p.mu.Unlock()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(quiet, func() { cancel(context.Cause(quiet)) })()
	err = p.b.call(ctx, session, method, params, result)
	var opened *dialogOpened
	switch {
	case errors.As(err, &opened):
		p.mu.Lock()
		defer p.mu.Unlock()
		return &DialogError{opened.dialog.Dialog} // it may have been answered meanwhile
	case errors.Is(err, cdp.ErrCrashed) && session == p.main:
		return ErrCrashed
	case errors.Is(err, cdp.ErrCrashed):
		return errFrameCrashed
	case errors.Is(err, cdp.ErrMoved):
		return errMoved
	case errors.Is(err, cdp.ErrDetached) && session == p.main:
		return ErrTabClosed
	case errors.Is(err, cdp.ErrDetached):
		return errNoFrame
	}
	return err
}

var errFrameCrashed = errors.New("this frame has crashed: open the page again")

// errorPageWait bounds the wait for the page that a browser shows in place of one that it cannot load.
const errorPageWait = 10 * time.Second

// Info is where a page is.
type Info struct {
	URL    string
	Title  string
	Status int  // of the HTTP answer; 0 if unknown or none
	Loaded bool // false: it was still loading when the time was up
}

// Navigate loads an address and waits until it has loaded, or the time for loading is up.
// The caller decides which addresses are allowed.
func (p *Page) Navigate(ctx context.Context, url string) (Info, error) {
	p.acting.Lock()
	defer p.acting.Unlock()
	var answer struct{ LoaderID, ErrorText string }
	begun, cancel := context.WithTimeoutCause(ctx, p.b.opts.LoadTimeout, fmt.Errorf("%s did not answer within %s", clean(url, 200), p.b.opts.LoadTimeout))
	old := p.loader()
	err := p.revive(begun, "Page.navigate", fields{"url": url}, &answer)
	cancel()
	if err != nil {
		if begun.Err() != nil && ctx.Err() == nil {
			p.b.conn.Post(ctx, p.main, "Page.stopLoading", nil)
		}
		return Info{}, err
	}
	if answer.ErrorText != "" {
		if answer.ErrorText == "net::ERR_ABORTED" {
			return Info{}, fmt.Errorf("%s showed no page: it is a download, or it was stopped", clean(url, 200))
		}
		shown, cancel := context.WithTimeout(ctx, errorPageWait)
		_, _ = p.arrive(shown, func(f *frame) bool { return f.loader != old }) // what the browser shows instead
		cancel()
		return Info{}, fmt.Errorf("%s cannot be loaded: %s", clean(url, 200), strings.TrimPrefix(answer.ErrorText, "net::"))
	}
	if answer.LoaderID == "" { // another place in the same document
		return p.info(ctx, true)
	}
	return p.arrive(ctx, func(f *frame) bool { return f.loader == answer.LoaderID || f.loader != old && f.loaded == f.loader })
}

// revive calls what works in a crashed tab, too.
func (p *Page) revive(ctx context.Context, method string, params, result any) error {
	var crashed bool
	p.update(func() { crashed, p.state.crashed = p.state.crashed, false })
	err := p.call(ctx, p.main, method, params, result)
	if err != nil && crashed {
		p.update(func() { p.state.crashed = true })
	}
	return err
}

// ErrNoHistory says that there is no page to go back to.
var ErrNoHistory = errors.New("there is no page to go back to")

// Back goes to the page before, as the button of a browser does.
func (p *Page) Back(ctx context.Context) (Info, error) {
	p.acting.Lock()
	defer p.acting.Unlock()
	var history struct {
		CurrentIndex int
		Entries      []struct {
			ID  int
			URL string
		}
	}
	if err := p.call(ctx, p.main, "Page.getNavigationHistory", nil, &history); err != nil {
		return Info{}, err
	}
	i := history.CurrentIndex - 1
	if i < 0 || i >= len(history.Entries) || i == 0 && history.Entries[0].URL == "about:blank" {
		return Info{}, ErrNoHistory
	}
	old, want := p.mainFrame(), history.Entries[i].URL
	if err := p.call(ctx, p.main, "Page.navigateToHistoryEntry", fields{"entryId": history.Entries[i].ID}, nil); err != nil {
		return Info{}, err
	}
	return p.arrive(ctx, func(f *frame) bool { return f.loader != old.loader || f.url != old.url || f.url == want })
}

// mainFrame returns a copy of the main frame.
func (p *Page) mainFrame() frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.frames[p.target]; f != nil {
		return *f
	}
	return frame{}
}

func (p *Page) loader() string { return p.mainFrame().loader }

// arrive waits until the main frame is where there says, and its document has loaded.
func (p *Page) arrive(ctx context.Context, there func(*frame) bool) (Info, error) {
	limited, cancel := context.WithTimeout(ctx, p.b.opts.LoadTimeout)
	defer cancel()
	err := p.wait(limited, func() bool {
		f := p.frames[p.target]
		return f != nil && !p.state.crashed && there(f) && f.loader == f.loaded
	})
	if err != nil && (limited.Err() == nil || ctx.Err() != nil) {
		return Info{}, err
	}
	return p.info(ctx, err == nil)
}

// info asks the page where it is.
func (p *Page) info(ctx context.Context, loaded bool) (Info, error) {
	var v struct {
		URL, Title string
		Status     int
	}
	err := p.inWorld(ctx, p.target, `(() => ({url: location.href, title: document.title,
		status: (performance.getEntriesByType("navigation")[0] || {}).responseStatus || 0}))()`, &v)
	if err != nil {
		return Info{}, err
	}
	return Info{URL: clean(v.URL, maxURL), Title: clean(v.Title, maxTitle), Status: v.Status, Loaded: loaded}, nil
}

// Info returns where the page is.
func (p *Page) Info(ctx context.Context) (Info, error) {
	f := p.mainFrame()
	return p.info(ctx, f.loader == f.loaded)
}

// Close closes the tab.
func (p *Page) Close(ctx context.Context) error {
	if err := p.b.call(ctx, "", "Target.closeTarget", fields{"targetId": p.target}, nil); err != nil {
		return err
	}
	return p.b.wait(ctx, func() bool { return !slices.Contains(p.b.pages, p) })
}
