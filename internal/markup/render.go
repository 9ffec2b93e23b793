package markup

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Options say how to render. The zero value means eighty cells with colours.
type Options struct {
	// Width is the number of cells at which prose is wrapped. Lines of code are
	// not wrapped, so that they can be copied unchanged.
	Width int
	// NoColor omits colours but keeps attributes such as bold.
	NoColor bool
	// Plain omits every escape sequence.
	Plain bool
	// Style is the base style of all text, for example Dim for a model's reasoning.
	Style Style
}

func (o Options) width() int {
	if o.Width <= 0 {
		return 80
	}
	return o.Width
}

// Render returns the lines of a complete Markdown text, without line ends and without
// blank lines at the beginning and the end.
func Render(src string, o Options) []string {
	s := NewStream(o)
	lines := s.Write(src)
	return append(lines, s.Close()...)
}

// Plain renders a Markdown text as plain text of a width: without sequences, with
// lists and tables formatted.
func Plain(src string, width int) string {
	return strings.Join(Render(src, Options{Width: width, Plain: true}), "\n")
}

// renderer lays out the blocks of one parsed piece.
type renderer struct {
	o     Options
	src   []byte
	lines [][]span
}

// renderBlock renders one complete block of source.
func (o Options) renderBlock(src string) [][]span {
	source := []byte(src)
	r := &renderer{o: o, src: source}
	in := indent{}
	r.blocks(parseDocument(source), &in, false)
	return r.lines
}

func (r *renderer) blocks(parent ast.Node, in *indent, tight bool) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil && !tight && n.Kind() != ast.KindLinkReferenceDefinition {
			r.emit(in.rest)
		}
		r.block(n, in)
	}
}

func (r *renderer) block(n ast.Node, in *indent) {
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n, in)
	case *ast.FencedCodeBlock:
		r.code(n, string(n.Language(r.src)), in)
	case *ast.CodeBlock:
		r.code(n, "", in)
	case *ast.HTMLBlock:
		r.html(n, in)
	case *ast.Blockquote:
		bar := span{"│ ", r.o.Style.with(Gray, 0)}
		inner := in.nest(bar, bar)
		r.blocks(n, &inner, false)
		in.take()
	case *ast.List:
		r.list(n, in)
	case *ast.ThematicBreak:
		r.emit(in.line(span{strings.Repeat("─", max(min(r.o.width()-in.width, 24), 3)), Style{Color: Gray}}))
	case *ast.Paragraph, *ast.TextBlock:
		r.paragraph(n, in)
	}
}

func (r *renderer) emit(line []span) { r.lines = append(r.lines, line) }

func (r *renderer) paragraph(n ast.Node, in *indent) {
	if t, ok := readTable(n.Lines(), r.src); ok {
		r.table(t, in)
		return
	}
	r.flow(n, in, r.o.Style)
}

// flow wraps the inline children of a block.
func (r *renderer) flow(n ast.Node, in *indent, style Style) {
	spans := inline{src: r.src, plain: r.o.Plain}
	spans.children(n, style)
	w := newWrapper(*in, r.o.width())
	for _, s := range spans.spans {
		w.add(s.text, s.style)
	}
	r.lines = append(r.lines, w.finish()...)
	in.take()
}

func (r *renderer) heading(n *ast.Heading, in *indent) {
	style := r.o.Style.with(0, Bold)
	if n.Level <= 2 {
		style = style.with(Blue, 0)
	}
	if !r.o.Plain {
		r.flow(n, in, style)
		return
	}
	mark := strings.Repeat("#", n.Level) + " "
	inner := in.nest(span{mark, style}, span{strings.Repeat(" ", len(mark)), style})
	r.flow(n, &inner, style)
	in.take()
}

func (r *renderer) html(n *ast.HTMLBlock, in *indent) {
	text := string(n.Lines().Value(r.src))
	if n.HasClosure() {
		text += string(n.ClosureLine.Value(r.src))
	}
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		r.emit(in.line(span{clean(expand(strings.TrimRight(line, "\r\n"))), Style{Color: Gray}}))
	}
}

func (r *renderer) list(n *ast.List, in *indent) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		if item.PreviousSibling() != nil && !n.IsTight {
			r.emit(in.rest)
		}
		mark := "• "
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		} else if r.o.Plain {
			mark = "- "
		}
		inner := in.nest(span{mark, r.o.Style.with(Gray, 0)}, span{strings.Repeat(" ", Width(mark)), Style{}})
		if item.FirstChild() == nil {
			r.emit(inner.take())
		}
		r.blocks(item, &inner, n.IsTight)
		in.take()
	}
}

func (r *renderer) code(n ast.Node, lang string, in *indent) {
	h := newHighlighter(lang, r.o)
	text := strings.TrimRight(string(n.Lines().Value(r.src)), "\n")
	for line := range strings.SplitSeq(text, "\n") {
		r.emit(in.line(h.line(line)...))
	}
}
