package webpage

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// silent reports whether an element is skipped.
func silent(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Embed, atom.Canvas, atom.Audio, atom.Video,
		atom.Head, atom.Nav, atom.Select, atom.Textarea, atom.Input, atom.Button, atom.Dialog, atom.Datalist, atom.Math, atom.Svg, atom.Map, atom.Noframes, atom.Noembed:
		return true
	}
	return n.Namespace != "" || hidden(n)
}

// hidden reports whether the page hides an element.
func hidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "aria-hidden":
			if strings.EqualFold(strings.TrimSpace(a.Val), "true") {
				return true
			}
		case "role":
			if a.Val == "navigation" || a.Val == "presentation" && n.DataAtom == atom.Img {
				return true
			}
		case "style":
			if hides(a.Val) {
				return true
			}
		}
	}
	return false
}

// hides reports whether an inline style makes an element invisible.
func hides(style string) bool {
	for rule := range strings.SplitSeq(strings.ToLower(style), ";") {
		name, value, _ := strings.Cut(rule, ":")
		value = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "!important"))
		switch strings.TrimSpace(name) {
		case "display":
			if value == "none" {
				return true
			}
		case "visibility":
			if value == "hidden" || value == "collapse" {
				return true
			}
		case "opacity", "font-size":
			if n, err := strconv.ParseFloat(strings.TrimRight(value, "%pxemrtc"), 64); err == nil && n == 0 {
				return true
			}
		}
	}
	return false
}
