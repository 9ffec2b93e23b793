package yamledit

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// The parser says where a value begins but not where it ends; these functions find
// the end in the text. They return ErrUnsafe if the text is not as expected.

// end returns the offset after the last byte of node n. outer is the column of the
// block collection that contains n; 0 at the top.
func (d *Document) end(n *yaml.Node, outer int) (int, error) {
	start := d.start(n)
	switch n.Kind {
	case yaml.AliasNode:
		return start + len("*") + len(n.Value), nil
	case yaml.MappingNode, yaml.SequenceNode:
		return d.endOfCollection(n, outer)
	}
	i := d.skipProperties(n, start)
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return d.endOfQuoted(i, '"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		return d.endOfQuoted(i, '\'')
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return d.endOfBlockScalar(i, outer), nil
	}
	return d.endOfPlain(i, n.Value)
}

// skipProperties steps over the anchor and the tag before a value.
func (d *Document) skipProperties(n *yaml.Node, i int) int {
	if n.Anchor == "" && n.Style&yaml.TaggedStyle == 0 {
		return i
	}
	after := i
	for i < len(d.src) && (d.src[i] == '&' || d.src[i] == '!') {
		for i < len(d.src) && !blank(d.src[i]) && breakAt(d.src, i) == 0 {
			i++
		}
		after = i
		i = d.skipSpace(i)
	}
	if n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&^yaml.TaggedStyle == 0 {
		return after // nothing but properties
	}
	return i
}

func blank(b byte) bool { return b == ' ' || b == '\t' }

// skipSpace steps over blanks, line breaks and comments.
func (d *Document) skipSpace(i int) int {
	for i < len(d.src) {
		switch size := breakAt(d.src, i); {
		case size > 0:
			i += size
		case blank(d.src[i]):
			i++
		case d.src[i] == '#':
			i = d.lineEnd(i)
		default:
			return i
		}
	}
	return i
}

func (d *Document) endOfQuoted(i int, quote byte) (int, error) {
	if i >= len(d.src) || d.src[i] != quote {
		return 0, ErrUnsafe
	}
	for i++; i < len(d.src); i++ {
		switch {
		case d.src[i] == '\\' && quote == '"':
			i++
		case d.src[i] != quote:
		case quote == '\'' && i+1 < len(d.src) && d.src[i+1] == quote:
			i++
		default:
			return i + 1, nil
		}
	}
	return 0, ErrUnsafe
}

// endOfPlain follows the value through the text. Blanks are skipped, because they
// differ between value and text if a plain text spans several lines.
func (d *Document) endOfPlain(i int, value string) (int, error) {
	text := []byte(value)
	for v := 0; v < len(text); {
		if !space(text, v) {
			if i >= len(d.src) || d.src[i] != text[v] {
				return 0, ErrUnsafe
			}
			i++
			v++
			continue
		}
		for v < len(text) && space(text, v) {
			v += max(1, breakAt(text, v))
		}
		for i < len(d.src) && space(d.src, i) {
			i += max(1, breakAt(d.src, i))
		}
	}
	return i, nil
}

// space reports whether there is a blank or a line break at offset i.
func space(text []byte, i int) bool { return blank(text[i]) || breakAt(text, i) > 0 }

// endOfBlockScalar returns the end of the last content line of a | or > value,
// without its break. With the indicator + it includes the empty lines that follow.
func (d *Document) endOfBlockScalar(i, outer int) int {
	header := d.src[i:d.lineEnd(i)]
	keep := bytes.IndexByte(cutComment(header), '+') >= 0
	end, content := d.lineEnd(i), 0
	for at := d.nextLine(i); at < len(d.src) && at > 0; at = d.nextLine(at) {
		stop := d.lineEnd(at)
		indent := 0
		for at+indent < stop && d.src[at+indent] == ' ' {
			indent++
		}
		empty := len(bytes.TrimRight(d.src[at:stop], " \t")) == 0
		switch {
		case empty && !keep:
			// belongs to the value only if more content follows
		case empty:
			end = stop
		case indent < max(outer, content):
			return end
		default:
			if content == 0 {
				content = indent
				if hint := indentHint(header); hint > 0 {
					content = max(outer, 1) - 1 + hint
				}
			}
			end = stop
		}
		if stop == len(d.src) {
			break
		}
	}
	return end
}

func cutComment(header []byte) []byte {
	if i := bytes.IndexByte(header, '#'); i >= 0 {
		return header[:i]
	}
	return header
}

func indentHint(header []byte) int {
	for _, b := range cutComment(header)[1:] {
		if '1' <= b && b <= '9' {
			return int(b - '0')
		}
	}
	return 0
}

func (d *Document) endOfCollection(n *yaml.Node, outer int) (int, error) {
	i := d.skipProperties(n, d.start(n))
	shut, open := closing(n)
	braced := n.Style&yaml.FlowStyle != 0 && i < len(d.src) && d.src[i] == open
	if len(n.Content) > 0 {
		column := outer
		if !braced {
			column = n.Content[0].Column
			if n.Kind == yaml.SequenceNode {
				column = n.Column
			}
		}
		last, err := d.end(n.Content[len(n.Content)-1], column)
		if err != nil || !braced {
			return last, err
		}
		i = last
	} else if !braced {
		return 0, ErrUnsafe
	} else {
		i++
	}
	for i = d.skipSpace(i); i < len(d.src) && (d.src[i] == ',' || d.src[i] == ':'); i = d.skipSpace(i) {
		i++
	}
	if i >= len(d.src) || d.src[i] != shut {
		return 0, ErrUnsafe
	}
	return i + 1, nil
}

func closing(n *yaml.Node) (shut, open byte) {
	if n.Kind == yaml.MappingNode {
		return '}', '{'
	}
	return ']', '['
}
