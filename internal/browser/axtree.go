package browser

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// axValue is a value of the accessibility tree.
type axValue struct {
	Value any
}

func (v *axValue) text() string {
	if v == nil {
		return ""
	}
	switch x := v.Value.(type) {
	case string:
		return x
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(x)
	}
	return ""
}

// axNode is a node of the accessibility tree.
type axNode struct {
	NodeID     string
	Ignored    bool
	Role       *axValue
	Name       *axValue
	Value      *axValue
	Properties []struct {
		Name  string
		Value axValue
	}
	ParentID string
	ChildIDs []string `json:"childIds"`
	Node     int64    `json:"backendDOMNodeId"`
}

func (n *axNode) property(name string) string {
	for i := range n.Properties {
		if n.Properties[i].Name == name {
			return n.Properties[i].Value.text()
		}
	}
	return ""
}

// axTree is the accessibility tree of one frame.
type axTree struct {
	frame  frame
	nodes  []axNode
	index  map[string]int
	frames map[int64]*axTree // by the node that shows them
	lost   error             // why it could not be read
}

func (t *axTree) node(id string) *axNode {
	if i, ok := t.index[id]; ok {
		return &t.nodes[i]
	}
	return nil
}

// readTrees reads the trees of all frames, each below the one that shows it. more counts the
// frames that were not read.
func (p *Page) readTrees(ctx context.Context) (top *axTree, more int, err error) {
	p.mu.Lock()
	list := p.inOrder()
	p.mu.Unlock()
	if len(list) == 0 {
		return nil, 0, errNoFrame
	}
	if len(list) > maxFrames {
		list, more = list[:maxFrames], len(list)-maxFrames
	}
	trees := make([]*axTree, len(list))
	owners := make([]int64, len(list))
	var all sync.WaitGroup
	var left atomic.Int64
	left.Store(maxTrees)
	turns := make(chan struct{}, 4) // what is read at once is bounded, too
	for i, f := range list {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			trees[i] = p.readTree(ctx, f, &left)
			if i > 0 {
				owners[i] = p.owner(ctx, f)
			}
		})
	}
	all.Wait()
	if trees[0].lost != nil {
		return nil, 0, trees[0].lost
	}
	byID := map[string]*axTree{}
	for i, t := range trees {
		byID[t.frame.id] = t
		if above := byID[t.frame.parent]; i > 0 && above != nil && owners[i] != 0 {
			above.frames[owners[i]] = t
		}
	}
	return trees[0], more, nil
}

// inOrder returns copies of the frames, each behind its parent. Call it with the lock held.
func (p *Page) inOrder() []frame {
	children := map[string][]string{}
	for id, f := range p.frames {
		if id != p.target {
			children[f.parent] = append(children[f.parent], id)
		}
	}
	var list []frame
	if p.frames[p.target] == nil {
		return nil
	}
	for queue := []string{p.target}; len(queue) > 0; queue = queue[1:] {
		list = append(list, *p.frames[queue[0]])
		below := children[queue[0]]
		slices.Sort(below)
		queue = append(queue, below...)
	}
	return list
}

func (p *Page) readTree(ctx context.Context, f frame, left *atomic.Int64) *axTree {
	t := &axTree{frame: f, index: map[string]int{}, frames: map[int64]*axTree{}}
	switch {
	case f.crashed:
		t.lost = errFrameCrashed
		return t
	case f.session == "":
		t.lost = errNoFrame
		return t
	case left.Load() <= 0:
		t.lost = errTooMuch
		return t
	}
	var answer struct{ Nodes []axNode }
	if t.lost = p.call(ctx, f.session, "Accessibility.getFullAXTree", fields{"frameId": f.id}, &answer); t.lost != nil {
		return t
	}
	size := int64(0)
	for i := range answer.Nodes {
		size += 200 + int64(len(answer.Nodes[i].Name.text()))
	}
	if left.Add(-size) < 0 && f.id != p.target {
		t.lost = errTooMuch
		return t
	}
	t.nodes = answer.Nodes
	for i := range t.nodes {
		t.index[t.nodes[i].NodeID] = i
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.frames[f.id]; now == nil || now.loader != f.loader { // whose nodes are these?
		t.nodes, t.index, t.lost = nil, nil, errMoved
	}
	return t
}

// maxTrees bounds the trees of all frames together, in bytes: 200 for a node, and its name.
const maxTrees = 64 << 20

var errTooMuch = errors.New("the page is too large: this frame was not read")

var errMoved = errors.New("the tab went to another page meanwhile: try again")

// owner returns the node that shows a frame, or 0.
func (p *Page) owner(ctx context.Context, f frame) int64 {
	if f.owner != 0 {
		return f.owner
	}
	p.mu.Lock()
	session := ""
	if above := p.frames[f.parent]; above != nil {
		session = above.session
	}
	p.mu.Unlock()
	var answer struct {
		Node int64 `json:"backendNodeId"`
	}
	if session == "" || p.call(ctx, session, "DOM.getFrameOwner", fields{"frameId": f.id}, &answer) != nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.frames[f.id]; now != nil {
		now.owner = answer.Node
	}
	return answer.Node
}

// clickable lists nodes of a frame that listen for clicks, whatever their role is.
func (p *Page) clickable(ctx context.Context, session string) map[int64]bool {
	var answer struct {
		Documents []struct {
			Nodes struct {
				Backend   []int64               `json:"backendNodeId"`
				Clickable struct{ Index []int } `json:"isClickable"`
			}
		}
	}
	if p.call(ctx, session, "DOMSnapshot.captureSnapshot", fields{"computedStyles": []string{}}, &answer) != nil {
		return nil
	}
	found := map[int64]bool{}
	for _, d := range answer.Documents {
		for _, i := range d.Nodes.Clickable.Index {
			if i < len(d.Nodes.Backend) {
				found[d.Nodes.Backend[i]] = true
			}
		}
	}
	return found
}
