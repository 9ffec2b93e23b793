package htmltext

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// writer writes blocks, one below another, with a prefix on each line.
type writer struct {
	out    strings.Builder
	max    int
	base   *url.URL
	deep   int      // how many inline elements this is inside of
	prefix []string // of the lines: list indents, quotes
	quoted []string // the quotes that the last line stood in
	gap    int      // line breaks that the next text wants before it
	mark   string   // what the next line begins with, such as the dash of an item
	blank  bool     // a blank waits for the next words of the line
	full   bool
	lists  []int // the number of the next item; -1 for a list without numbers
}

// silent are elements of which nothing is read.
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

// hidden reports whether the page itself does not show an element.
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

// node writes a node and what is in it.
func (w *writer) node(n *html.Node) {
	switch {
	case n == nil || w.full || silent(n):
	case n.Type == html.TextNode:
		w.words(n.Data)
	case n.Type == html.ElementNode:
		w.element(n)
	case n.Type == html.DocumentNode:
		w.children(n)
	}
}

func (w *writer) children(n *html.Node) {
	for c := range n.ChildNodes() {
		w.node(c)
	}
}

func (w *writer) element(n *html.Node) {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		level, _ := strconv.Atoi(n.Data[1:])
		w.block(n, 2, strings.Repeat("#", level)+" ")
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Header, atom.Footer, atom.Aside, atom.Figure, atom.Figcaption,
		atom.Form, atom.Fieldset, atom.Address, atom.Details, atom.Summary, atom.Dl, atom.Dt, atom.Body, atom.Html:
		w.block(n, gapOf(n), "")
	case atom.Dd:
		w.indented(n, "  ", "")
	case atom.Br:
		w.breakLine()
	case atom.Hr:
		w.open(2)
		w.write("---")
		w.open(2)
	case atom.Ul, atom.Ol, atom.Menu:
		w.list(n)
	case atom.Li:
		w.item(n)
	case atom.Blockquote:
		w.open(2)
		w.indented(n, "> ", "> ")
		w.open(2)
	case atom.Pre:
		w.code(n)
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		w.inline(n, "`")
	case atom.Strong, atom.B:
		w.inline(n, "**")
	case atom.Em, atom.I:
		w.inline(n, "*")
	case atom.Del, atom.S:
		w.inline(n, "~~")
	case atom.A:
		w.link(n)
	case atom.Img:
		if alt := strings.Join(strings.Fields(attribute(n, "alt")), " "); alt != "" {
			w.words("[image: " + alt + "]")
		}
	case atom.Table:
		w.table(n)
	default:
		w.children(n)
	}
}

// gapOf is the number of line breaks round a block.
func gapOf(n *html.Node) int {
	switch n.DataAtom {
	case atom.P, atom.Figure, atom.Dl, atom.Details, atom.Article, atom.Section:
		return 2
	}
	return 1
}

func (w *writer) block(n *html.Node, gap int, mark string) {
	w.open(gap)
	w.mark += mark
	w.children(n)
	if mark != "" && strings.HasSuffix(w.mark, mark) {
		w.mark = strings.TrimSuffix(w.mark, mark) // an empty heading
	}
	w.open(gap)
}

// indented writes the children of a node with a prefix on each line; first is
// the one of the first line.
func (w *writer) indented(n *html.Node, prefix, first string) {
	w.open(1)
	depth := len(w.prefix)
	if depth < maxDepth {
		w.prefix = append(w.prefix, prefix)
		if first != prefix {
			w.mark = first
		}
	}
	w.children(n)
	w.open(1)
	w.prefix, w.mark = w.prefix[:depth], ""
}

// maxDepth bounds how deep lists and quotes are indented and marks are nested.
const maxDepth = 12

func (w *writer) list(n *html.Node) {
	gap := 2
	if len(w.lists) > 0 {
		gap = 1
	}
	w.open(gap)
	number := -1
	if n.DataAtom == atom.Ol {
		number = 1
		if start, err := strconv.Atoi(attribute(n, "start")); err == nil && start >= 0 && start < 1_000_000 {
			number = start
		}
	}
	w.lists = append(w.lists, number)
	w.children(n)
	w.lists = w.lists[:len(w.lists)-1]
	w.open(gap)
}

func (w *writer) item(n *html.Node) {
	mark := "- "
	if last := len(w.lists) - 1; last >= 0 && w.lists[last] >= 0 {
		mark = fmt.Sprintf("%d. ", w.lists[last])
		w.lists[last]++
	}
	w.indented(n, strings.Repeat(" ", len(mark)), mark)
}

// code writes preformatted text between fences, as it is.
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

// language is the name of the language that a code block has as its class.
func language(n *html.Node) string {
	for _, at := range []*html.Node{n, find(n, atom.Code)} {
		for class := range strings.FieldsSeq(attribute(at, "class")) {
			for _, prefix := range []string{"language-", "lang-", "highlight-source-"} {
				if name, ok := strings.CutPrefix(class, prefix); ok && len(name) < 20 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789+#-") == "" {
					return name
				}
			}
		}
	}
	return ""
}

// inline writes marks round the words of a node, if it has any.
func (w *writer) inline(n *html.Node, mark string) {
	if w.deep >= maxDepth {
		w.children(n)
		return
	}
	text := w.sub(n)
	if text == "" {
		if content(n, 1) != "" {
			w.blank = true
		}
		return
	}
	if mark == "`" && strings.Contains(text, "`") || strings.Contains(text, "\n") || strings.HasPrefix(text, mark) {
		mark = ""
	}
	w.around(n, mark+text+mark)
}

// around writes what a node became, with the blanks that stood at its edges.
func (w *writer) around(n *html.Node, text string) {
	inside := content(n, 1<<16)
	if strings.TrimLeft(inside, " \t\r\n") != inside {
		w.blank = true
	}
	w.write(text)
	if strings.TrimRight(inside, " \t\r\n") != inside {
		w.blank = true
	}
}

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

// blocky reports whether a link holds blocks, as cards of a list do.
func blocky(n *html.Node) bool {
	for d := range n.Descendants() {
		switch d.DataAtom {
		case atom.Div, atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.Ul, atom.Ol, atom.Table, atom.Section, atom.Article, atom.Pre:
			return true
		}
	}
	return false
}

// maxLink bounds an address that is written out.
const maxLink = 500

// resolve is the address of a link that leads somewhere else; empty for
// places in the page, scripts and data.
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
		return strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29").Replace(visible(u.String()))
	}
	return ""
}
