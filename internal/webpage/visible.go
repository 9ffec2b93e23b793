package webpage

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// silent reports whether an element is skipped for what it is. Those that the page hides are not in the tree: see hide.
func silent(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Embed, atom.Canvas, atom.Audio, atom.Video,
		atom.Head, atom.Nav, atom.Select, atom.Textarea, atom.Input, atom.Button, atom.Dialog, atom.Datalist, atom.Math, atom.Svg, atom.Map, atom.Noframes, atom.Noembed:
		return true
	}
	return n.Namespace != ""
}
