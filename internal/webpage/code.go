package webpage

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// code writes preformatted text unchanged between fences.
func (w *writer) code(n *html.Node) {
	text := strings.Trim(visible(verbatim(n)), "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	w.open(2)
	w.write(fence + language(n))
	for line := range strings.SplitSeq(text, "\n") {
		w.open(1)
		w.verbatimLine(strings.TrimRight(line, " \t\r"))
	}
	w.open(1)
	w.write(fence)
	w.open(2)
}

func verbatim(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node, int)
	walk = func(n *html.Node, depth int) {
		for c := range n.ChildNodes() {
			switch {
			case c.Type == html.TextNode:
				b.WriteString(c.Data)
			case c.Type == html.ElementNode && c.DataAtom == atom.Br:
				b.WriteByte('\n')
			case c.Type == html.ElementNode && !silent(c):
				walk(c, depth+1)
			}
		}
	}
	walk(n, 0)
	return b.String()
}

// language returns the language in the class of a code block, of its code or of an element around it.
func language(n *html.Node) string {
	around := []*html.Node{n, find(n, atom.Code)}
	for p := n.Parent; p != nil && len(around) < 5; p = p.Parent {
		around = append(around, p)
	}
	for _, at := range around {
		for class := range strings.FieldsSeq(attribute(at, "class")) {
			for _, prefix := range []string{"language-", "lang-", "highlight-source-", "highlight-"} {
				name, ok := strings.CutPrefix(class, prefix)
				if ok && name != "default" && name != "none" && len(name) < 20 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789+#-") == "" {
					return name
				}
			}
		}
	}
	return ""
}
