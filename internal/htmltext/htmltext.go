// Package htmltext turns a web page into text that a model reads well: its
// title, headings, paragraphs, lists, links, code and tables in the manner of
// Markdown. Scripts, styles, menus, forms' insides and whatever the page hides
// are left out.
//
// It decodes bytes by the charset that the server or the page names (Decode),
// reads HTML as browsers do, broken or not, and writes no more than it is
// allowed. It fetches nothing and decides nothing about the page. Start at
// Convert; walk.go has the elements, visible.go what is seen of them, and
// link.go, code.go and table.go those with a form of their own.
package htmltext

import (
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// Page is what came of a document.
type Page struct {
	Title string // one line; may be empty
	Text  string
	// Cut says that there was more than fits.
	Cut bool
}

// Convert reads HTML. base is where the page stands, for links that are
// relative; it may be nil. The text has at most max bytes; 0 is 1 MB.
func Convert(source string, base *url.URL, max int) Page {
	if max <= 0 {
		max = 1 << 20
	}
	doc, err := html.Parse(strings.NewReader(source))
	if err != nil { // nested deeper than any page that is meant to be read
		text, cut := clip(plain(source), max)
		return Page{Text: text, Cut: cut}
	}
	w := &writer{max: max, base: base}
	p := Page{Title: title(doc)}
	if href := attribute(find(doc, atom.Base), "href"); href != "" {
		if u, err := url.Parse(href); err == nil && base != nil {
			w.base = base.ResolveReference(u)
		}
	}
	w.node(body(doc))
	p.Text, p.Cut = w.text()
	return p
}

// Decode turns the bytes of a text into UTF-8, by a byte order mark, by the
// content type of the answer, or by what an HTML page says of itself. What
// cannot be read becomes U+FFFD.
func Decode(raw []byte, contentType string) string {
	e, _, _ := charset.DetermineEncoding(raw, contentType)
	text, err := e.NewDecoder().Bytes(raw)
	if err != nil {
		text = raw
	}
	return strings.TrimPrefix(strings.ToValidUTF8(string(text), "\uFFFD"), "\uFEFF")
}

// body is the part of a document to read: what it calls its main part, if it
// says something, else the whole.
func body(doc *html.Node) *html.Node {
	main := find(doc, atom.Main)
	if main != nil && len(strings.TrimSpace(content(main, 400))) >= 200 {
		return main
	}
	if b := find(doc, atom.Body); b != nil {
		return b
	}
	return doc
}

func title(doc *html.Node) string {
	t := find(doc, atom.Title)
	if t == nil {
		return ""
	}
	text, _ := clip(strings.Join(strings.Fields(visible(content(t, 1000))), " "), 300)
	return text
}

// find returns the first element of a kind that is not hidden.
func find(n *html.Node, kind atom.Atom) *html.Node {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.DataAtom == kind && d.Namespace == "" && (kind != atom.Main || !hidden(d)) {
			return d
		}
	}
	return nil
}

// content is the text inside a node, up to about so many bytes.
func content(n *html.Node, most int) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && (d.Parent == nil || !silent(d.Parent)) {
			b.WriteString(d.Data)
		}
		if b.Len() > most {
			break
		}
	}
	return b.String()
}

func attribute(n *html.Node, name string) string {
	if n == nil {
		return ""
	}
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return strings.TrimSpace(a.Val)
		}
	}
	return ""
}

// plain is the text of a source that no tree can be made of.
func plain(source string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(source))
	skip := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(visible(b.String())), " ")
		case html.StartTagToken:
			name, _ := z.TagName()
			skip = string(name) == "script" || string(name) == "style"
			b.WriteByte(' ')
		case html.EndTagToken:
			skip = false
			b.WriteByte(' ')
		case html.TextToken:
			if !skip {
				b.Write(z.Text())
			}
		}
	}
}

// visible takes control characters out, but for line breaks and tabs.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// clip cuts a text at so many bytes, between characters.
func clip(text string, max int) (string, bool) {
	if len(text) <= max {
		return text, false
	}
	return strings.ToValidUTF8(text[:max], ""), true
}
