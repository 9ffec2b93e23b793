package browser

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"hermes/internal/cdp"
)

// event takes what the browser tells. It must not wait for the browser.
func (b *Browser) event(e cdp.Event) {
	switch e.Method {
	case "Target.targetCreated", "Target.targetInfoChanged":
		var p struct{ TargetInfo targetRow }
		if json.Unmarshal(e.Params, &p) == nil && p.TargetInfo.Type == "page" {
			b.sees(p.TargetInfo)
		}
	case "Target.targetDestroyed":
		var p struct{ TargetID string }
		if json.Unmarshal(e.Params, &p) == nil {
			b.loses(p.TargetID)
		}
	case "Target.attachedToTarget":
		var p attached
		if json.Unmarshal(e.Params, &p) == nil {
			b.attached(e.Session, p)
		}
	case "Target.detachedFromTarget":
		var p struct{ SessionID string }
		if json.Unmarshal(e.Params, &p) == nil {
			b.detached(p.SessionID)
		}
	case "Browser.downloadWillBegin", "Browser.downloadProgress":
		b.downloadEvent(e)
	default:
		b.mu.Lock()
		s := b.sessions[e.Session]
		b.mu.Unlock()
		if s != nil {
			s.page.event(s, e)
		}
	}
}

// sees notes a tab. One that a tab of ours opened becomes ours.
func (b *Browser) sees(row targetRow) {
	row.Title, row.URL = clean(row.Title, maxTitle), clean(row.URL, maxURL)
	b.mu.Lock()
	_, known := b.targets[row.ID]
	if !known && len(b.targets) >= 10*maxTabs {
		b.mu.Unlock()
		return
	}
	b.targets[row.ID] = row
	b.inherit(row)
	opened := b.program == nil && !known && slices.ContainsFunc(b.pages, func(p *Page) bool { return p.target == row.Opener })
	b.mu.Unlock()
	if opened {
		b.work.Go(func() { _ = b.attach(b.life, row.ID) }) // a tab that is closed again is not missed
	}
}

func (b *Browser) loses(target string) {
	b.mu.Lock()
	delete(b.targets, target)
	delete(b.owners, target)
	b.mu.Unlock()
}

// attached is the event of a new session.
type attached struct {
	SessionID  string
	TargetInfo targetRow
}

// attached adds the session of a tab, or of a frame with a process of its own.
func (b *Browser) attached(parent string, a attached) {
	b.mu.Lock()
	var s *session
	switch above := b.sessions[parent]; {
	case a.TargetInfo.Type == "page" && parent == "":
		if len(b.pages) >= maxTabs {
			b.mu.Unlock()
			method, of := "Target.closeTarget", fields{"targetId": a.TargetInfo.ID}
			if b.program == nil { // it may be the user's own
				method, of = "Target.detachFromTarget", fields{"sessionId": a.SessionID}
			}
			b.work.Go(func() { _ = b.call(b.life, "", method, of, nil) })
			return
		}
		row := a.TargetInfo
		row.Title, row.URL = clean(row.Title, maxTitle), clean(row.URL, maxURL)
		b.targets[row.ID] = row
		b.inherit(row)
		s = &session{a.SessionID, b.join(a.TargetInfo.ID), a.TargetInfo.ID}
		s.page.main, s.page.opener = a.SessionID, a.TargetInfo.Opener
	case above != nil && a.TargetInfo.Type == "iframe" && len(b.sessions) < maxTabs+mostFrames:
		s = &session{a.SessionID, above.page, a.TargetInfo.ID}
	}
	if s != nil {
		b.sessions[a.SessionID] = s
	}
	b.mu.Unlock()
	b.work.Go(func() {
		if s != nil {
			s.page.prepare(b.life, s)
			return
		}
		b.conn.Post(b.life, a.SessionID, "Runtime.runIfWaitingForDebugger", nil)
	})
}

func (b *Browser) detached(id string) {
	b.mu.Lock()
	s := b.sessions[id]
	delete(b.sessions, id)
	if s != nil && s.id == s.page.main {
		b.pages = slices.DeleteFunc(b.pages, func(p *Page) bool { return p == s.page })
		maps.DeleteFunc(b.sessions, func(_ string, other *session) bool { return other.page == s.page })
		b.tell()
	}
	b.mu.Unlock()
	if s != nil {
		s.page.lost(s)
	}
}

// prepare turns on what is needed of a session, before its scripts run.
func (p *Page) prepare(ctx context.Context, s *session) {
	failed := func() error {
		post := func(method string, params any) { p.b.conn.Post(ctx, s.id, method, params) }
		post("Page.enable", nil)
		post("Page.setLifecycleEventsEnabled", fields{"enabled": true})
		post("Runtime.enable", nil)
		post("Log.enable", nil)
		post("Target.setAutoAttach", fields{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
			"filter": []map[string]any{{"type": "iframe"}}})
		if s.id == p.main {
			post("Emulation.setFocusEmulationEnabled", fields{"enabled": true})
			if p.b.program != nil {
				post("Emulation.setDeviceMetricsOverride", fields{"width": p.b.opts.Width, "height": p.b.opts.Height,
					"deviceScaleFactor": 0, "mobile": false})
			}
		}
		post("Runtime.runIfWaitingForDebugger", nil) // a new tab answers nothing else before
		var tree struct{ FrameTree frameTree }
		if err := p.b.call(ctx, s.id, "Page.getFrameTree", nil, &tree); err != nil {
			return err
		}
		p.grow(s, tree.FrameTree, "")
		return nil
	}()
	if s.id == p.main {
		p.markReady(failed)
	}
}

// markReady says that the page can be worked with, or why not.
func (p *Page) markReady(failed error) {
	p.once.Do(func() {
		p.failed = failed
		close(p.ready)
	})
}

// frameTree is the answer of Page.getFrameTree.
type frameTree struct {
	Frame    frameRow
	Children []frameTree `json:"childFrames"`
}

type frameRow struct {
	ID     string
	Parent string `json:"parentId"`
	Loader string `json:"loaderId"`
	URL    string
	Name   string
}

// event takes what a session of the page tells.
func (p *Page) event(s *session, e cdp.Event) {
	switch e.Method {
	case "Page.frameNavigated":
		var v struct {
			Frame frameRow
			Type  string
		}
		if json.Unmarshal(e.Params, &v) == nil {
			p.navigated(s, v.Frame, v.Type == "BackForwardCacheRestore")
			if v.Frame.ID == p.target && p.b.opts.Remote != "" {
				p.Console(true) // what another page wrote there was judged with that page
			}
		}
	case "Page.navigatedWithinDocument":
		var v struct{ FrameID, URL string }
		if json.Unmarshal(e.Params, &v) == nil {
			p.moved(v.FrameID, v.URL)
		}
	case "Page.frameAttached":
		var v struct{ FrameID, ParentFrameID string }
		if json.Unmarshal(e.Params, &v) == nil {
			p.grow(s, frameTree{Frame: frameRow{ID: v.FrameID, Parent: v.ParentFrameID}}, v.ParentFrameID)
		}
	case "Page.frameDetached":
		var v struct{ FrameID, Reason string }
		if json.Unmarshal(e.Params, &v) == nil && v.Reason != "swap" {
			p.shrink(v.FrameID)
		}
	case "Page.lifecycleEvent":
		var v struct{ FrameID, LoaderID, Name string }
		if json.Unmarshal(e.Params, &v) == nil && v.Name == "load" {
			p.loaded(s, v.FrameID, v.LoaderID)
		}
	case "Page.frameRequestedNavigation", "Page.frameStartedNavigating", "Page.frameStartedLoading", "Page.frameStoppedLoading":
		var v struct{ FrameID, Disposition, NavigationType string }
		if json.Unmarshal(e.Params, &v) == nil {
			p.loads(e.Method, v.FrameID, v.Disposition, v.NavigationType)
		}
	case "Page.javascriptDialogOpening":
		p.dialogOpens(s, e.Params)
	case "Page.javascriptDialogClosed":
		var v struct{ Result bool }
		_ = json.Unmarshal(e.Params, &v)
		p.dialogCloses(v.Result)
	case "Page.fileChooserOpened":
		p.chooserOpens(s, e.Params)
	case "Input.dragIntercepted":
		p.dragBegins(e.Params)
	case "Inspector.targetCrashed":
		p.crashes(s)
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
		p.console.add(e)
	}
}

// lost forgets a session of the page. With that of the tab, the page has been closed.
func (p *Page) lost(s *session) {
	if s.id == p.main {
		p.update(func() { p.state.closed = true })
		p.markReady(cdp.ErrDetached)
		p.dialogCloses(false)
		return
	}
	p.update(func() {
		maps.DeleteFunc(p.frames, func(_ string, f *frame) bool { return f.session == s.id && f.id != s.root })
		if f := p.frames[s.root]; f != nil && f.session == s.id {
			f.session = "" // until it is loaded by another process
		}
	})
}

var errNoFrame = errors.New("the frame is not there any more: take a new snapshot")
