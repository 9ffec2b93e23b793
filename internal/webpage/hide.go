package webpage

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// look is how text looks at a place of the page, as far as the elements say it themselves. Style sheets are not read.
type look struct {
	colours     []string // of the text: all that the nearest element with one states
	backgrounds []string // behind it
	tiny        bool     // too small to be seen
	gone        bool     // visibility: hidden
	tinted      bool     // something may give it a background that is not stated
}

// hider takes out of a page what people do not see.
type hider struct {
	sheets  bool // a style sheet may state backgrounds
	scripts bool
	faded   int // letters that are transparent, maybe until a script shows them
}

// hide takes the elements and texts out of a tree that the page hides. It returns how many letters are transparent:
// scripts that let text appear send it so.
func hide(doc *html.Node) int {
	h := &hider{}
	for n := range doc.Descendants() {
		switch n.DataAtom {
		case atom.Link:
			h.sheets = h.sheets || strings.Contains(strings.ToLower(attribute(n, "rel")), "stylesheet")
		case atom.Style:
			h.sheets = h.sheets || n.FirstChild != nil && strings.Contains(strings.ToLower(n.FirstChild.Data), "background")
		case atom.Script:
			h.scripts = true
		}
	}
	h.walk(doc, look{tinted: h.sheets})
	return h.faded
}

func (h *hider) walk(n *html.Node, at look) {
	var next *html.Node
	for c := n.FirstChild; c != nil; c = next {
		next = c.NextSibling
		switch c.Type {
		case html.TextNode:
			if at.unseen() && n.DataAtom != atom.Script {
				n.RemoveChild(c)
			}
		case html.ElementNode:
			inside, shown := h.enter(c, at)
			if !shown {
				n.RemoveChild(c)
				continue
			}
			h.walk(c, inside)
		}
	}
}

// unseen reports whether a text that looks so cannot be seen.
func (l look) unseen() bool {
	if l.tiny || l.gone {
		return true
	}
	for _, c := range l.colours {
		if clear(c) || len(l.backgrounds) == 0 && !l.tinted && sameColour(c, "white") {
			return true
		}
		for _, b := range l.backgrounds {
			if sameColour(c, b) {
				return true
			}
		}
	}
	return false
}

// maxStated bounds the colours that one element states. One with more counts as hidden.
const maxStated = 8

// enter returns how text looks in an element, and false if nothing in it is shown.
func (h *hider) enter(n *html.Node, at look) (look, bool) {
	marked := attribute(n, "class") != "" || attribute(n, "id") != ""
	if marked && h.scripts {
		at.tinted = true
	}
	if marked && h.sheets {
		at.colours = nil // the style sheet may state another one
	}
	for _, a := range n.Attr {
		value := strings.ToLower(strings.TrimSpace(a.Val))
		switch {
		case a.Key == "hidden", a.Key == "aria-hidden" && value == "true":
			return at, false
		case a.Key == "role" && (value == "navigation" || value == "presentation" && n.DataAtom == atom.Img):
			return at, false
		case a.Key == "bgcolor":
			at.backgrounds = []string{value}
		case a.Key == "background":
			at.backgrounds, at.tinted = nil, true // a picture
		case a.Key == "color" && n.DataAtom == atom.Font, a.Key == "text" && n.DataAtom == atom.Body:
			at.colours = []string{value}
		}
	}
	s := styleOf(attribute(n, "style"))
	if len(s) == 0 {
		return at, true
	}
	if s.hides() {
		return at, false
	}
	if s.fades() {
		h.faded += letters(content(n, 1<<20))
		return at, false
	}
	return at.styled(s)
}

// styled returns how text looks in an element with this style.
func (l look) styled(s style) (look, bool) {
	colours := s.all("color", "-webkit-text-fill-color")
	if stated := keep(colours, colour); len(colours) > 0 && !contains(colours, "inherit") {
		l.colours = stated
	}
	backgrounds := s.all("background", "background-color", "background-image")
	if text := s.all("background-clip", "-webkit-background-clip"); contains(text, "text") {
		l.colours, backgrounds = nil, nil // the background is seen through the letters
	}
	if len(backgrounds) > 0 {
		var stated []string
		tinted := false
		for _, value := range backgrounds {
			if strings.Contains(value, "url(") || strings.Contains(value, "gradient(") || strings.Contains(value, "var(") {
				tinted = true
				continue
			}
			for _, part := range append(strings.Fields(value), value) {
				if c := colour(part); c != "" && !clear(c) {
					stated = append(stated, c)
				}
			}
		}
		if tinted || len(stated) > 0 {
			l.backgrounds, l.tinted = stated, l.tinted || tinted
		}
		if tinted && len(stated) > 0 && contains(backgrounds, "url(") {
			l.backgrounds = nil // a picture above the colour
		}
	}
	if len(l.colours) > maxStated || len(l.backgrounds) > 2*maxStated {
		return l, false
	}
	if sizes := s.sizes(); len(sizes) > 0 {
		tiny, relative := false, true
		for _, size := range sizes {
			px, unit, ok := length(size)
			if unit == "%" {
				px = px / 2.5 * 0.16 // of the size around it
			}
			tiny = tiny || ok && px <= 1
			relative = relative && (!ok || unit == "em" || unit == "%")
		}
		l.tiny = tiny || l.tiny && relative
	}
	if values := s.all("visibility"); contains(values, "hidden") || contains(values, "collapse") {
		l.gone = true
	} else if contains(values, "visible") {
		l.gone = false
	}
	return l, true
}

func contains(values []string, part string) bool {
	for _, v := range values {
		if strings.Contains(v, part) {
			return true
		}
	}
	return false
}

// keep returns what is not "" after a change.
func keep(values []string, change func(string) string) (kept []string) {
	for _, v := range values {
		if v = change(v); v != "" {
			kept = append(kept, v)
		}
	}
	return kept
}
