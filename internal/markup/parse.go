package markup

import (
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// document parses complete blocks. Goldmark sees tables as paragraphs, and table.go
// reads them from there; its extensions would slow down program start.
var document = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(inlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
})

// phrase parses text within a paragraph, even if it would begin a block at the start
// of a line.
var phrase = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1000)),
		parser.WithInlineParsers(inlineParsers()...),
	)
})

func inlineParsers() []util.PrioritizedValue {
	return append(parser.DefaultInlineParsers(), util.Prioritized(strikeParser{}, 500))
}

func parseDocument(src []byte) ast.Node { return document().Parse(text.NewReader(src)) }

// strike is text between double tildes.
type strike struct{ ast.BaseInline }

var kindStrike = ast.NewNodeKind("Strike")

func (*strike) Kind() ast.NodeKind { return kindStrike }

func (n *strike) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

type strikeParser struct{}

func (strikeParser) IsDelimiter(b byte) bool { return b == '~' }

func (strikeParser) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char && opener.OriginalLength == closer.OriginalLength
}

func (strikeParser) OnMatch(int) ast.Node { return &strike{} }

func (strikeParser) Trigger() []byte { return []byte{'~'} }

func (p strikeParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	node := parser.ScanDelimiter(line, before, 2, p)
	if node == nil || node.OriginalLength != 2 || before == '~' {
		return nil
	}
	node.Segment = segment.WithStop(segment.Start + node.OriginalLength)
	block.Advance(node.OriginalLength)
	pc.PushDelimiter(node)
	return node
}

func (strikeParser) CloseBlock(_ ast.Node, pc parser.Context) {}
