package browser

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRefs bounds the refs of a page. With more, those that the last snapshot did not show
// are forgotten.
const maxRefs = 100_000

// nodeID names an element: a node of one document. Numbers of nodes are used again by other
// documents, names of documents are not.
type nodeID struct {
	frame, loader string
	node          int64
}

// refs are the elements that snapshots named. A number is never used twice.
type refs struct {
	last    int
	numbers map[nodeID]int
	nodes   map[int]nodeID
}

// number returns the ref of an element.
func (r *refs) number(id nodeID) int {
	if n, ok := r.numbers[id]; ok {
		return n
	}
	if r.numbers == nil {
		r.numbers, r.nodes = map[nodeID]int{}, map[int]nodeID{}
	}
	r.last++
	r.numbers[id], r.nodes[r.last] = r.last, id
	return r.last
}

// prune forgets what has gone, if there is too much.
func (r *refs) prune(lives func(nodeID) bool) {
	if len(r.nodes) < maxRefs/20 {
		return
	}
	for n, id := range r.nodes {
		if !lives(id) || len(r.nodes) > maxRefs {
			delete(r.nodes, n)
			delete(r.numbers, id)
		}
	}
}

func refName(n int) string { return "@e" + strconv.Itoa(n) }

// RefError says that a ref cannot be used.
type RefError struct {
	Ref  string
	Text string
}

func (e *RefError) Error() string { return e.Ref + " " + e.Text }

func stale(ref string) error {
	return &RefError{ref, "is not on the page any more: take a new snapshot and use its refs"}
}

// find returns the element of a ref, whose document must still be shown.
func (p *Page) find(ref string) (nodeID, error) {
	digits, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(ref), "@"), "e")
	n, err := strconv.Atoi(digits)
	ref = clean(ref, 40)
	if !ok || err != nil || n <= 0 {
		return nodeID{}, &RefError{ref, "is no ref: use one such as @e12 from a snapshot"}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	id, ok := p.refs.nodes[n]
	switch {
	case n > p.refs.last:
		return nodeID{}, &RefError{ref, "was never shown on this tab: take a snapshot and use its refs"}
	case !ok || !p.shows(id):
		return nodeID{}, stale(refName(n))
	}
	return id, nil
}

// shows reports whether the document of an element is shown. Call it with the lock held.
func (p *Page) shows(id nodeID) bool {
	f := p.frames[id.frame]
	return f != nil && f.loader == id.loader
}

// clean makes one line of text of a page, without what is not seen.
func clean(s string, most int) string {
	var b strings.Builder
	space, n := false, 0
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = n > 0
			continue
		}
		if !unicode.IsGraphic(r) || r == utf8.RuneError {
			continue
		}
		if space {
			b.WriteByte(' ')
			n++
			space = false
		}
		if n >= most {
			fmt.Fprint(&b, "…")
			break
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
