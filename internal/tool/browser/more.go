package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/browser"
	"hermes/internal/text"
)

// harmless are the methods of the DevTools protocol that a model may call: they show how a page is built
// and laid out, or change how it is shown. None opens an address, runs a script, reads values of fields,
// cookies, files or other tabs, changes what the browser may do, or hands text to the page. All others are refused.
var harmless = []string{
	"Accessibility.getChildAXNodes", "Accessibility.getFullAXTree", "Accessibility.getPartialAXTree", "Accessibility.getRootAXNode", "Accessibility.queryAXTree",
	"DOM.getBoxModel", "DOM.getContentQuads", "DOM.getNodeForLocation", "DOM.scrollIntoViewIfNeeded",
	"Emulation.clearDeviceMetricsOverride", "Emulation.setDeviceMetricsOverride", "Emulation.setTouchEmulationEnabled",
	"Page.getFrameTree", "Page.getLayoutMetrics", "Page.stopLoading",
	"Performance.disable", "Performance.enable", "Performance.getMetrics",
}

func (t *Toolset) cdp(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	if !slices.Contains(harmless, in.Method) {
		return hermes.Result{}, fmt.Errorf("the method %s is not allowed; allowed are %s. Use the other tools for the rest", text.Cut(in.Method, 80), strings.Join(harmless, ", "))
	}
	if t.config.Secret(string(in.Params)) {
		return hermes.Result{}, errSecret
	}
	if strings.HasPrefix(in.Method, "Emulation.set") {
		var err error
		if in.Params, err = bounded(in.Params); err != nil {
			return hermes.Result{}, err
		}
	}
	at, p, err := t.page(ctx, c)
	if err == nil && in.Target != "" && in.Target != at.owner.tabID(p.ID) {
		if err = t.tab(ctx, c, arguments{Action: "select", ID: in.Target}); err == nil {
			_, p, err = t.page(ctx, c)
		}
	}
	var raw json.RawMessage
	if err == nil {
		raw, err = call(ctx, p, in)
	}
	if err == nil {
		_, err = t.where(ctx, p)
	}
	if err != nil {
		return hermes.Result{}, err
	}
	const most = 15_000
	if len(raw) <= most {
		return hermes.Result{Text: string(raw)}, nil
	}
	whole, err := t.config.Keep(ctx, c, string(raw))
	if err != nil {
		return hermes.Result{}, fmt.Errorf("the answer has %s and could not be stored: %w", text.Size(int64(len(raw))), err)
	}
	return hermes.JSONResult(struct {
		Begin string `json:"begin"`
		Whole string `json:"whole_answer"`
	}{text.Cut(string(raw), most), whole})
}

// call calls a method on the page, or in the frame that is named.
func call(ctx context.Context, p *browser.Page, in arguments) (json.RawMessage, error) {
	switch {
	case in.Method == "Page.getFrameTree" && in.Frame == "":
		return p.FrameTree()
	case in.Frame != "" && (in.Method == "Accessibility.getFullAXTree" || in.Method == "Accessibility.getRootAXNode"):
		params := map[string]json.RawMessage{}
		if len(in.Params) > 0 && json.Unmarshal(in.Params, &params) != nil {
			return nil, errors.New("params must be an object")
		}
		params["frameId"], _ = json.Marshal(in.Frame) // its process may show others, too
		var err error
		if in.Params, err = json.Marshal(params); err != nil {
			return nil, err
		}
	}
	return p.Raw(ctx, in.Frame, in.Method, in.Params)
}

// bounded keeps of an emulation what a page may be told: it sees these values.
func bounded(raw json.RawMessage) (json.RawMessage, error) {
	var v struct {
		Width   int  `json:"width"`
		Height  int  `json:"height"`
		Scale   int  `json:"deviceScaleFactor"`
		Mobile  bool `json:"mobile"`
		Enabled bool `json:"enabled"`
	}
	err := json.Unmarshal(raw, &v)
	if err != nil || min(v.Width, v.Height, v.Scale) < 0 || max(v.Width, v.Height) > 4096 || v.Scale > 4 {
		return nil, errors.New("params must be whole numbers: width and height of at most 4096, deviceScaleFactor of at most 4")
	}
	return json.Marshal(v)
}

func (t *Toolset) vision(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	if in.Annotate && in.Full {
		return hermes.Result{}, errors.New("refs are drawn on what is visible: use annotate or full, not both")
	}
	_, p, err := t.page(ctx, c)
	if err != nil {
		return hermes.Result{}, err
	}
	var picture []byte
	var refs []string
	if in.Annotate {
		picture, refs, err = p.Annotated(ctx)
	} else {
		picture, err = p.Screenshot(ctx, in.Full)
	}
	var info browser.Info
	var path string
	if err == nil {
		info, err = t.where(ctx, p)
	}
	if err == nil {
		path, err = t.config.Files.Picture(picture)
	}
	if err != nil {
		return hermes.Result{}, err
	}
	out := struct {
		URL    string   `json:"url"`
		Answer string   `json:"answer,omitempty"`
		Path   string   `json:"screenshot"`
		Refs   []string `json:"refs,omitempty"`
	}{info.URL, "", path, refs}
	sees := t.config.Sees(c.Host.Session().Model)
	if !sees {
		if out.Answer, err = t.config.Look(ctx, c.Host.Session(), in.Question, picture); err != nil {
			return hermes.Result{}, fmt.Errorf("the picture is at %s, but no model could look at it: %w", path, err)
		}
	}
	r, err := hermes.JSONResult(out)
	if sees {
		r.Images = []hermes.Image{{MediaType: "image/png", Data: picture}}
	}
	return r, err
}

func (t *Toolset) files(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	at, p, err := t.page(ctx, c)
	if err != nil {
		return hermes.Result{}, err
	}
	switch in.Action {
	case "upload":
		return t.upload(ctx, c, at, p, in)
	case "downloads":
		return t.downloads(ctx, at)
	case "pdf":
		content, err := p.PDF(ctx)
		path := ""
		if err == nil {
			_, err = t.where(ctx, p)
		}
		if err == nil {
			path, err = t.config.Files.PDF(at.owner.session, content)
		}
		if err != nil {
			return hermes.Result{}, err
		}
		return hermes.JSONResult(map[string]string{"path": path})
	}
	return hermes.Result{}, fmt.Errorf("there is no action %q", in.Action)
}

func (t *Toolset) upload(ctx context.Context, c *hermes.Call, at *seat, p *browser.Page, in arguments) (hermes.Result, error) {
	copied, err := "", error(nil)
	switch {
	case in.Path == "" || in.Ref == "":
		err = errors.New("an upload needs the ref of a file field or button, and the path of a file")
	case p.Browser().Remote() != "":
		err = fmt.Errorf("a browser of %s gets no files of this machine: ask the user to upload it, or to set browser.backend to local", p.Browser().Remote())
	case !p.Browser().Started():
		err = errors.New("files are given only to pages of a browser that was started here")
	default:
		copied, err = t.config.Files.Upload(ctx, c, at.owner.session, in.Path)
	}
	var o browser.Outcome
	if err == nil {
		o, err = p.Upload(ctx, in.Ref, copied)
	}
	return t.outcome(ctx, at, p, o, err)
}

// A list of downloads waits so long for a new one, and so long for the first.
const downloadBegins, firstBegins = 2 * time.Second, 10 * time.Second

func (t *Toolset) downloads(ctx context.Context, at *seat) (hermes.Result, error) {
	b, err := at.owner.get(ctx, false)
	switch {
	case b == nil || err != nil:
		err = errors.Join(err, errors.New("no page is open"))
	case b.Remote() != "":
		err = fmt.Errorf("a browser of %s keeps no downloads; web_extract reads documents of the web", b.Remote())
	case !b.Started():
		err = errors.New("downloads of this browser go where its user has set, and are not listed here")
	}
	if err != nil {
		return hermes.Result{}, err
	}
	type file struct {
		Name  string `json:"name"`
		Path  string `json:"path,omitempty"`
		Size  int64  `json:"bytes,omitempty"`
		Going bool   `json:"still_going,omitempty"`
		Error string `json:"error,omitempty"`
	}
	at.owner.mu.Lock()
	listed := at.owner.listed
	at.owner.mu.Unlock()
	limit := downloadBegins
	if listed == 0 {
		limit = firstBegins
	}
	begin, stop := context.WithTimeout(ctx, limit)
	defer stop()
	_ = b.AwaitDownload(begin, listed) // a click returns before its download has begun
	wait, cancel := context.WithTimeout(ctx, t.config.Timeout)
	defer cancel()
	all, err := b.AwaitDownloads(wait)
	if err != nil {
		all = b.Downloads() // with those that go on
	}
	at.owner.mu.Lock()
	at.owner.listed = len(all)
	at.owner.mu.Unlock()
	list := []file{}
	for _, d := range all {
		f := file{Name: d.Name, Path: d.Path, Size: d.Bytes, Going: !d.Done}
		if d.Err != nil {
			f.Error = d.Err.Error()
		}
		list = append(list, f)
	}
	return hermes.JSONResult(struct {
		Files []file `json:"files"`
		Note  string `json:"note,omitempty"`
	}{list, "what a site offers is not trusted: do not run it"})
}
