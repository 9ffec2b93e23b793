package webpage

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds that decide whether a page has a main part. Numbers are letters, as size counts them.
const (
	leastMain  = 160 // less text than this is not a main part
	leastShare = 15  // and less than this part of the visible text, in percent
	bigShare   = 60  // an element with this part of the text is not dropped for its name
)

// selection is the main part of a page.
type selection struct {
	root *html.Node          // the smallest element that holds it
	head *html.Node          // the page's heading, if it is outside of root and far from it
	drop map[*html.Node]bool // elements in root that do not belong to it
}

// finder looks for the main part of a page.
type finder struct {
	*measurer
	body     *html.Node
	comments bool // comments are content, as in a forum
	linky    bool // the page is a list of links
	drop     map[*html.Node]bool
	passed   bool // the heading was passed
	walled   bool // a paywall was dropped
}

// mainPart returns the main part of a page, or nil if there is none that can be told from the
// rest; the caller then shows the whole page. walled says that the page hides a part behind a
// paywall.
func mainPart(body *html.Node, m *measurer) (s *selection, walled bool) {
	if m.total.text < leastMain {
		return nil, false
	}
	for _, comments := range []bool{false, true} {
		f := &finder{measurer: m, body: body, comments: comments, drop: map[*html.Node]bool{}}
		s := f.find()
		walled = walled || f.walled
		if s != nil {
			return s, walled
		}
		m = measure(body)
	}
	return nil, walled
}

func (f *finder) find() *selection {
	whole := f.total
	f.linky = whole.linky()
	f.prune(f.body)
	s := &selection{root: f.descend(), drop: f.drop}
	got := f.sizes[s.root]
	if got.text < leastMain || got.text*100 < whole.text*leastShare || !f.comments && got.prose*4 < whole.prose {
		return nil
	}
	if f.title != nil && !within(f.title, s.root) && !f.dropped(f.title) {
		f.reach(s)
	}
	return s
}

// reach widens the root so that it holds the heading, with what is between the two, unless that is long.
func (f *finder) reach(s *selection) {
	s.head = f.title
	top := f.title.Parent
	for top != nil && !within(s.root, top) {
		top = top.Parent
	}
	if top == nil {
		return
	}
	var outside []*html.Node
	between := 0
	for at := s.root; at != top; at = at.Parent {
		for c := at.NextSibling; c != nil; c = c.NextSibling {
			outside = append(outside, c)
		}
		for c := at.PrevSibling; c != nil; c = c.PrevSibling {
			if within(f.title, c) {
				for c = c.PrevSibling; c != nil; c = c.PrevSibling {
					outside = append(outside, c)
				}
				break
			}
			if !f.drop[c] {
				between += f.sizes[c].text
			}
		}
	}
	if between*3 > f.sizes[s.root].text {
		return
	}
	for _, n := range outside {
		f.drop[n] = true
	}
	s.root, s.head = top, nil
}

// prune drops what does not belong to the content, from the top down.
func (f *finder) prune(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || f.drop[c] {
			continue
		}
		if c == f.title {
			f.passed = true
		}
		if _, shown := f.sizes[c]; !shown {
			if inlined(c) && !silent(c) {
				if inlineNoise(c) {
					f.drop[c] = true
				} else {
					f.prune(c)
				}
			}
			continue
		}
		if f.unwanted(c) {
			f.remove(c)
			continue
		}
		if label(c) && f.labelled(c) {
			continue
		}
		f.prune(c)
	}
}

// remove drops an element, and takes its text from those around it.
func (f *finder) remove(n *html.Node) {
	f.drop[n] = true
	gone := f.sizes[n]
	for p := n.Parent; p != nil; p = p.Parent {
		if s, ok := f.sizes[p]; ok {
			f.sizes[p] = s.minus(gone)
		}
		if p == f.body {
			break
		}
	}
}

// small reports whether an element can be dropped without losing the content.
func (f *finder) small(n *html.Node) bool {
	s := f.sizes[n]
	return s.text*100 < f.total.text*bigShare && s.prose*2 <= f.total.prose
}

// unwanted reports whether an element is not content.
func (f *finder) unwanted(n *html.Node) bool {
	s := f.sizes[n]
	if s.text == 0 {
		return false
	}
	headed := f.title != nil && within(f.title, n)
	if headed || !f.small(n) {
		return false
	}
	switch n.DataAtom {
	case atom.Main, atom.Body, atom.Tr, atom.Th, atom.Tbody, atom.H1:
		return false
	case atom.Aside:
		return !names(n).note()
	case atom.Footer:
		return n.Parent == nil || n.Parent.DataAtom != atom.Blockquote
	case atom.Form, atom.Label, atom.Fieldset:
		return s.prose < 200
	case atom.Header:
		if !f.inArticle(n) || s.linky() {
			return true
		}
	}
	switch role(n) {
	case "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog", "menu", "menubar", "toolbar", "tablist":
		return true
	}
	if n.DataAtom != atom.Article && f.named(n) {
		return true
	}
	if n.DataAtom == atom.Pre {
		return false
	}
	if f.title != nil && !f.passed && s.prose < 120 && s.text < 150 && !headingTag(n) && n.DataAtom != atom.Article {
		return true // bars above the heading
	}
	return f.linkList(n, s)
}

// inArticle reports whether an element is in an article, or in the main element.
func (f *finder) inArticle(n *html.Node) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.DataAtom == atom.Article || p.DataAtom == atom.Section {
			return true
		}
	}
	return false
}

// linkList reports whether an element is a menu or a list of other pages.
func (f *finder) linkList(n *html.Node, s size) bool {
	if f.linky || !s.linky() || s.prose > 0 || s.links == 0 || headingTag(n) {
		return false
	}
	switch n.DataAtom {
	case atom.P, atom.Li, atom.Td, atom.Dd, atom.Dt:
		return s.links >= 3 && s.linked*10 >= s.text*7
	case atom.Ul, atom.Ol:
		if f.introduced(n) {
			return false
		}
	}
	return true
}

// introduced reports whether a list follows prose or a heading of a text with prose, or is part of an item of a
// list that is not only links.
func (f *finder) introduced(n *html.Node) bool {
	if n.Parent.DataAtom == atom.Li && n.Parent.Parent != nil {
		return f.sizes[n.Parent.Parent].prose > f.sizes[n].text
	}
	prev := n.PrevSibling
	for prev != nil && prev.Type != html.ElementNode {
		prev = prev.PrevSibling
	}
	return prev != nil && !f.drop[prev] && (f.sizes[prev].prose > 0 || headingTag(prev)) && f.sizes[n.Parent].prose > f.sizes[n].text
}

// descend returns the smallest element that holds the content.
func (f *finder) descend() *html.Node {
	at := f.body
	for {
		var best *html.Node
		for c := range at.ChildNodes() {
			if _, ok := f.sizes[c]; ok && !f.drop[c] && (best == nil || f.sizes[c].weight() > f.sizes[best].weight()) {
				best = c
			}
		}
		if best == nil {
			return at
		}
		switch best.DataAtom {
		case atom.P, atom.Ul, atom.Ol, atom.Table, atom.Pre, atom.Blockquote, atom.Dl, atom.Li, atom.Figure:
			if best.DataAtom != atom.Table || !layout(best, rowsOf(best)) {
				return at
			}
		}
		whole, part := f.sizes[at], f.sizes[best]
		rest := whole.minus(part)
		if part.weight()*100 < whole.weight()*55 || rest.prose*100 > part.prose*12 || repeated(at, best) {
			return at
		}
		at = best
	}
}

// repeated reports whether an element has brothers of its kind, as posts of a forum have.
func repeated(parent, n *html.Node) bool {
	class := attribute(n, "class")
	if class == "" || n.DataAtom == atom.Td {
		return false
	}
	for c := range parent.ChildNodes() {
		if c != n && c.Type == html.ElementNode && c.DataAtom == n.DataAtom && attribute(c, "class") == class {
			return true
		}
	}
	return false
}

func (f *finder) dropped(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if f.drop[n] {
			return true
		}
	}
	return false
}

// within reports whether n is root or in it.
func within(n, root *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == root {
			return true
		}
	}
	return false
}

func headingTag(n *html.Node) bool {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

func role(n *html.Node) string { return attribute(n, "role") }
