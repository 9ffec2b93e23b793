package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/link"
	"hermes/internal/netguard"
	"hermes/internal/text"
	"hermes/internal/websearch"
)

const (
	maxURLs      = 5
	minCharLimit = 2_000
	maxCharLimit = 500_000
	// summarised is from how many characters on a page is summarised.
	summarised = 5_000
	// maxSaid bounds why one way to read a page failed, and maxError what is said of all, in characters.
	maxSaid  = 300
	maxError = 1_000
)

type extractArgs struct {
	URLs      []string `json:"urls" min:"1" max:"5"`
	CharLimit int      `json:"char_limit,omitempty" min:"2000" max:"500000"`
	Summary   bool     `json:"summary,omitempty"`
	Question  string   `json:"question,omitempty" doc:"for long pages, instead of a summary"`
}

// extracted is one page as the model gets it.
type extracted struct {
	URL     string `json:"url"`
	Title   string `json:"title,omitempty"`
	Content string `json:"content"`
	Error   string `json:"error,omitempty"`
	// Summary says that the content was written by a model that read the page.
	Summary bool     `json:"summary,omitempty"`
	File    string   `json:"file,omitempty"` // with the whole text
	Backend string   `json:"backend,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

func (t *Toolset) newExtract() hermes.Tool {
	return hermes.NewTool(hermes.Spec{
		Name:        "web_extract",
		Description: "Read web pages and PDF files as text. Of long ones you get the beginning, the end and a file with all.",
		Mode:        hermes.ModeParallel,
		Effect:      hermes.EffectNone,
		ResultLimit: 5 * maxCharLimit, // the pages are cut by the tool
		Sends: func(raw json.RawMessage) hermes.Outgoing {
			var in struct{ URLs any }
			_ = json.Unmarshal(raw, &in) // what does not fit is not opened
			return hermes.Outgoing{Opens: allTexts(in.URLs)}
		},
	}, t.extract)
}

// allTexts lists the texts in a value of an argument, also where it does not match the schema.
func allTexts(v any) (list []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			list = append(list, allTexts(e)...)
		}
	}
	return list
}

// extract is web_extract.
func (t *Toolset) extract(ctx context.Context, c *hermes.Call, in extractArgs) (hermes.Result, error) {
	switch {
	case len(in.URLs) == 0:
		return hermes.Result{}, errors.New("urls is empty; name 1 to 5 pages")
	case len(in.URLs) > maxURLs:
		return hermes.Result{}, fmt.Errorf("urls has %d pages; name at most %d at a time", len(in.URLs), maxURLs)
	}
	usual := t.cfg.CharLimit
	if c.Invoked() { // what a script reads does not go into the context
		usual = maxCharLimit
	}
	limit := min(max(cmp.Or(max(in.CharLimit, 0), usual), minCharLimit), maxCharLimit)
	g, err := t.cfg.Guard()
	if err != nil {
		return hermes.Result{}, err
	}
	pages, hosts := make([]extracted, len(in.URLs)), make([]string, len(in.URLs))
	var wait sync.WaitGroup
	for i, u := range in.URLs {
		wait.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					pages[i] = extracted{URL: u, Error: fmt.Sprintf("it failed by a mistake in the program: %v", p)}
				}
			}()
			pages[i], hosts[i] = t.one(ctx, c, g, u, limit, in)
		})
	}
	c.Host.Progress("reading " + text.Plural(len(in.URLs), "page", "pages"))
	wait.Wait()
	if err := context.Cause(ctx); err != nil {
		return hermes.Result{}, err
	}
	r, err := hermes.JSONResult(map[string]any{"results": pages})
	r.Failed = true
	for i, p := range pages {
		r.Failed = r.Failed && p.Error != ""
		r.Provenance = hermes.AddProvenance(r.Provenance, hermes.ProvenanceSource("web_extract", cmp.Or(hosts[i], "an address")))
	}
	return r, err
}

// one reads one page for a call. It returns where the page came from, too.
func (t *Toolset) one(ctx context.Context, c *hermes.Call, g *netguard.Guard, address string, limit int, in extractArgs) (extracted, string) {
	out := extracted{URL: address}
	limited, cancel := context.WithTimeout(ctx, t.cfg.Timeout)
	u, local, err := t.judge(limited, g, address)
	cancel()
	if err != nil {
		out.Error = t.why(err)
		return out, ""
	}
	u.Fragment = "" // it is not sent
	a, err := t.answers.get(ctx, "page "+u.String(), func(ctx context.Context) (*answer, error) {
		ctx, cancel := context.WithTimeout(ctx, t.cfg.Timeout)
		defer cancel()
		a, err := t.read(ctx, g, u.String(), local)
		if err == nil {
			a.private = local || t.exempt(u) || a.page.from != "" && a.page.from != u.String() && !t.mayKeep(ctx, g, a.page.from)
		}
		return a, err
	})
	if err != nil {
		out.Error = text.OneLine(t.unread(err).Error(), maxError)
		return out, u.Hostname()
	}
	out.Title, out.Backend, out.Notes = text.Line(a.page.title, 300), a.backend, a.notes[:len(a.notes):len(a.notes)]
	t.fit(ctx, c, &out, a.page, limit, in)
	return out, cmp.Or(hostOf(a.page.from), u.Hostname())
}

// mayKeep reports whether the text of a page may be kept that came from another address than was asked for.
func (t *Toolset) mayKeep(ctx context.Context, g *netguard.Guard, from string) bool {
	u, local, err := t.judge(ctx, g, from)
	return err == nil && !local && !t.exempt(u)
}

func (t *Toolset) exempt(u *url.URL) bool { return t.cfg.Exempt != nil && t.cfg.Exempt(u) }

// hostOf returns the host of an address, "" if it cannot be read.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// judge decides whether an address may be opened, and whether it is one of this machine or its network, as far as
// this machine can tell: a name that has no address here may be one that only a proxy knows.
func (t *Toolset) judge(ctx context.Context, g *netguard.Guard, address string) (u *url.URL, local bool, err error) {
	if t.secret(address) {
		return nil, false, errors.New("the address holds a password or key, which must not leave this machine")
	}
	if strings.ContainsFunc(address, link.Ends) {
		return nil, false, errors.New("the address has a space, an invisible character or one of <>\"'`|\\^{} in it; percent-encode these, such as %20 for a space")
	}
	u, err = url.Parse(address)
	if err != nil {
		return nil, false, errors.New("it is not a valid URL")
	}
	if u.User != nil {
		return nil, false, errors.New("the address has a user name or password in it; leave that out")
	}
	list, err := g.Judge(ctx, address)
	if err != nil {
		return nil, false, err
	}
	public := *g
	if len(list) > 0 { // it was looked up
		public.Resolve = func(context.Context, string) ([]netip.Addr, error) { return list, nil }
	}
	public.Private, public.Own, public.Proxy = false, nil, nil
	_, err = public.Judge(ctx, address)
	return u, err != nil || !strings.ContainsAny(u.Hostname(), ".:"), nil
}

// read reads a page with what the user chose for it, and then with what else there is. A service never
// learns of a local address.
func (t *Toolset) read(ctx context.Context, g *netguard.Guard, address string, local bool) (*answer, error) {
	first, after, err := t.cfg.readers()
	if err != nil {
		return nil, err
	}
	var notes []string
	const inside = "no service is asked, since the host has no public address that this machine could find"
	if local && first != nil {
		first, notes = nil, []string{inside}
	}
	if first != nil {
		a, err := t.readAt(ctx, g, *first, address)
		if err == nil || ctx.Err() != nil {
			return a, err
		}
		notes = append(notes, t.why(err))
	}
	p, err := t.fetch(ctx, g, address)
	if err == nil {
		p.text = strings.ToValidUTF8(p.text, "\uFFFD")
		return &answer{page: p, notes: notes}, nil
	}
	if ctx.Err() != nil || final(err) {
		return nil, err
	}
	notes = append(notes, "read without a service: "+t.why(err))
	if local && len(after) > 0 {
		after, notes = nil, append(notes, inside)
	}
	for _, s := range after {
		a, err := t.readAt(ctx, g, s, address)
		if err == nil {
			a.notes = notes
			return a, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		notes = append(notes, t.why(err))
	}
	if len(notes) == 1 {
		return nil, err
	}
	return nil, errors.New(strings.Join(notes, "; "))
}

// final reports whether a service cannot do better than this program did: what the guard refuses, and
// what is not there.
func final(err error) bool {
	if _, refused := errors.AsType[*netguard.Refused](err); refused {
		return true
	}
	var status statusError
	return errors.As(err, &status) && (status == http.StatusNotFound || status == http.StatusGone)
}

// readAt has a service read a page.
func (t *Toolset) readAt(ctx context.Context, g *netguard.Guard, s websearch.Service, address string) (*answer, error) {
	if err := t.resting.why(s.Name); err != nil {
		return nil, err
	}
	service, done := t.reach(s, *g)
	defer done()
	pages, err := service.Extract(ctx, []string{address})
	if err != nil {
		t.resting.note(s.Name, err)
		return nil, err
	}
	p := pages[0]
	if p.Problem != "" {
		return nil, errors.New(p.Problem)
	}
	if p.From != "" {
		if why, blocked := g.Blocks(p.From); blocked {
			return nil, fmt.Errorf("%s was led to another address, which is blocked: %s", s.Title, why)
		}
	}
	body := text.Prefix(strings.ToValidUTF8(p.Text, "\uFFFD"), maxPage)
	return &answer{page: page{title: p.Title, text: body, from: p.From, cut: len(body) < len(p.Text)}, backend: s.Name}, nil
}

// fit puts the text of a page, or what a model makes of it, into a result.
func (t *Toolset) fit(ctx context.Context, c *hermes.Call, out *extracted, p page, limit int, in extractArgs) {
	p.text = strings.TrimSpace(p.text)
	whole := []rune(p.text)
	if p.cut {
		out.Notes = append(out.Notes, fmt.Sprintf("The page is longer; it was cut after %d MB.", maxPage>>20))
	}
	out.Notes = append(out.Notes, injection(p.text)...)
	if (in.Summary || in.Question != "") && len(whole) > summarised {
		if t.summarise(ctx, c, out, p, in.Question) {
			return
		}
	}
	if len(whole) <= limit {
		out.Content = p.text
		return
	}
	t.save(ctx, c, out, p.text)
	head := limit * 3 / 4
	tail := limit - head
	rest := "the rest could not be stored; ask for more with char_limit"
	if out.File != "" {
		rest = "read it in file with read_file"
	}
	out.Content = fmt.Sprintf("%s\n\n[… %d characters are left out here; %s …]\n\n%s", string(whole[:head]), len(whole)-limit, rest, string(whole[len(whole)-tail:]))
}

// summarise has a model read a page. It reports whether that worked.
func (t *Toolset) summarise(ctx context.Context, c *hermes.Call, out *extracted, p page, question string) bool {
	if t.cfg.Summarise == nil {
		out.Notes = append(out.Notes, "There is no model for summaries; this is the text.")
		return false
	}
	said, err := t.cfg.Summarise(ctx, c.Host.Session(), question, p.title, t.cfg.Mask(p.text))
	if err != nil {
		out.Notes = append(out.Notes, "The page could not be summarised, this is its text: "+text.Line(err.Error(), 200))
		return false
	}
	t.save(ctx, c, out, p.text)
	out.Content, out.Summary = said, true
	return true
}

// save stores the whole text of a page.
func (t *Toolset) save(ctx context.Context, c *hermes.Call, out *extracted, whole string) {
	if t.cfg.Save == nil {
		return
	}
	path, err := t.cfg.Save(ctx, c, t.cfg.Mask(whole))
	if err != nil {
		out.Notes = append(out.Notes, "The whole text could not be stored: "+text.Line(err.Error(), 200))
		return
	}
	out.File = path
}
