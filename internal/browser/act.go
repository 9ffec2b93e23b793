package browser

import (
	"context"
	"errors"
	"time"

	"hermes/internal/cdp"
)

// Outcome is what an action led to.
type Outcome struct {
	Info
	// Navigated says that the tab shows another document or address than before.
	Navigated bool
	// Dialog is one that the page opened and that waits for an answer, or one that was
	// answered as the policy says.
	Dialog *Dialog
	// Tabs are the ids of those that the page opened.
	Tabs []string
	// Value is what a field holds after it was filled: the page may change what is typed. Of
	// a password it has as many dots.
	Value string
}

// settleWait bounds the wait for a page that begins to load as the result of an action.
const settleWait = 10 * time.Second

// act does an action and waits for what the page makes of it. Call it with acting held.
func (p *Page) act(ctx context.Context, do func(context.Context) error) (Outcome, error) {
	before := p.mainFrame()
	p.mu.Lock()
	starting := p.state.starting
	p.state.answered = nil
	p.mu.Unlock()
	tabs := p.opened()
	err := do(ctx)
	if err == nil {
		err = p.settle(ctx, starting)
	}
	out := Outcome{Tabs: p.opened()[len(tabs):]}
	var d *DialogError
	if errors.As(err, &d) {
		out.Dialog = &d.Dialog
		return out, nil
	}
	if err != nil {
		return Outcome{}, err
	}
	after := p.mainFrame()
	out.Navigated = after.loader != before.loader || after.url != before.url
	p.mu.Lock()
	out.Dialog = p.state.answered
	p.mu.Unlock()
	out.Info, err = p.info(ctx, after.loader == after.loaded)
	if errors.As(err, &d) {
		out.Dialog, err = &d.Dialog, nil
	}
	return out, err
}

// opened lists the tabs that the page opened so far.
func (p *Page) opened() []string {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	var ids []string
	for _, q := range p.b.pages {
		if q.opener == p.target {
			ids = append(ids, q.ID)
		}
	}
	return ids
}

// settle waits for the load of a page that an action began.
func (p *Page) settle(ctx context.Context, starting int) error {
	// What the page did at once is told before the answer to this.
	err := p.inWorld(ctx, p.target, "0", nil)
	var d *DialogError
	if errors.As(err, &d) || errors.Is(err, ErrCrashed) || errors.Is(err, ErrTabClosed) || errors.Is(err, cdp.ErrClosed) {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, min(settleWait, p.b.opts.LoadTimeout))
	defer cancel()
	err = p.wait(limited, func() bool {
		f := p.frames[p.target]
		return !p.state.crashed && !p.state.closed && (p.state.starting == starting || !p.state.loading && f != nil && f.loaded == f.loader)
	})
	if limited.Err() != nil && ctx.Err() == nil {
		return nil // Info says that it loads
	}
	return err
}

// onRef does an action on the element of a ref.
func (p *Page) onRef(ctx context.Context, ref string, do func(context.Context, *element) error) (Outcome, error) {
	p.acting.Lock()
	defer p.acting.Unlock()
	e, err := p.hold(ctx, ref)
	if err != nil {
		return Outcome{}, err
	}
	defer e.free()
	return p.act(ctx, func(ctx context.Context) error { return do(ctx, e) })
}

// Click clicks an element at a point of it that nothing covers.
func (p *Page) Click(ctx context.Context, ref string) (Outcome, error) {
	return p.onRef(ctx, ref, func(ctx context.Context, e *element) error { return e.click(ctx, 1) })
}

// DoubleClick clicks an element twice.
func (p *Page) DoubleClick(ctx context.Context, ref string) (Outcome, error) {
	return p.onRef(ctx, ref, func(ctx context.Context, e *element) error { return e.click(ctx, 2) })
}

// Hover moves the mouse over an element.
func (p *Page) Hover(ctx context.Context, ref string) (Outcome, error) {
	return p.onRef(ctx, ref, func(ctx context.Context, e *element) error {
		at, err := e.reach(ctx)
		if err != nil {
			return err
		}
		return p.mouse(ctx, "mouseMoved", at, fields{})
	})
}

func (e *element) click(ctx context.Context, times int) error {
	at, err := e.reach(ctx)
	if err != nil {
		return err
	}
	p := e.page
	p.post(ctx, mouseEvent("mouseMoved", at, nil))
	for n := 1; n <= times && err == nil; n++ {
		p.post(ctx, mouseEvent("mousePressed", at, fields{"button": "left", "buttons": 1, "clickCount": n}))
		err = p.mouse(ctx, "mouseReleased", at, fields{"button": "left", "clickCount": n})
	}
	return err
}

func mouseEvent(kind string, at point, more fields) fields {
	f := fields{"type": kind, "x": at.X, "y": at.Y}
	for k, v := range more {
		f[k] = v
	}
	return f
}

func (p *Page) post(ctx context.Context, event fields) {
	p.b.conn.Post(ctx, p.main, "Input.dispatchMouseEvent", event)
}

func (p *Page) mouse(ctx context.Context, kind string, at point, more fields) error {
	return p.call(ctx, p.main, "Input.dispatchMouseEvent", mouseEvent(kind, at, more), nil)
}

// focused is the answer of a script that gives a field the focus.
type focused struct {
	Gone  bool
	Error string
	Done  bool // nothing is to be typed
	Value string
}

// prepareField gives a field the focus, with all of its text selected.
func (e *element) prepareField(ctx context.Context, text string) (focused, error) {
	var f focused
	if err := e.run(ctx, focusScript, &f, text); err != nil {
		return f, err
	}
	switch {
	case f.Gone:
		return f, stale(e.ref)
	case f.Error != "":
		return f, &RefError{e.ref, clean(f.Error, 200)}
	}
	return f, nil
}

// Fill replaces the text of a field. The outcome has what the field holds then.
func (p *Page) Fill(ctx context.Context, ref, text string) (Outcome, error) {
	var value string
	out, err := p.onRef(ctx, ref, func(ctx context.Context, e *element) error {
		if err := p.fill(ctx, e, text); err != nil {
			return err
		}
		var v struct {
			Value string
			Lost  bool
		}
		err := e.run(ctx, valueScript, &v, text)
		if r := (*RefError)(nil); errors.As(err, &r) { // the page took it and went on
			return nil
		}
		value = v.Value
		if err == nil && v.Lost {
			return &RefError{e.ref, "lost the focus while it was filled, and the text may have gone elsewhere on the page: take a new snapshot"}
		}
		return err
	})
	out.Value = clean(value, maxText)
	return out, err
}

// fill gives a field a text.
func (p *Page) fill(ctx context.Context, e *element, text string) error {
	f, err := e.prepareField(ctx, text)
	if err != nil || f.Done {
		return err
	}
	if text == "" {
		return p.press(ctx, "Delete")
	}
	return p.call(ctx, p.main, "Input.insertText", fields{"text": text}, nil)
}

// Select chooses options of a select by their text or value.
func (p *Page) Select(ctx context.Context, ref string, options ...string) (Outcome, error) {
	var value string
	out, err := p.onRef(ctx, ref, func(ctx context.Context, e *element) error {
		var f focused
		if err := e.run(ctx, selectScript, &f, options); err != nil {
			return err
		}
		value = f.Value
		switch {
		case f.Gone:
			return stale(e.ref)
		case f.Error != "":
			return &RefError{e.ref, clean(f.Error, 500)}
		}
		return nil
	})
	out.Value = clean(value, maxText)
	return out, err
}
