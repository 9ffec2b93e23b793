package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"hermes"
	"hermes/internal/browser"
	"hermes/internal/netguard"
	"hermes/internal/text"
)

// definition is a tool: what the model is told of it, and what it does.
type definition struct {
	name        string
	description string
	properties  string // of its schema
	required    string
	reads       func(in arguments) bool // a call only reads; nil: none does
	run         func(t *Toolset, ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error)
}

func always(arguments) bool { return true }

var definitions = []definition{
	{"browser_navigate", "Open a web page in the browser. Returns its outline with refs such as @e5.",
		`"url":{"type":"string"}`, `"url"`, nil, (*Toolset).navigate},
	{"browser_snapshot", "Show the page as an outline with refs. Long pages are cut to what bears on the request.",
		`"full":{"type":"boolean","description":"also store the whole outline in a file"},"ref":{"type":"string","description":"only what is in this element"}`, ``, always, (*Toolset).snapshot},
	{"browser_click", "Click an element.",
		`"ref":{"type":"string"}`, `"ref"`, nil, (*Toolset).click},
	{"browser_type", "Replace the text of a field.",
		`"ref":{"type":"string"},"text":{"type":"string"}`, `"ref","text"`, nil, (*Toolset).typeText},
	{"browser_press", "Press a key, such as Enter, Escape or Control+A.",
		`"key":{"type":"string"}`, `"key"`, nil, (*Toolset).press},
	{"browser_act", "Do something else with an element: select takes the option in text, drag the element to drop on in to.",
		`"action":{"type":"string","enum":["hover","double_click","select","drag"]},"ref":{"type":"string"},"text":{"type":"string"},"to":{"type":"string"}`, `"action","ref"`, nil, (*Toolset).act},
	{"browser_scroll", "Scroll the page, or what a ref is in.",
		`"direction":{"type":"string","enum":["up","down","left","right"]},"ref":{"type":"string"}`, `"direction"`, nil, (*Toolset).scroll},
	{"browser_back", "Go back to the page before.", ``, ``, nil, (*Toolset).back},
	{"browser_tabs", "List the tabs, open an empty one, or select or close one by its id.",
		`"action":{"type":"string","enum":["list","open","select","close"]},"id":{"type":"string"}`, `"action"`,
		func(in arguments) bool { return in.Action == "list" }, (*Toolset).tabs},
	{"browser_dialog", "Answer the dialog that the page shows.",
		`"action":{"type":"string","enum":["accept","dismiss"]},"prompt_text":{"type":"string"}`, `"action"`, nil, (*Toolset).dialog},
	{"browser_get_images", "List the pictures on the page with their addresses.", ``, ``, always, (*Toolset).images},
	{"browser_console", "Show what the page wrote to its console, or evaluate a JavaScript expression in it.",
		`"clear":{"type":"boolean"},"expression":{"type":"string"}`, ``,
		func(in arguments) bool { return in.Expression == "" && !in.Clear }, (*Toolset).console},
	{"browser_vision", "Look at a picture of what the page shows. annotate draws the refs, full takes the whole page.",
		`"question":{"type":"string"},"annotate":{"type":"boolean"},"full":{"type":"boolean"}`, `"question"`, always, (*Toolset).vision},
	{"browser_files", "Upload a file to a field of the page, list the downloads, or store the page as PDF.",
		`"action":{"type":"string","enum":["upload","downloads","pdf"]},"ref":{"type":"string"},"path":{"type":"string"}`, `"action"`,
		func(in arguments) bool { return in.Action == "downloads" }, (*Toolset).files},
	{"browser_cdp", "Call a method of the DevTools protocol on the page: those of Accessibility, Emulation, Performance, and layout.",
		`"method":{"type":"string"},"params":{"type":"object"},"target_id":{"type":"string","description":"id of a tab"},"frame_id":{"type":"string","description":"from Page.getFrameTree"}`, `"method"`, nil, (*Toolset).cdp},
}

// tool is one of them.
type tool struct {
	set *Toolset
	definition
}

var (
	_ hermes.RiskAssessor = (*tool)(nil)
	_ hermes.SubjectNamer = (*tool)(nil)
)

// Spec describes the tool.
func (t *tool) Spec() hermes.Spec {
	s := hermes.Spec{
		Name: t.name, Description: t.description,
		CanOmit: t.name == "browser_files",
		Schema:  json.RawMessage(`{"type":"object","properties":{` + t.properties + `},"required":[` + t.required + `]}`),
	}
	for _, sent := range []string{"url", "text", "prompt_text", "expression"} {
		if strings.Contains(t.properties, `"`+sent+`":`) {
			s.Sends = sends
		}
	}
	if t.reads != nil {
		s.ReadsOnly = func(raw json.RawMessage) bool { return t.reads(read(raw)) }
	}
	return s
}

// sends lists the address that a call opens, and the texts that it puts into a page.
func sends(raw json.RawMessage) hermes.Outgoing {
	var out hermes.Outgoing
	in := read(raw)
	if in.URL != "" {
		out.Opens = []string{in.URL}
	}
	for _, sent := range []string{in.Text, in.Prompt, in.Expression} {
		if sent != "" {
			out.Texts = append(out.Texts, sent)
		}
	}
	return out
}

// Run runs a call.
func (t *tool) Run(ctx context.Context, c *hermes.Call) (hermes.Result, error) {
	var in arguments
	if err := json.Unmarshal(c.Arguments, &in); err != nil {
		return hermes.Result{}, fmt.Errorf("the arguments do not match the schema of %s (%w); correct them and call it again", c.Name, err)
	}
	at, err := t.set.seat(c.Host.Session())
	if err != nil {
		return hermes.Result{}, err
	}
	defer at.owner.begin()()
	r, err := t.run(t.set, ctx, c, in)
	if now := t.set.sitting(c.Host.Session()); now != nil { // it may have moved to another browser
		at = now
	}
	var opened *browser.DialogError
	switch {
	case errors.As(err, &opened):
		p, wrong := at.here(ctx)
		if wrong == nil { // its text is one of a page, too
			wrong = t.set.heard(ctx, at, p, &opened.Dialog)
		}
		if err = wrong; err == nil {
			err = fmt.Errorf("the page shows a dialog, %s: answer it with browser_dialog", opened.Dialog)
		}
	case errors.Is(err, browser.ErrGone):
		err = errors.New("the browser has ended; open the page again with browser_navigate")
	}
	if r.Provenance == "" {
		r.Provenance = hermes.ProvenanceSource("browser", at.host())
	}
	if err != nil { // texts of a page may be in it
		from := r.Provenance
		r = hermes.ErrorResult(err.Error())
		r.Provenance = from
	}
	return r, nil
}

// host returns the host of the page, for the user.
func (s *seat) host() string {
	u, err := url.Parse(s.address())
	if err != nil {
		return ""
	}
	return u.Host
}

// address returns the address of the page as the browser has it now.
func (s *seat) address() string {
	s.owner.mu.Lock()
	b := s.owner.browser
	s.owner.mu.Unlock()
	s.mu.Lock()
	p := s.page
	s.mu.Unlock()
	if b == nil || p == nil || p.Browser() != b {
		return ""
	}
	for _, tab := range b.Tabs() {
		if tab.ID == p.ID {
			return tab.URL
		}
	}
	return ""
}

// shown is the result of a call that shows a page, or changes one.
type shown struct {
	URL       string   `json:"url,omitempty"`
	Title     string   `json:"title,omitempty"`
	Status    int      `json:"status,omitempty"`
	Loading   bool     `json:"still_loading,omitempty"`
	Navigated bool     `json:"navigated,omitempty"`
	Value     string   `json:"value,omitempty"`
	Dialog    string   `json:"dialog,omitempty"`
	Tabs      []string `json:"new_tabs,omitempty"`
	Note      string   `json:"note,omitempty"`
	Snapshot  string   `json:"snapshot,omitempty"`
	Whole     string   `json:"whole_page,omitempty"`
}

func shownOf(info browser.Info) shown {
	return shown{URL: info.URL, Title: info.Title, Status: info.Status, Loading: !info.Loaded, Note: wall(info.Status)}
}

// wall says what a status of a page means that shows something else than what was asked for.
func wall(status int) string {
	switch status {
	case 401, 403, 407, 429, 503:
		return "the site refuses this page: it may want a login, or no automatic visitors. Ask the user rather than trying again and again."
	}
	return ""
}

func (s shown) result() (hermes.Result, error) { return hermes.JSONResult(s) }

// address checks an address that is to be opened.
func (t *Toolset) address(ctx context.Context, raw string) (string, error) {
	raw = strings.TrimSpace(raw)
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return "", errors.New("the address is not valid")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("only addresses that begin with https:// or http:// are opened, not %s", text.Cut(raw, 80))
	case t.config.Secret(raw):
		return "", errors.New("the address has a secret in it, which must not be sent; leave it out")
	}
	return raw, t.config.Judge(ctx, raw)
}

// allowed reports whether what a page shows may be read: not files of this machine or the
// settings of the browser.
func allowed(address string) bool {
	scheme, _, _ := strings.Cut(address, ":")
	switch strings.ToLower(scheme) {
	case "http", "https", "about", "blob", "data", "":
		return true
	case "chrome-error": // a page that could not be loaded
		return true
	}
	return false
}

// checked leaves a page that must not be read, and says so.
func (t *Toolset) checked(ctx context.Context, p *browser.Page, address string) error {
	if !allowed(address) {
		leave(ctx, p)
		return fmt.Errorf("the page led to an address that is not read: %s", text.Cut(address, 80))
	}
	service := p.Browser().Remote()
	err := t.outside(ctx, service, address)
	if err == nil || ctx.Err() != nil {
		return err
	}
	refused, ok := errors.AsType[*netguard.Refused](err)
	if !ok || refused.Unknown() {
		_, _ = p.AnswerDialog(ctx, false, "") // else no other page could be opened
		return fmt.Errorf("nothing of the page is shown, since its address could not be judged: %w; try again, or open another one", err)
	}
	err = fmt.Errorf("the page led to an address that a browser of %s must not open, and %s: %w", service, leave(ctx, p), err)
	if refused.Private {
		err = fmt.Errorf("%w. Open it with browser_navigate, which uses a local browser if security.allow_private_urls and browser.auto_local_for_private_urls allow that", err)
	}
	return err
}

// heard checks the page that shows a dialog, and the frame that it comes from.
func (t *Toolset) heard(ctx context.Context, at *seat, p *browser.Page, d *browser.Dialog) error {
	if d == nil || p.Browser().Remote() == "" {
		return nil // the page is checked when something is read
	}
	if err := t.checked(ctx, p, d.URL); err != nil {
		return err
	}
	return t.checked(ctx, p, at.address())
}

// leave leaves a page, with what it wrote and its history, and says so. The tab of a service that cannot do that is closed.
func leave(ctx context.Context, p *browser.Page) string {
	for range 3 { // a dialog may be followed by others
		_, _ = p.AnswerDialog(ctx, false, "") // Navigate says if one is there
		if _, err := p.Navigate(ctx, "about:blank"); err == nil {
			if p.Browser().Remote() != "" {
				_, _ = p.Raw(ctx, "", "Page.resetNavigationHistory", nil) // if that fails, the page is judged after browser_back
			}
			return "was left"
		}
	}
	if p.Browser().Remote() == "" || p.Close(ctx) != nil {
		return "could not be left"
	}
	return "was closed"
}

// outside decides whether a browser may be at an address: one of a service only at those of the web.
func (t *Toolset) outside(ctx context.Context, service, address string) error {
	address = strings.TrimPrefix(address, "blob:") // what a page made is at its own address
	scheme, _, _ := strings.Cut(strings.ToLower(address), ":")
	if service == "" || t.config.Outside == nil || scheme != "http" && scheme != "https" {
		return nil
	}
	return t.config.Outside(ctx, address)
}

// placed returns the place of the session for an address.
func (t *Toolset) placed(ctx context.Context, c *hermes.Call, address string) (*seat, error) {
	s := c.Host.Session()
	local := false
	if t.config.Place != nil {
		var err error
		if local, err = t.config.Place(ctx, s.Outermost(), address); err != nil {
			return nil, err
		}
	}
	t.mu.Lock()
	at, err := t.sit(s, local)
	t.mu.Unlock()
	return at, err
}

// where returns where a page is that may be read.
func (t *Toolset) where(ctx context.Context, p *browser.Page) (browser.Info, error) {
	info, err := p.Info(ctx)
	if err == nil {
		err = t.checked(ctx, p, info.URL)
	}
	return info, err
}

func (t *Toolset) navigate(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	address, err := t.address(ctx, in.URL)
	var at *seat
	if err == nil {
		at, err = t.placed(ctx, c, address)
	}
	if err != nil {
		return hermes.Result{}, err
	}
	defer at.owner.begin()()
	p, err := at.open(ctx)
	if err == nil { // the settings may have changed since it was placed
		err = t.outside(ctx, p.Browser().Remote(), address)
	}
	if err == nil {
		_, err = t.move(c.Host.Session(), at.owner.local)
	}
	if err != nil {
		return hermes.Result{}, err
	}
	info, err := p.Navigate(ctx, address)
	if err == nil {
		err = t.checked(ctx, p, info.URL)
	}
	if err != nil {
		return hermes.Result{}, err
	}
	return t.shows(ctx, c, at, p, shownOf(info), browser.SnapshotOptions{}, false)
}

// shows adds the outline of the page, and what is to be known of its browser.
func (t *Toolset) shows(ctx context.Context, c *hermes.Call, at *seat, p *browser.Page, s shown, o browser.SnapshotOptions, full bool) (hermes.Result, error) {
	o.Query = t.config.Request(ctx, c.Host.Session())
	snap, err := p.Snapshot(ctx, o)
	if err == nil && p.Browser().Remote() != "" {
		_, err = t.where(ctx, p) // after it was read
	}
	if err == nil {
		err = t.checked(ctx, p, snap.Info.URL)
	}
	if err != nil {
		return hermes.Result{}, err
	}
	for _, note := range []string{at.owner.said(), at.greeting(p.Browser())} {
		if note != "" {
			s.Note = strings.TrimPrefix(s.Note+"; "+note, "; ")
		}
	}
	s.Snapshot = snap.Text
	whole := snap.Full
	if whole == "" && full {
		whole = snap.Text
	}
	if whole != "" {
		path, err := t.config.Keep(ctx, c, whole)
		if err != nil {
			s.Note = strings.TrimPrefix(s.Note+"; the whole outline could not be stored", "; ")
		}
		s.Whole = path
	}
	return s.result()
}

func (t *Toolset) snapshot(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	at, p, err := t.page(ctx, c)
	var info browser.Info
	if err == nil {
		info, err = t.where(ctx, p)
	}
	if err != nil {
		return hermes.Result{}, err
	}
	return t.shows(ctx, c, at, p, shownOf(info), browser.SnapshotOptions{Ref: in.Ref}, in.Full)
}

// page returns the place of the session and its tab.
func (t *Toolset) page(ctx context.Context, c *hermes.Call) (*seat, *browser.Page, error) {
	at, err := t.seat(c.Host.Session())
	if err != nil {
		return nil, nil, err
	}
	p, err := at.here(ctx)
	if err != nil {
		return nil, nil, err
	}
	if now := at.address(); now != "" { // it may have gone elsewhere by itself
		err = t.checked(ctx, p, now)
	} else if p.Browser().Remote() != "" { // a new tab, of which the browser has not told yet
		_, err = t.where(ctx, p)
	}
	return at, p, err
}

// outcome tells what an action led to.
func (t *Toolset) outcome(ctx context.Context, at *seat, p *browser.Page, o browser.Outcome, err error) (hermes.Result, error) {
	if err == nil { // while a dialog waits, there is no address
		err = t.checked(ctx, p, o.URL)
	}
	if err == nil {
		err = t.heard(ctx, at, p, o.Dialog)
	}
	if err != nil {
		return hermes.Result{}, err
	}
	s := shownOf(o.Info)
	s.Navigated, s.Value = o.Navigated, o.Value
	for _, id := range o.Tabs {
		s.Tabs = append(s.Tabs, at.owner.tabID(id))
	}
	if !o.Navigated {
		s.Status, s.Note = 0, ""
	}
	if o.Dialog != nil {
		s.Dialog = o.Dialog.String()
	}
	return s.result()
}
