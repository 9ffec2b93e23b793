package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/browser"
	"hermes/internal/netguard"
)

var errSecret = errors.New("the text has a secret in it, which must not be sent to a page; leave it out, or ask the user to type it")

func (t *Toolset) click(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	at, p, err := t.page(ctx, c)
	var o browser.Outcome
	if err == nil {
		o, err = p.Click(ctx, in.Ref)
	}
	return t.outcome(ctx, at, p, o, err)
}

func (t *Toolset) typeText(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	at, p, err := t.page(ctx, c)
	var o browser.Outcome
	switch {
	case err != nil:
	case t.config.Secret(in.Text):
		err = errSecret
	default:
		o, err = p.Fill(ctx, in.Ref, in.Text)
	}
	return t.outcome(ctx, at, p, o, err)
}

func (t *Toolset) press(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	at, p, err := t.page(ctx, c)
	var o browser.Outcome
	if err == nil {
		o, err = p.Press(ctx, in.Key)
	}
	return t.outcome(ctx, at, p, o, err)
}

func (t *Toolset) act(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	at, p, err := t.page(ctx, c)
	if err != nil {
		return hermes.Result{}, err
	}
	var o browser.Outcome
	switch in.Action {
	case "hover":
		o, err = p.Hover(ctx, in.Ref)
	case "double_click":
		o, err = p.DoubleClick(ctx, in.Ref)
	case "select":
		o, err = p.Select(ctx, in.Ref, in.Text)
	case "drag":
		err = errors.New("to is missing: the ref of the element to drop on")
		if in.To != "" {
			o, err = p.Drag(ctx, in.Ref, in.To)
		}
	default:
		err = fmt.Errorf("there is no action %q", in.Action)
	}
	return t.outcome(ctx, at, p, o, err)
}

func (t *Toolset) scroll(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	_, p, err := t.page(ctx, c)
	var s browser.Scrolled
	if err == nil {
		s, err = p.Scroll(ctx, in.Ref, in.Direction)
	}
	if err != nil {
		return hermes.Result{}, err
	}
	return hermes.JSONResult(struct {
		Moved  float64 `json:"moved"`
		At     float64 `json:"at"`
		Height float64 `json:"of"`
	}{s.Moved, s.Y, s.Height})
}

func (t *Toolset) back(ctx context.Context, c *hermes.Call, _ arguments) (hermes.Result, error) {
	at, p, err := t.page(ctx, c)
	var info browser.Info
	if err == nil {
		info, err = p.Back(ctx)
	}
	if err == nil {
		err = t.checked(ctx, p, info.URL)
	}
	if err != nil {
		return hermes.Result{}, err
	}
	return t.shows(ctx, c, at, p, shownOf(info), browser.SnapshotOptions{}, false)
}

func (t *Toolset) dialog(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	at, p, err := t.page(ctx, c)
	var o browser.Outcome
	switch {
	case err != nil:
	case t.config.Secret(in.Prompt):
		err = errSecret
	default:
		o, err = p.AnswerDialog(ctx, in.Action == "accept", in.Prompt)
	}
	return t.outcome(ctx, at, p, o, err)
}

// listedTab is a tab in a list.
type listedTab struct {
	ID      string `json:"id"`
	Title   string `json:"title,omitempty"`
	URL     string `json:"url"`
	Current bool   `json:"current,omitempty"`
}

func (t *Toolset) tabs(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	at, err := t.seat(c.Host.Session())
	if err != nil {
		return hermes.Result{}, err
	}
	note := ""
	switch in.Action {
	case "open":
		b, err := at.owner.get(ctx, true)
		var p *browser.Page
		if err == nil {
			p, err = b.NewPage(ctx)
		}
		if err != nil {
			return hermes.Result{}, err
		}
		at.take(p)
		note = at.greeting(b)
	case "select", "close":
		if err := t.tab(ctx, c, in); err != nil {
			return hermes.Result{}, err
		}
	}
	list, there, err := t.list(ctx, c)
	if err == nil && !there {
		_, err = at.here(ctx)
	}
	if err != nil {
		return hermes.Result{}, err
	}
	return hermes.JSONResult(struct {
		Tabs []listedTab `json:"tabs"`
		Note string      `json:"note,omitempty"`
	}{list, note})
}

// list lists the tabs of a session in the browsers that it has; there is false if it has none.
func (t *Toolset) list(ctx context.Context, c *hermes.Call) (list []listedTab, there bool, err error) {
	s := c.Host.Session()
	now, err := t.seat(s)
	if err != nil {
		return nil, false, err
	}
	list = []listedTab{}
	for _, local := range []bool{false, true} {
		at, b, err := t.running(ctx, s, local)
		if err != nil {
			return nil, false, err
		}
		if b == nil {
			continue
		}
		there = true
		current := at.current(b)
		judging, cancel := context.WithTimeout(ctx, t.config.Timeout) // for all of them
		defer cancel()
		for _, tab := range b.Tabs() {
			if t.visible(judging, at, b, tab) {
				list = append(list, listedTab{at.owner.tabID(tab.ID), tab.Title, tab.URL, at == now && current != nil && current.ID == tab.ID})
			}
		}
	}
	return list, there, nil
}

// visible reports whether a tab may be shown to a session. One of a service at an address where it must not be is closed.
func (t *Toolset) visible(ctx context.Context, at *seat, b *browser.Browser, tab browser.Tab) bool {
	if t.others(at, tab) || !allowed(tab.URL) {
		return false
	}
	err := t.outside(ctx, b.Remote(), tab.URL)
	if err == nil {
		return true
	}
	if refused, ok := errors.AsType[*netguard.Refused](err); ok && !refused.Unknown() {
		if p, err := b.Select(ctx, tab.ID); err == nil {
			_ = p.Close(ctx) // if it stays, it is not shown either
		}
	}
	return false
}

// running returns a place of a session and its browser, nil if none runs there.
func (t *Toolset) running(ctx context.Context, s hermes.SessionRef, local bool) (*seat, *browser.Browser, error) {
	t.mu.Lock()
	var at *seat
	var err error
	if t.owners[place{s.Outermost(), local}] != nil {
		at, err = t.sit(s, local)
	}
	t.mu.Unlock()
	if at == nil || err != nil {
		return nil, nil, err
	}
	b, err := at.owner.get(ctx, false)
	return at, b, err
}

// localTab begins the ids of tabs of the local browser beside one of a service: both number their tabs alike.
const localTab = "local:"

// tabID is the id of a tab as the model knows it.
func (o *owner) tabID(id string) string {
	if o.local {
		return localTab + id
	}
	return id
}

// tab selects or closes a tab of the session, which then works in the browser of the one that it selected.
func (t *Toolset) tab(ctx context.Context, c *hermes.Call, in arguments) error {
	id, local := strings.CutPrefix(in.ID, localTab)
	at, b, err := t.running(ctx, c.Host.Session(), local)
	if err != nil {
		return err
	}
	if b == nil {
		if at, err = t.seat(c.Host.Session()); err == nil {
			_, err = at.here(ctx) // it says why none runs
		}
		return cmp.Or(err, browser.ErrNoTab)
	}
	defer at.owner.begin()()
	tabs := b.Tabs()
	i := slices.IndexFunc(tabs, func(tab browser.Tab) bool { return tab.ID == id })
	if i < 0 || t.others(at, tabs[i]) || !allowed(tabs[i].URL) || in.Action != "close" && !t.visible(ctx, at, b, tabs[i]) {
		return browser.ErrNoTab
	}
	p, err := b.Select(ctx, id)
	if err != nil {
		return err
	}
	if in.Action == "close" {
		return p.Close(ctx)
	}
	if at, err = t.move(c.Host.Session(), local); err == nil {
		at.take(p)
	}
	return err
}

func (t *Toolset) images(ctx context.Context, c *hermes.Call, _ arguments) (hermes.Result, error) {
	_, p, err := t.page(ctx, c)
	var found []browser.Image
	if err == nil {
		found, err = p.Images(ctx)
	}
	if err == nil {
		_, err = t.where(ctx, p)
	}
	if err != nil {
		return hermes.Result{}, err
	}
	type listed struct {
		URL    string `json:"url"`
		Text   string `json:"alt,omitempty"`
		Width  int    `json:"width"`
		Height int    `json:"height"`
	}
	const most = 100
	out := struct {
		Images []listed `json:"images"`
		More   int      `json:"more,omitempty"`
	}{Images: []listed{}, More: max(len(found)-most, 0)}
	for _, i := range found[:min(len(found), most)] {
		out.Images = append(out.Images, listed{i.URL, i.Text, i.Width, i.Height})
	}
	return hermes.JSONResult(out)
}

func (t *Toolset) console(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	_, p, err := t.page(ctx, c)
	if err != nil {
		return hermes.Result{}, err
	}
	var out struct {
		Result   string   `json:"result,omitempty"`
		Messages []string `json:"messages"`
		Dropped  int      `json:"older_dropped,omitempty"`
	}
	if in.Expression != "" {
		switch {
		case t.config.NoScripts:
			err = errors.New("the user does not allow scripts in pages (browser.allow_evaluate); work with the page itself")
		case t.config.Secret(in.Expression):
			err = errSecret
		default:
			out.Result, err = p.Evaluate(ctx, in.Expression)
		}
		if err != nil {
			return hermes.Result{}, err
		}
	}
	messages, dropped := p.Console(in.Clear)
	if in.Expression != "" || p.Browser().Remote() != "" {
		if _, err := t.where(ctx, p); err != nil {
			return hermes.Result{}, err
		}
	}
	out.Messages, out.Dropped = []string{}, dropped
	for _, m := range messages {
		out.Messages = append(out.Messages, fmt.Sprintf("%s: %s", m.Level, m.Text))
	}
	return hermes.JSONResult(out)
}
