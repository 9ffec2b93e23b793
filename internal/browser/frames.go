package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"hermes/internal/cdp"
)

// mostFrames bounds the frames that are kept of a page.
const mostFrames = 1000

// grow adds frames, with their children.
func (p *Page) grow(s *session, t frameTree, parent string) {
	p.update(func() { p.add(s, t, parent) })
}

func (p *Page) add(s *session, t frameTree, parent string) {
	f := p.frames[t.Frame.ID]
	if f == nil {
		if len(p.frames) >= mostFrames {
			return
		}
		f = &frame{id: t.Frame.ID}
		p.frames[f.id] = f
	}
	if parent = cmp.Or(t.Frame.Parent, parent); parent != "" {
		f.parent = parent
	}
	if t.Frame.Loader != "" && f.loader != t.Frame.Loader {
		f.loader, f.world = t.Frame.Loader, 0
	}
	if f.session != s.id {
		f.session, f.world = s.id, 0
	}
	f.url, f.crashed = cmp.Or(t.Frame.URL, f.url), false
	for _, c := range t.Children {
		p.add(s, c, f.id)
	}
}

// navigated notes that a frame shows another document.
func (p *Page) navigated(s *session, row frameRow, whole bool) {
	p.update(func() {
		p.add(s, frameTree{Frame: row}, row.Parent)
		f := p.frames[row.ID]
		if f == nil {
			return
		}
		f.world, f.url = 0, clean(row.URL, maxURL)
		if whole {
			f.loaded = f.loader
		}
		if row.ID == p.target {
			p.state.crashed = false
		}
	})
}

// moved notes that a frame has another address in the same document.
func (p *Page) moved(id, url string) {
	p.update(func() {
		if f := p.frames[id]; f != nil {
			f.url = clean(url, maxURL)
		}
	})
}

func (p *Page) shrink(id string) {
	p.update(func() { p.cutFrame(id) })
}

func (p *Page) cutFrame(id string) {
	delete(p.frames, id)
	for child, f := range p.frames {
		if f.parent == id {
			p.cutFrame(child)
		}
	}
}

// loaded notes that a document has loaded. A session that the frame has left tells nothing of it.
func (p *Page) loaded(s *session, id, loader string) {
	p.update(func() {
		if f := p.frames[id]; f != nil && f.session == s.id {
			f.loaded = loader
		}
	})
}

// loads notes that the main frame begins or ends to load.
func (p *Page) loads(method, id, disposition, kind string) {
	if id != p.target || kind == "sameDocument" || disposition != "" && disposition != "currentTab" {
		return
	}
	p.update(func() {
		p.state.loading = method != "Page.frameStoppedLoading"
		if p.state.loading {
			p.state.starting++
		}
	})
}

var errFrameID = errors.New("there is no such frame on this page: take its id from Page.getFrameTree")

// FrameTree lists the frames of the page as Page.getFrameTree does, but with those of other processes.
func (p *Page) FrameTree() (json.RawMessage, error) {
	p.mu.Lock()
	list := p.inOrder()
	p.mu.Unlock()
	if len(list) == 0 {
		return nil, errNoFrame
	}
	var tree func(f *frame) fields
	tree = func(f *frame) fields {
		t := fields{"frame": fields{"id": f.id, "url": clean(f.url, maxURL)}}
		var below []any
		for i := 1; i < len(list); i++ { // the first is the root
			if list[i].parent == f.id {
				below = append(below, tree(&list[i]))
			}
		}
		if below != nil {
			t["childFrames"] = below
		}
		return t
	}
	return json.Marshal(fields{"frameTree": tree(&list[0])})
}

func (p *Page) crashes(s *session) {
	p.update(func() {
		if s.id == p.main {
			p.state.crashed = true
			p.dialogEnds(p.state.dialog, false)
			p.state.disturb(cdp.ErrCrashed) // also calls that are not sent yet: they would get no answer
			p.state.quiet, p.state.disturb = context.WithCancelCause(p.b.life)
			return
		}
		for _, f := range p.frames {
			f.crashed = f.crashed || f.session == s.id
		}
	})
}

// world returns where our scripts run in a frame, apart from those of the page, which
// cannot change what ours see. The document is that of the loader, which is returned.
func (p *Page) world(ctx context.Context, id string) (session string, world int64, loader string, err error) {
	for range 3 { // a navigation may come between
		p.mu.Lock()
		f := p.frames[id]
		if f == nil || f.session == "" || f.crashed {
			p.mu.Unlock()
			return "", 0, "", errNoFrame
		}
		session, world, loader = f.session, f.world, f.loader
		p.mu.Unlock()
		if world != 0 {
			return session, world, loader, nil
		}
		var made struct{ ExecutionContextID int64 }
		err = p.call(ctx, session, "Page.createIsolatedWorld", fields{"frameId": id, "worldName": "hermes"}, &made)
		if err != nil {
			if errors.Is(err, cdp.ErrNoNode) {
				err = errNoFrame
			}
			return "", 0, "", err
		}
		p.mu.Lock()
		if f.loader == loader && f.session == session {
			f.world = made.ExecutionContextID
		}
		p.mu.Unlock()
	}
	return "", 0, "", errors.New("the page navigates all the time: wait and try again")
}

// evaluated is the answer of a script.
type evaluated struct {
	Result struct {
		Type        string
		Subtype     string
		Value       json.RawMessage
		Unserial    string `json:"unserializableValue"`
		Description string
		ObjectID    string
	}
	Exception *exception `json:"exceptionDetails"`
}

type exception struct {
	Text      string
	URL       string
	Line      int `json:"lineNumber"`
	Exception struct {
		Description string
		Value       json.RawMessage
	}
}

func (e *exception) text() string {
	if d := e.Exception.Description; d != "" {
		return clean(d, 1000)
	}
	if len(e.Exception.Value) > 0 {
		return clean(e.Text+" "+string(e.Exception.Value), 1000)
	}
	return clean(e.Text, 1000)
}

// inWorld evaluates a script of ours in a frame.
func (p *Page) inWorld(ctx context.Context, frame, script string, result any) error {
	for range 3 {
		session, world, _, err := p.world(ctx, frame)
		if err != nil {
			return err
		}
		var v evaluated
		err = p.call(ctx, session, "Runtime.evaluate", fields{"expression": script, "contextId": world, "returnByValue": true}, &v)
		if errors.Is(err, cdp.ErrNoNode) { // it has navigated
			p.forgetWorld(frame, world)
			continue
		}
		if err != nil {
			return err
		}
		return v.into(result)
	}
	return errors.New("the page navigates all the time: wait and try again")
}

func (p *Page) forgetWorld(id string, world int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.frames[id]; f != nil && f.world == world {
		f.world = 0
	}
}

func (v *evaluated) into(result any) error {
	if v.Exception != nil {
		return fmt.Errorf("look at the page: %s", v.Exception.text())
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(v.Result.Value, result)
}
