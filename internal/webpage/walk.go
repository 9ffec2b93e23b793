package webpage

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// writer writes blocks one below the other, with a prefix on each line.
type writer struct {
	out    strings.Builder
	max    int
	base   *url.URL
	deep   int      // number of enclosing inline elements
	prefix []string // of the lines: list indents, quotes
	quoted []string // the quotes of the last line
	gap    int      // line breaks to write before the next text
	mark   string   // beginning of the next line, such as an item's dash
	blank  bool     // write a space before the next words of the line
	full   bool
	lists  []int // number of the next item, -1 for an unordered list
	drop   map[*html.Node]bool
}

// node writes a node and its content.
func (w *writer) node(n *html.Node) {
	switch {
	case n == nil || w.full || w.drop[n] || silent(n):
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

// gapOf returns the number of line breaks around a block.
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

// indented writes the children of a node with a prefix on each line. first is the
// prefix of the first line.
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

// maxDepth bounds the nesting of lists, quotes and inline marks.
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

// inline writes marks around the text of a node, if it has any.
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

// around writes a node's converted text and keeps the spaces at its edges.
func (w *writer) around(n *html.Node, text string) {
	original := content(n, 1<<16)
	if strings.TrimLeft(original, " \t\r\n") != original {
		w.blank = true
	}
	w.write(text)
	if strings.TrimRight(original, " \t\r\n") != original {
		w.blank = true
	}
}
