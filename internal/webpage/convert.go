// Package webpage turns a web page into text for a model: title, headings,
// paragraphs, lists, links, code and tables in Markdown. It drops scripts,
// styles, menus, form fields and hidden elements.
//
// Decode decodes bytes by the charset that the server or the page names. Convert
// reads valid and broken HTML as browsers do, and its output is bounded. The
// package fetches nothing and does not judge the page. Start at Convert.
// walk.go handles the elements, hide.go takes out what people do not see, and
// link.go, code.go and table.go have special formats.
package webpage

import (
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// Page is a converted document.
type Page struct {
	Title string // one line; may be empty
	Text  string
	// Cut says that the text was cut at its bound.
	Cut bool
	// Problem says why a page has no text, to go on after "it"; empty if nothing special is known.
	Problem string
}

// Convert converts HTML to text. base is the page's URL, for relative links; it
// may be nil. The text has at most max bytes; 0 means 1 MB.
func Convert(source string, base *url.URL, max int) Page {
	if max <= 0 {
		max = 1 << 20
	}
	doc, err := html.Parse(strings.NewReader(source))
	if err != nil { // nested too deeply to parse
		text, sure := plain(source)
		if !sure {
			return Page{Problem: "nests its elements too deeply to tell which text people see: open it in a browser"}
		}
		text, cut := clip(text, max)
		return Page{Text: text, Cut: cut}
	}
	p := Page{Title: title(doc)}
	if href := attribute(find(doc, atom.Base), "href"); href != "" {
		if u, err := url.Parse(href); err == nil && base != nil {
			base = base.ResolveReference(u)
		}
	}
	p.Text, p.Cut = pageText(doc, base, max)
	return p
}

// pageText returns the main part of a page, or the whole page if it has none that can be told from the rest.
// A note at the end says what is missing, as far as the page tells.
func pageText(doc *html.Node, base *url.URL, max int) (string, bool) {
	d := dataOf(doc)
	faded := hide(doc)
	top := bodyOf(doc)
	m := measure(top)
	shown := m.total.text
	if text := d.embeddedText(base, shown, max); text != "" {
		return noted(text, scriptNote, max)
	}
	s, walled := mainPart(top, m)
	w := &writer{max: max, base: base}
	if s != nil {
		w.drop = s.drop
		w.node(s.head)
		w.node(s.root)
	} else {
		w.node(body(doc))
	}
	text, cut := w.text()
	if all := d.whole(text, base, max); all != "" && !cut {
		return noted(all, scriptNote, max)
	}
	switch {
	case cut:
		return text, true
	case d.sealed || walled:
		return noted(text, paywallNote, max)
	case shown < leastMain && d.scripts > 0 && (shown == 0 || d.noscript != ""):
		if little := d.little(); little != "" && !strings.Contains(text, little) {
			text = strings.TrimSpace(text + "\n\n" + little)
		}
		return noted(text, scriptNote, max)
	case faded >= leastMain:
		return noted(text, fadedNote, max)
	}
	return text, false
}

// noted adds a note to a text, if there is one and the bound allows it.
func noted(text, note string, max int) (string, bool) {
	if text == "" {
		return "", false
	}
	if len(text)+len(note)+2 > max {
		return clip(text, max)
	}
	return text + "\n\n" + note, false
}

// Decode converts the bytes of a text to UTF-8. It finds the charset by a byte
// order mark, the content type of the answer, or the HTML page itself. Invalid
// bytes become U+FFFD.
func Decode(raw []byte, contentType string) string {
	e, _, _ := charset.DetermineEncoding(raw, contentType)
	text, err := e.NewDecoder().Bytes(raw)
	if err != nil {
		text = raw
	}
	return strings.TrimPrefix(strings.ToValidUTF8(string(text), "\uFFFD"), "\uFEFF")
}

// body returns the part of a document to read: its main element if that has
// enough text, else the whole body.
func body(doc *html.Node) *html.Node {
	main := find(doc, atom.Main)
	if main != nil && len(strings.TrimSpace(content(main, 400))) >= 200 {
		return main
	}
	return bodyOf(doc)
}

func bodyOf(doc *html.Node) *html.Node {
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

// find returns the first element of a kind.
func find(n *html.Node, kind atom.Atom) *html.Node {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.DataAtom == kind && d.Namespace == "" {
			return d
		}
	}
	return nil
}

// content returns the text of a node, up to about most bytes.
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

// plain returns the text of a source that cannot be parsed. It is not sure if an element may hide its
// text: where that ends cannot be told.
func plain(source string) (text string, sure bool) {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(source))
	h := &hider{sheets: true}
	skip := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(visible(b.String())), " "), true
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			n := &html.Node{Type: html.ElementNode, Data: t.Data, DataAtom: t.DataAtom, Attr: t.Attr}
			look, shown := h.enter(n, look{tinted: true})
			switch {
			case !shown || len(look.colours) > 0 || look.tiny || look.gone:
				return "", false
			case t.DataAtom == atom.Script || t.DataAtom == atom.Style || t.DataAtom == atom.Title:
				skip = t.Data // they hold no elements, so that their end is sure
			case silent(n) && t.DataAtom != atom.Head && t.DataAtom != atom.Nav && t.DataAtom != atom.Button && t.DataAtom != atom.Input || t.DataAtom == atom.Svg || t.DataAtom == atom.Math:
				return "", false
			}
			b.WriteByte(' ')
		case html.EndTagToken:
			name, _ := z.TagName()
			if string(name) == skip {
				skip = ""
			}
			b.WriteByte(' ')
		case html.TextToken:
			if skip == "" {
				b.Write(z.Text())
			}
		}
	}
}

// visible removes control characters except line breaks and tabs.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// clip cuts a text at max bytes, between characters.
func clip(text string, max int) (string, bool) {
	if len(text) <= max {
		return text, false
	}
	return strings.ToValidUTF8(text[:max], ""), true
}
