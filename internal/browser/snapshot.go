package browser

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"hermes/internal/cdp"
)

// SnapshotOptions say what a snapshot shows.
type SnapshotOptions struct {
	// Most is the longest text, in bytes; 0 is 15,000.
	Most int
	// Query is what the user wants: parts of the page with its words are kept first if all
	// is too long.
	Query string
	// Ref shows what is in this element only.
	Ref string
}

const defaultMost = 15_000

// Snapshot is what a page shows, as text.
type Snapshot struct {
	Info Info
	// Text is an indented outline with refs, and says at its end what was left out.
	Text string
	// Full is the whole outline, if something was left out of Text; else it is empty.
	Full string
}

// Snapshot reads the page. A ref stays the same as long as its element lives.
func (p *Page) Snapshot(ctx context.Context, o SnapshotOptions) (Snapshot, error) {
	p.acting.Lock()
	defer p.acting.Unlock()
	var only nodeID
	if o.Ref != "" {
		id, err := p.find(o.Ref)
		if err != nil {
			return Snapshot{}, err
		}
		only = id
	}
	var lines []line
	var more int
	var info Info
	err := errMoved
	for try := 0; try < 3 && errors.Is(err, errMoved); try++ { // a page that goes on is read again
		lines, more, info, err = p.outline(ctx, only)
	}
	switch {
	case errors.Is(err, cdp.ErrTooLarge):
		return Snapshot{}, errors.New("the page is too large to be read as an outline: look at a picture of it, or read parts of it with a script")
	case err != nil:
		return Snapshot{}, err
	}
	if o.Ref != "" && len(lines) == 0 {
		return Snapshot{}, stale(o.Ref)
	}
	s := Snapshot{Info: info}
	s.Text, s.Full = choose(lines, o.Query, cmp.Or(o.Most, defaultMost))
	if more > 0 {
		s.Text += "\n(" + strconv.Itoa(more) + " more frames were not read)"
	}
	return s, nil
}

// outline reads the trees of the page, or of one element, and makes lines of them.
func (p *Page) outline(ctx context.Context, only nodeID) (lines []line, more int, info Info, err error) {
	var clickable map[string]map[int64]bool
	var all sync.WaitGroup
	all.Go(func() { clickable = p.clickables(ctx) })
	all.Go(func() { info, _ = p.Info(ctx) }) // the title is not worth an error
	top, more, err := p.readTrees(ctx)
	all.Wait()
	if err != nil {
		return nil, 0, Info{}, err
	}
	base, _ := url.Parse(info.URL)
	p.mu.Lock()
	p.refs.prune(p.shows)
	p.mu.Unlock()
	o := outline{base: base, clickable: clickable, ref: func(f *frame, node int64) int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.refs.number(nodeID{f.id, f.loader, node})
	}}
	if only.node == 0 {
		o.tree(top, -1, 0)
		return o.lines, more, info, nil
	}
	var walk func(t *axTree)
	walk = func(t *axTree) {
		if t.frame.id == only.frame {
			for i := range t.nodes {
				if t.nodes[i].Node == only.node && len(o.lines) == 0 {
					o.node(t, &t.nodes[i], -1, 0)
				}
			}
		}
		for _, below := range t.frames {
			walk(below)
		}
	}
	walk(top)
	return o.lines, more, info, nil
}

// clickables lists what listens for clicks, for each session of the page.
func (p *Page) clickables(ctx context.Context) map[string]map[int64]bool {
	p.mu.Lock()
	sessions := map[string]map[int64]bool{}
	for _, f := range p.frames {
		if f.session != "" && !f.crashed && len(sessions) < maxFrames {
			sessions[f.session] = nil
		}
	}
	p.mu.Unlock()
	for id := range sessions {
		sessions[id] = p.clickable(ctx, id)
	}
	return sessions
}

// join writes lines as they are shown.
func join(lines []line) string {
	var b strings.Builder
	for i := range lines {
		b.WriteString(lines[i].text())
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}
