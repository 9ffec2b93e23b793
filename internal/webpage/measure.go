package webpage

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// size is how much visible text an element has. Letters and digits count, those of
// scripts that write words with one or two signs three times.
type size struct {
	text   int
	linked int // in links
	prose  int // in sentences and code
	links  int
}

func (s size) minus(o size) size {
	return size{s.text - o.text, s.linked - o.linked, s.prose - o.prose, s.links - o.links}
}

func (s size) plus(o size) size {
	return size{s.text + o.text, s.linked + o.linked, s.prose + o.prose, s.links + o.links}
}

// weight is what an element counts for when the main part is looked for.
func (s size) weight() int { return s.text - s.linked + s.prose }

// linky reports whether most of the text is links.
func (s size) linky() bool { return s.text > 0 && s.linked*2 >= s.text }

// measurer walks a page once. Elements that are not shown have no entry in sizes.
type measurer struct {
	sizes map[*html.Node]size
	title *html.Node // the first h1
	total size
	run   run
	link  bool
	code  bool
}

// run is the text between two borders of blocks.
type run struct {
	text, linked int
	sentence     bool
}

func measure(root *html.Node) *measurer {
	m := &measurer{sizes: map[*html.Node]size{}}
	m.walk(root)
	m.flush()
	m.sizes[root] = m.total
	return m
}

func (m *measurer) walk(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		m.words(n.Data)
		return
	case html.ElementNode, html.DocumentNode:
	default:
		return
	}
	if silent(n) {
		return
	}
	border := !inlined(n)
	if border {
		m.flush()
	}
	before, link, code := m.total, m.link, m.code
	switch n.DataAtom {
	case atom.A:
		m.link = true
		m.total.links++
	case atom.Pre:
		m.code = true
	case atom.H1:
		if m.title == nil && !homeLink(n) {
			m.title = n
		}
	}
	for c := range n.ChildNodes() {
		m.walk(c)
	}
	m.link = link
	if border {
		m.flush()
	}
	m.code = code
	if border {
		m.sizes[n] = m.total.minus(before)
	}
}

func (m *measurer) words(text string) {
	count := 0
	var last rune
	for _, r := range text {
		switch {
		case r < 0x80:
			if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
				count++
			} else if (r == ' ' || r == '\n') && (last == '.' || last == '!' || last == '?') {
				m.run.sentence = true
			}
		case r == '。' || r == '．' || r == '！' || r == '？' || r == '؟':
			m.run.sentence = true
		case dense(r):
			count += 3
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			count++
		}
		last = r
	}
	if last == '.' || last == '!' || last == '?' {
		m.run.sentence = true
	}
	m.total.text += count
	m.run.text += count
	if m.link {
		m.total.linked += count
		m.run.linked += count
	}
}

// dense reports whether a sign is of a script that is written without spaces.
func dense(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r >= 0x0E00 && r < 0x0E80
}

// flush ends a run. One that is long, or a sentence, is prose.
func (m *measurer) flush() {
	free := m.run.text - m.run.linked
	if m.code || free > 0 && free >= m.run.linked && (free >= 90 || free >= 30 && m.run.sentence) {
		m.total.prose += free
	}
	m.run = run{}
}

// inlined reports whether an element is part of a line.
func inlined(n *html.Node) bool {
	switch n.DataAtom {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Br, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I, atom.Img,
		atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.Tt,
		atom.U, atom.Var, atom.Wbr:
		return true
	}
	return false
}

// homeLink reports whether a heading is the name of the site, with a link to its front page.
func homeLink(n *html.Node) bool {
	href := attribute(find(n, atom.A), "href")
	return href == "/" || href == "./" || strings.HasPrefix(href, "http") && strings.Count(strings.TrimSuffix(href, "/"), "/") == 2
}
