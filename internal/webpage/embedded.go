package webpage

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	scriptNote  = "[Note: Scripts build this page. This is the text that it has without them; the rest needs a browser.]"
	paywallNote = "[Note: The page says that it is not free. What is missing is only for subscribers, and not in this text.]"
	fadedNote   = "[Note: A part of this page is transparent until scripts show it. It is not in this text; a browser shows it.]"
	// maxEmbedded bounds the text that is taken from the data of a page.
	maxEmbedded = 256 << 10
)

// data is what a page says in scripts that are not programs, and in its head.
type data struct {
	article     string // articleBody of JSON-LD
	headline    string
	prose       []string // sentences in other JSON
	description string
	noscript    string
	scripts     int
	sealed      bool // JSON-LD says that it is not free
}

// dataOf collects the data of a page.
func dataOf(doc *html.Node) data {
	var d data
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.Namespace != "" {
			continue
		}
		switch n.DataAtom {
		case atom.Meta:
			name := attribute(n, "name") + attribute(n, "property")
			if name == "description" || name == "og:description" && d.description == "" {
				d.description = oneLine(attribute(n, "content"))
			}
		case atom.Noscript:
			if text := inner(n); len(text) > len(d.noscript) && len(text) < maxEmbedded {
				d.noscript = text
			}
		case atom.Script:
			kind := strings.ToLower(attribute(n, "type"))
			if kind == "" || kind == "module" || strings.HasSuffix(kind, "javascript") {
				d.scripts++
			}
			if n.FirstChild == nil || len(n.FirstChild.Data) > 4<<20 {
				continue
			}
			switch strings.ToLower(attribute(n, "type")) {
			case "application/ld+json":
				d.linked(n.FirstChild.Data)
			case "application/json":
				d.state(n.FirstChild.Data)
			}
		}
	}
	return d
}

// linked reads JSON-LD.
func (d *data) linked(source string) {
	eachString(source, func(key, value string) {
		switch strings.ToLower(key) {
		case "articlebody":
			if len(value) > len(d.article) {
				d.article = value
			}
		case "headline":
			d.headline = value
		case "isaccessibleforfree":
			d.sealed = d.sealed || strings.EqualFold(strings.TrimPrefix(value, "http://schema.org/"), "false")
		}
	})
}

// state reads the JSON from which scripts build a page.
func (d *data) state(source string) {
	size := 0
	for _, p := range d.prose {
		size += len(p)
	}
	eachString(source, func(key, value string) {
		if size < maxEmbedded && sentence(key, value) {
			size += len(value)
			d.prose = append(d.prose, value)
		}
	})
}

// sentence reports whether a string of JSON is text for readers.
func sentence(key, value string) bool {
	if strings.Contains(value, "://") && !strings.Contains(value, " ") || strings.ContainsAny(value[:min(len(value), 1)], "{[") {
		return false
	}
	spaces := strings.Count(value, " ")
	wide := utf8.RuneCountInString(value)*2 < len(value) && utf8.RuneCountInString(value) >= 15
	switch strings.ToLower(key) {
	case "title", "headline", "subtitle", "name", "heading":
		return spaces >= 2 || wide
	case "classname", "class", "style", "css", "query", "d", "srcset":
		return false
	}
	return (spaces >= 6 || wide) && !strings.Contains(value, "function(") && !strings.Contains(value, "=>")
}

// eachString calls visit for every string of a JSON text with the key it is under, in order. true and
// false count as strings.
func eachString(source string, visit func(key, value string)) {
	dec := json.NewDecoder(strings.NewReader(source))
	var keys []string // of the open objects and lists
	var object, expectKey []bool
	key := ""
	for range 1 << 20 {
		token, err := dec.Token()
		if err != nil {
			return // the end, or damaged: what was read counts
		}
		if delim, ok := token.(json.Delim); ok {
			switch delim {
			case '{', '[':
				if len(object) >= 200 {
					return
				}
				keys, object, expectKey = append(keys, key), append(object, delim == '{'), append(expectKey, delim == '{')
			default:
				key = keys[len(keys)-1]
				keys, object, expectKey = keys[:len(keys)-1], object[:len(object)-1], expectKey[:len(expectKey)-1]
				if n := len(object); n > 0 && object[n-1] {
					expectKey[n-1] = true
				}
			}
			continue
		}
		n := len(object)
		if n > 0 && object[n-1] && expectKey[n-1] {
			key, _ = token.(string)
			expectKey[n-1] = false
			continue
		}
		switch value := token.(type) {
		case string:
			visit(key, value)
		case bool:
			visit(key, map[bool]string{true: "true", false: "false"}[value])
		}
		if n > 0 && object[n-1] {
			expectKey[n-1] = true
		}
	}
}

// embeddedText returns the text of a page that scripts build, as far as the page has it, or "". shown is the
// length of its visible text in letters.
func (d *data) embeddedText(base *url.URL, shown, max int) string {
	if d.scripts == 0 || shown >= leastMain {
		return ""
	}
	if d.article != "" && shown*2 < letters(d.article) {
		return heading(d.headline) + fragment(d.article, base, max)
	}
	var b strings.Builder
	for i, p := range d.prose {
		text := fragment(p, base, max)
		if i == 0 && !strings.Contains(text, "\n") && len(text) < 200 {
			text = heading(text)
		}
		if text != "" && !strings.Contains(b.String(), text) {
			b.WriteString(strings.TrimSpace(text) + "\n\n")
		}
		if b.Len() > max {
			break
		}
	}
	if b.Len() < leastMain {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// whole returns the article of the page's data if the visible text has its beginning and is much shorter, else "".
// Data that people do not see at all does not take the place of what they see.
func (d *data) whole(text string, base *url.URL, max int) string {
	if d.scripts == 0 || d.article == "" || letters(text)*2 >= letters(d.article) {
		return ""
	}
	article := fragment(d.article, base, max)
	begin, _ := clip(onlyLetters(article), 80)
	if len(begin) < 40 || !strings.Contains(onlyLetters(text), begin) {
		return ""
	}
	return heading(d.headline) + article
}

func onlyLetters(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// little returns what else a page without visible text says about itself.
func (d *data) little() string {
	text := ""
	for _, part := range []string{d.description, d.noscript} {
		if part = strings.TrimSpace(part); part != "" && !strings.Contains(text, part) {
			text += part + "\n\n"
		}
	}
	return strings.TrimSpace(text)
}

func heading(text string) string {
	if text = oneLine(text); text == "" {
		return ""
	}
	return "# " + text + "\n\n"
}

// fragment converts a string of JSON, which may be HTML.
func fragment(text string, base *url.URL, max int) string {
	if !strings.Contains(text, "</") && !strings.Contains(text, "<p>") && !strings.Contains(text, "<br") {
		text, _ = clip(visible(strings.ReplaceAll(text, "\r\n", "\n")), max)
		return strings.TrimSpace(text)
	}
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return ""
	}
	hide(doc)
	w := &writer{max: max, base: base}
	w.node(bodyOf(doc))
	text, _ = w.text()
	return text
}

// inner returns the text of a noscript element, whose content is HTML that was not parsed.
func inner(n *html.Node) string {
	var b bytes.Buffer
	for c := range n.ChildNodes() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		} else {
			_ = html.Render(&b, c)
		}
	}
	doc, err := html.Parse(io.LimitReader(&b, maxEmbedded))
	if err != nil {
		return ""
	}
	hide(doc)
	w := &writer{max: maxEmbedded}
	w.node(bodyOf(doc))
	text, _ := w.text()
	return oneLine(text)
}

func oneLine(text string) string { return strings.Join(strings.Fields(visible(text)), " ") }

func letters(text string) int {
	m := measurer{}
	m.words(text)
	return m.total.text
}
