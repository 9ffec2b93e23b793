package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// inline turns the children of a block into spans.
type inline struct {
	src   []byte
	spans []span
	plain bool
}

func (in *inline) text(s string, style Style) {
	if s != "" {
		in.spans = append(in.spans, span{clean(s), style})
	}
}

func (in *inline) children(n ast.Node, style Style) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		in.node(c, style)
	}
}

func (in *inline) node(n ast.Node, style Style) {
	switch n := n.(type) {
	case *ast.Text:
		in.textNode(n, style)
	case *ast.String:
		in.text(string(n.Value), style)
	case *ast.CodeSpan:
		in.code(n, style)
	case *ast.Emphasis:
		attr := Italic
		if n.Level == 2 {
			attr = Bold
		}
		in.children(n, style.with(0, attr))
	case *strike:
		in.children(n, style.with(0, Strike))
	case *ast.Link:
		in.link(n, string(n.Destination), style)
	case *ast.AutoLink:
		in.text(string(n.URL(in.src)), style.with(0, Underline))
	case *ast.Image:
		in.text("image: ", style.with(0, Dim))
		in.link(n, string(n.Destination), style)
	case *ast.RawHTML:
		in.rawHTML(n, style)
	default:
		in.children(n, style)
	}
}

func (in *inline) textNode(n *ast.Text, style Style) {
	raw := n.Segment.Value(in.src)
	if !n.IsRaw() {
		raw = unescape(raw)
	}
	in.text(string(raw), style)
	switch {
	case n.HardLineBreak():
		in.text("\n", style)
	case n.SoftLineBreak():
		in.text(" ", style)
	}
}

// code shows a code span. Plain text keeps the backticks, because without colours
// nothing else shows where the code begins.
func (in *inline) code(n ast.Node, style Style) {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(in.src))
		}
	}
	code := strings.ReplaceAll(b.String(), "\n", " ")
	if in.plain {
		code = "`" + code + "`"
	}
	in.text(code, style.with(Cyan, 0))
}

// link shows the text and then the address, unless they are the same. It never hides
// the address.
func (in *inline) link(n ast.Node, url string, style Style) {
	mark := len(in.spans)
	in.children(n, style.with(0, Underline))
	var words strings.Builder
	for _, s := range in.spans[mark:] {
		words.WriteString(s.text)
	}
	switch w := words.String(); {
	case w == "":
		in.text(url, style.with(0, Underline))
	case w != url && "mailto:"+w != url && url != "":
		in.text(" ("+url+")", style.with(Gray, 0))
	}
}

func (in *inline) rawHTML(n *ast.RawHTML, style Style) {
	tag := string(n.Segments.Value(in.src))
	if strings.HasPrefix(strings.ToLower(tag), "<br") {
		in.text("\n", style)
		return
	}
	in.text(tag, style.with(Gray, 0))
}

func unescape(raw []byte) []byte {
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(raw)))
}

// phraseSpans renders the text within a paragraph.
func (o Options) phraseSpans(src string, style Style) []span {
	source := []byte(src)
	in := inline{src: source, plain: o.Plain}
	root := phrase().Parse(text.NewReader(source))
	for block := root.FirstChild(); block != nil; block = block.NextSibling() {
		in.children(block, style)
	}
	return in.spans
}
