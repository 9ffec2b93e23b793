package browser

import (
	"context"
	"errors"
	"fmt"
	"math"

	"hermes/internal/cdp"
)

// element is an element of the page, held for one action.
type element struct {
	page    *Page
	ref     string // as the caller wrote it
	id      nodeID
	session string
	object  string
}

// hold returns the element of a ref. It is the one that the snapshot showed, or an error.
func (p *Page) hold(ctx context.Context, ref string) (*element, error) {
	id, err := p.find(ref)
	if err != nil {
		return nil, err
	}
	e, err := p.holdNode(ctx, id)
	if errors.Is(err, cdp.ErrNoNode) || errors.Is(err, errNoFrame) || errors.Is(err, errMoved) {
		return nil, stale(clean(ref, 40))
	}
	if err != nil {
		return nil, err
	}
	e.ref = clean(ref, 40)
	return e, nil
}

func (p *Page) holdNode(ctx context.Context, id nodeID) (*element, error) {
	for try := 0; ; try++ {
		session, world, loader, err := p.world(ctx, id.frame)
		if err != nil {
			return nil, err
		}
		if loader != id.loader {
			return nil, errMoved
		}
		var answer struct{ Object struct{ ObjectID string } }
		err = p.call(ctx, session, "DOM.resolveNode", fields{"backendNodeId": id.node, "executionContextId": world}, &answer)
		if errors.Is(err, cdp.ErrNoNode) && try == 0 {
			p.forgetWorld(id.frame, world) // a document may be the same and its world another
			continue
		}
		if err != nil {
			return nil, err
		}
		p.mu.Lock()
		same := p.shows(id)
		p.mu.Unlock()
		if !same { // the number may have been one of another document
			return nil, errMoved
		}
		return &element{page: p, id: id, session: session, object: answer.Object.ObjectID}, nil
	}
}

// free lets go of what was held.
func (e *element) free() {
	e.page.b.conn.Post(e.page.b.life, e.session, "Runtime.releaseObject", fields{"objectId": e.object})
}

// run calls a script of ours on the element.
func (e *element) run(ctx context.Context, script string, result any, args ...any) error {
	list := make([]fields, len(args))
	for i, a := range args {
		list[i] = fields{"value": a}
	}
	var v evaluated
	err := e.page.call(ctx, e.session, "Runtime.callFunctionOn", fields{
		"functionDeclaration": script, "objectId": e.object, "arguments": list, "returnByValue": true, "userGesture": true,
	}, &v)
	if errors.Is(err, cdp.ErrNoNode) {
		return stale(e.ref)
	}
	if err != nil {
		return err
	}
	return v.into(result)
}

// point is where an element can be reached, in the viewport.
type point struct {
	X, Y    float64
	Gone    bool   // it was removed
	Hidden  bool   // it has no place on the page
	Blocked string // disabled, or what covers it
	Covered string
}

// reach scrolls the element into view and returns a point that is its own: nothing covers it.
func (e *element) reach(ctx context.Context) (point, error) {
	if e.session != e.page.main {
		return e.aim(ctx)
	}
	_, at, err := e.locate(ctx)
	return at, err
}

// locate returns a point of the element in its own document and in the tab.
func (e *element) locate(ctx context.Context) (own, at point, err error) {
	if err := e.run(ctx, reachScript, &own); err != nil {
		return own, at, err
	}
	if err := e.refuse(own); err != nil {
		return own, at, err
	}
	at, err = e.inTab(ctx, own)
	return own, at, err
}

// moves are the moves of the mouse that a document saw.
type moves struct {
	N    int
	X, Y float64 // of the last one
}

// aimTries bounds how many times the mouse is moved to a frame of another process.
const aimTries = 30

// aim is reach for a frame of another process. The browser decides by what it drew last which
// process gets an event, and where that is, and what it drew may be older than the last
// scrolling. So the mouse is moved until the element's document sees it at the right place.
func (e *element) aim(ctx context.Context) (point, error) {
	p := e.page
	for try := range aimTries {
		own, at, err := e.locate(ctx)
		if err != nil {
			return at, err
		}
		var before, after moves
		if err := e.run(ctx, movesScript, &before); err != nil {
			return at, err
		}
		if err := p.mouse(ctx, "mouseMoved", point{X: at.X + float64(try%2), Y: at.Y}, nil); err != nil {
			return at, err
		}
		if err := e.run(ctx, movesScript, &after); err != nil {
			return at, err
		}
		if after.N > before.N && math.Abs(after.X-own.X) <= 2 && math.Abs(after.Y-own.Y) <= 2 {
			return at, nil
		}
		if err := p.call(ctx, p.main, "Runtime.evaluate", fields{"awaitPromise": true, "expression": drawnScript}, nil); err != nil {
			return at, err
		}
	}
	return point{}, &RefError{e.ref, "cannot be reached with the mouse now: take a new snapshot and try again"}
}

func (e *element) refuse(at point) error {
	switch {
	case at.Gone:
		return stale(e.ref)
	case at.Hidden:
		return &RefError{e.ref, "is not visible: something else may have to be opened first"}
	case at.Blocked != "":
		return &RefError{e.ref, "is " + clean(at.Blocked, 100)}
	case at.Covered != "":
		return &RefError{e.ref, "is covered by " + clean(at.Covered, 200) + ": close or move that first"}
	}
	return nil
}

// inTab returns the place of a point of the element's frame in the whole tab.
func (e *element) inTab(ctx context.Context, at point) (point, error) {
	p := e.page
	for id := e.id.frame; id != p.target; {
		p.mu.Lock()
		f, above := p.frames[id], (*frame)(nil)
		if f != nil {
			above = p.frames[f.parent]
		}
		if above == nil {
			p.mu.Unlock()
			return at, stale(e.ref)
		}
		copied, owner := *f, nodeID{above.id, above.loader, 0}
		p.mu.Unlock()
		if owner.node = p.owner(ctx, copied); owner.node == 0 {
			return at, stale(e.ref)
		}
		shows, err := p.holdNode(ctx, owner)
		if err != nil {
			return at, fmt.Errorf("find the frame of %s: %w", e.ref, err)
		}
		shows.ref = e.ref
		at, err = shows.through(ctx, at)
		shows.free()
		if err != nil {
			return at, err
		}
		id = above.id
	}
	return at, nil
}

// through returns a point in the document of a frame's element.
func (e *element) through(ctx context.Context, at point) (point, error) {
	var outer point
	if err := e.run(ctx, throughScript, &outer, at.X, at.Y); err != nil {
		return at, err
	}
	return outer, e.refuse(outer)
}

// describe is how scripts name what covers an element.
const describe = `
const describe = n => {
	if (!n) return "something else";
	if (n.nodeType !== 1) n = n.parentElement || n;
	let s = "<" + n.localName + (n.id ? " id=" + n.id : "") + (typeof n.className === "string" && n.className ? " class=" + n.className : "") + ">";
	const t = (n.getAttribute && n.getAttribute("aria-label") || n.innerText || "").trim().slice(0, 60);
	return t ? s + " " + JSON.stringify(t) : s;
};`

// reachScript runs in a world of its own, so that the page cannot tell it a wrong place.
const reachScript = `function(still) {` + describe + `
	const el = this.nodeType === 1 ? this : this.parentElement;
	if (!el || !el.isConnected) return {gone: true};
	if (el.matches(":disabled")) return {blocked: "disabled"};
	const doc = el.ownerDocument, view = doc.defaultView;
	const boxes = e => [...e.getClientRects()].filter(r => r.width > 0 && r.height > 0);
	const places = () => {
		let list = boxes(el);
		if (!list.length && el.localName === "area") list = [el.getBoundingClientRect()];
		if (!list.length && getComputedStyle(el).display === "contents") list = [...el.children].flatMap(boxes);
		for (const l of el.labels || []) list.push(...boxes(l));
		return list;
	};
	const owns = hit => {
		for (let n = hit; n; n = n.assignedSlot || n.parentNode || n.host) {
			if (n === el) return true;
			if (n.localName === "label" && n.control === el) return true;
		}
		return false;
	};
	let cover = null;
	const find = () => {
		for (const r of places()) {
			const left = Math.max(r.left, 0), right = Math.min(r.right, view.innerWidth);
			const top = Math.max(r.top, 0), bottom = Math.min(r.bottom, view.innerHeight);
			if (right <= left || bottom <= top) continue;
			const x = (left + right) / 2, y = (top + bottom) / 2;
			const hit = el.getRootNode().elementFromPoint(x, y);
			if (owns(hit)) {
				let n = el.getRootNode();
				let above = true;
				while (n.host && above) {
					const host = n.host;
					n = host.getRootNode();
					const outer = n.elementFromPoint(x, y);
					above = false;
					for (let o = outer; o; o = o.assignedSlot || o.parentNode || o.host) above = above || o === host;
					if (!above) cover = outer;
				}
				if (above) return {x, y};
				continue;
			}
			cover = hit || cover;
		}
		return null;
	};
	const seen = find();
	if (seen) return seen;
	if (!places().length || still) return {hidden: true};
	(boxes(el).length || !el.labels || !el.labels.length ? el : el.labels[0]).scrollIntoView({block: "center", inline: "center", behavior: "instant"});
	const now = find();
	if (now) return now;
	const style = getComputedStyle(el);
	if (style.visibility !== "visible") return {hidden: true};
	if (style.pointerEvents === "none") return {blocked: "not taking clicks now"};
	return cover ? {covered: describe(cover)} : {hidden: true};
}`

const throughScript = `function(x, y) {` + describe + `
	if (!this.isConnected) return {gone: true};
	const view = this.ownerDocument.defaultView;
	const place = () => {
		const r = this.getBoundingClientRect(), s = getComputedStyle(this);
		const w = this.offsetWidth ? r.width / this.offsetWidth : 1, h = this.offsetHeight ? r.height / this.offsetHeight : 1;
		return {x: r.left + (this.clientLeft + parseFloat(s.paddingLeft) + x) * w, y: r.top + (this.clientTop + parseFloat(s.paddingTop) + y) * h};
	};
	let at = place();
	const inside = () => at.x >= 0 && at.y >= 0 && at.x < view.innerWidth && at.y < view.innerHeight;
	const hit = () => inside() ? this.getRootNode().elementFromPoint(at.x, at.y) : null;
	if (hit() !== this) {
		view.scrollBy({left: at.x - view.innerWidth / 2, top: at.y - view.innerHeight / 2, behavior: "instant"});
		at = place();
	}
	if (hit() !== this) {
		this.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
		at = place();
	}
	const found = hit();
	if (found === this) return at;
	return found ? {covered: describe(found)} : {hidden: true};
}`
