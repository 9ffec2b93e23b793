package webpage

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func (w *writer) link(n *html.Node) {
	href := attribute(n, "href")
	if w.deep >= maxDepth || blocky(n) {
		w.children(n)
		return
	}
	text := w.sub(n)
	target := w.resolve(href)
	switch {
	case text == "":
		return
	case target == "" || target == text || strings.Contains(text, "\n"):
		w.around(n, text)
	default:
		w.around(n, "["+text+"]("+target+")")
	}
}

// blocky reports whether a link contains block elements, as cards do.
func blocky(n *html.Node) bool {
	for d := range n.Descendants() {
		switch d.DataAtom {
		case atom.Div, atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.Ul, atom.Ol, atom.Table, atom.Section, atom.Article, atom.Pre:
			return true
		}
	}
	return false
}

// maxLink bounds the length of a link's address.
const maxLink = 500

// resolve returns the address of a link to another page. It is "" for anchors,
// scripts and data.
func (w *writer) resolve(href string) string {
	if href == "" || strings.HasPrefix(href, "#") || len(href) > maxLink {
		return ""
	}
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	if w.base != nil {
		u = w.base.ResolveReference(u)
	}
	switch u.Scheme {
	case "http", "https", "mailto", "":
		address := visible(u.String())
		if strings.ContainsAny(address, " ()") {
			address = strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29").Replace(address)
		}
		return address
	}
	return ""
}
