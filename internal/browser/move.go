package browser

import (
	"context"
	"encoding/json"
	"fmt"
)

// Scrolled is where a page or a part of it is after scrolling.
type Scrolled struct {
	Moved  float64 // pixels; 0: it was at its end, or does not scroll
	Y      float64 // where it is
	Height float64 // how far it can go
}

// Scroll moves what is shown by most of its size: up, down, left or right. With a ref it moves
// what the element is in, else the page.
func (p *Page) Scroll(ctx context.Context, ref, direction string) (Scrolled, error) {
	way, ok := map[string][2]int{"up": {0, -1}, "down": {0, 1}, "left": {-1, 0}, "right": {1, 0}}[direction]
	if !ok {
		return Scrolled{}, fmt.Errorf("%q is no direction: use up, down, left or right", clean(direction, 20))
	}
	p.acting.Lock()
	defer p.acting.Unlock()
	var s Scrolled
	if ref == "" {
		err := p.inWorld(ctx, p.target, fmt.Sprintf("(%s).call(document.scrollingElement || document.documentElement, %d, %d)", scrollScript, way[0], way[1]), &s)
		return s, err
	}
	e, err := p.hold(ctx, ref)
	if err != nil {
		return s, err
	}
	defer e.free()
	return s, e.run(ctx, scrollScript, &s, way[0], way[1])
}

// dragSteps is how many times the mouse moves on its way.
const dragSteps = 8

// Drag drags an element to the middle of another one, for pages that follow the mouse and for
// those that use drag and drop of HTML.
func (p *Page) Drag(ctx context.Context, from, to string) (Outcome, error) {
	return p.onRef(ctx, from, func(ctx context.Context, e *element) error {
		target, err := p.hold(ctx, to)
		if err != nil {
			return err
		}
		defer target.free()
		if _, err := e.reach(ctx); err != nil {
			return err
		}
		end, err := target.reach(ctx)
		if err != nil {
			return err
		}
		var own point
		if err := e.run(ctx, reachScript, &own, true); err != nil { // the other one may have scrolled it away
			return err
		}
		if e.refuse(own) != nil {
			return &RefError{e.ref, "cannot be seen together with " + target.ref + ": scroll so that both are visible"}
		}
		start, err := e.inTab(ctx, own)
		if err != nil {
			return err
		}
		return p.drag(ctx, start, end)
	})
}

func (p *Page) drag(ctx context.Context, start, end point) error {
	p.update(func() { p.state.drag = nil })
	if err := p.call(ctx, p.main, "Input.setInterceptDrags", fields{"enabled": true}, nil); err != nil {
		return err
	}
	defer p.b.conn.Post(p.b.life, p.main, "Input.setInterceptDrags", fields{"enabled": false})
	held := fields{"button": "left", "buttons": 1}
	p.post(ctx, mouseEvent("mouseMoved", start, nil))
	if err := p.mouse(ctx, "mousePressed", start, fields{"button": "left", "buttons": 1, "clickCount": 1}); err != nil {
		return err
	}
	var dragged json.RawMessage
	for i := 1; i <= dragSteps && dragged == nil; i++ {
		part := float64(i) / dragSteps
		at := point{X: start.X + (end.X-start.X)*part, Y: start.Y + (end.Y-start.Y)*part}
		if err := p.mouse(ctx, "mouseMoved", at, held); err != nil {
			return err
		}
		if err := p.inWorld(ctx, p.target, "0", nil); err != nil { // what it began is told before
			return err
		}
		p.mu.Lock()
		dragged = p.state.drag
		p.mu.Unlock()
	}
	if dragged != nil {
		for _, kind := range []string{"dragEnter", "dragOver", "drop"} {
			if err := p.call(ctx, p.main, "Input.dispatchDragEvent", fields{"type": kind, "x": end.X, "y": end.Y, "data": dragged}, nil); err != nil {
				return err
			}
		}
	}
	return p.mouse(ctx, "mouseReleased", end, fields{"button": "left", "clickCount": 1})
}

func (p *Page) dragBegins(raw json.RawMessage) {
	var v struct{ Data json.RawMessage }
	if json.Unmarshal(raw, &v) == nil {
		p.update(func() { p.state.drag = v.Data })
	}
}
