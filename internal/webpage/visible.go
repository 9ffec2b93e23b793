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
			s := styleOf(a.Val)
			if s.hides() || s["color"] != "" && sameColour(s["color"], behind(n)) {
				return true
			}
		case "color":
			if n.DataAtom == atom.Font && sameColour(a.Val, behind(n)) {
				return true
			}
		}
	}
	return false
}

// style is an inline style: the last value of each name.
type style map[string]string

func styleOf(text string) style {
	s := style{}
	for rule := range strings.SplitSeq(strings.ToLower(text), ";") {
		name, value, _ := strings.Cut(rule, ":")
		value = strings.TrimSpace(value)
		if i := strings.LastIndexByte(value, '!'); i >= 0 {
			value = strings.TrimSpace(value[:i])
		}
		s[strings.TrimSpace(name)] = value
	}
	return s
}

// far is how many pixels outside of the page a text cannot be seen.
const far = -500

// hides reports whether a style makes an element invisible.
func (s style) hides() bool {
	if s["display"] == "none" || s["visibility"] == "hidden" || s["visibility"] == "collapse" || s["content-visibility"] == "hidden" || s["color"] == "transparent" {
		return true
	}
	if n, ok := number(s["opacity"]); ok && n <= 0.05 {
		return true
	}
	if n, ok := number(s["font-size"]); ok && (n == 0 || n <= 1 && strings.HasSuffix(s["font-size"], "px")) {
		return true
	}
	for _, side := range []string{"left", "right", "top", "text-indent", "margin-left", "margin-top"} {
		if n, ok := number(s[side]); ok && n <= far {
			return true
		}
	}
	if strings.HasPrefix(strings.ReplaceAll(s["clip"], "px", ""), "rect(0") || strings.HasPrefix(s["clip-path"], "inset(50%") || strings.HasPrefix(s["clip-path"], "inset(100%") ||
		strings.HasPrefix(strings.ReplaceAll(s["transform"], " ", ""), "scale(0)") {
		return true
	}
	clips := strings.HasPrefix(s["overflow"], "hidden") || s["overflow"] == "clip" || s["overflow-x"] == "hidden" || s["overflow-y"] == "hidden"
	if !clips {
		return false
	}
	for _, side := range []string{"width", "height", "max-width", "max-height"} {
		if n, ok := number(s[side]); ok && n <= 1 && !strings.HasSuffix(s[side], "em") && !strings.HasSuffix(s[side], "%") || ok && n == 0 {
			return true
		}
	}
	return false
}

// number reads the number at the beginning of a value such as 0px or .5em.
func number(value string) (float64, bool) {
	end := strings.IndexFunc(value, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' && r != '+' })
	if end >= 0 {
		value = value[:end]
	}
	n, err := strconv.ParseFloat(value, 64)
	return n, err == nil
}

// behind returns the colour behind the text of an element, as far as the page's elements say it
// themselves. It is "" if they do not.
func behind(n *html.Node) string {
	for range 40 {
		if n == nil || n.Type != html.ElementNode {
			return ""
		}
		s := styleOf(attribute(n, "style"))
		for _, value := range []string{s["background-color"], s["background"], strings.ToLower(attribute(n, "bgcolor"))} {
			if value != "" && value != "transparent" && value != "inherit" && value != "none" {
				return value
			}
		}
		if attribute(n, "background") != "" {
			return "" // a picture
		}
		n = n.Parent
	}
	return ""
}

// sameColour reports whether two colours are surely the same. Pictures and gradients are not.
func sameColour(a, b string) bool {
	x, y := colour(a), colour(b)
	return x != "" && x == y
}

// colour returns a colour as six hexadecimal digits, or "".
func colour(value string) string {
	value = strings.ToLower(strings.TrimSpace(value))
	switch value {
	case "white":
		return "ffffff"
	case "black":
		return "000000"
	}
	if inner, ok := strings.CutPrefix(value, "rgb("); ok {
		parts := strings.FieldsFunc(strings.TrimSuffix(inner, ")"), func(r rune) bool { return r == ',' || r == ' ' })
		if len(parts) != 3 {
			return ""
		}
		out := ""
		for _, part := range parts {
			n, err := strconv.ParseUint(part, 10, 8)
			if err != nil {
				return ""
			}
			out += string("0123456789abcdef"[n>>4]) + string("0123456789abcdef"[n&15])
		}
		return out
	}
	hex, ok := strings.CutPrefix(value, "#")
	if !ok || strings.Trim(hex, "0123456789abcdef") != "" {
		return value // a name
	}
	if len(hex) == 3 {
		return string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	return hex
}
