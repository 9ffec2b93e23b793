package yamledit

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// replace writes a value in place of an existing one.
func (d *Document) replace(at *location, value any) ([][]splice, error) {
	from := d.start(at.value)
	to, err := d.end(at.value, at.outer)
	if err != nil {
		return nil, err
	}
	style := at.value.Style
	if _, isText := value.(string); !isText || at.value.Kind != yaml.ScalarNode {
		style = 0
	}
	written := d.inline(value, func() string { return flow(value, style, at.inFlow) })
	inPlace := []splice{{from, to, d.apart(from, written, at)}}
	if at.inFlow {
		return [][]splice{inPlace}, nil
	}
	if isBlock(at.value) && !d.flowStyle(at.value) {
		return [][]splice{d.collapse(at, from, to, written)}, nil
	}
	if empty(value) || !collection(value) {
		return [][]splice{inPlace}, nil
	}
	return [][]splice{d.unfold(at, from, to, value), inPlace}, nil
}

func isBlock(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode
}

// apart adds the blank (and in braces the colon, if needed) before a value where
// there was none.
func (d *Document) apart(from int, written string, at *location) string {
	if from == 0 || blank(d.src[from-1]) || breakAt(d.src, from-1) > 0 {
		return written
	}
	switch d.src[from-1] {
	case ':', '-', '?':
		return " " + written
	case '[', '{', ',':
		return written
	}
	if at.key != nil && at.inFlow {
		return ": " + written
	}
	return " " + written
}

// collapse writes a value on one line in place of a collection on several.
func (d *Document) collapse(at *location, from, to int, written string) []splice {
	if at.key == nil {
		return []splice{{from, to, written}}
	}
	colon := d.colonAfter(at)
	if at.value.Line == at.key.Line { // an anchor or a tag is on the key's line
		return []splice{{from, to, written}}
	}
	return []splice{{colon, colon, " " + written}, {d.lineEnd(colon), d.lineEnd(to), ""}}
}

// colonAfter is the offset after the colon of a key in block style.
func (d *Document) colonAfter(at *location) int {
	end, err := d.end(at.key, at.outer)
	if err != nil {
		return d.start(at.value)
	}
	for end < len(d.src) && blank(d.src[end]) {
		end++
	}
	return end + 1
}

// unfold writes a collection in place of a single value: on its own lines below the
// key, or beside the dash of an item.
func (d *Document) unfold(at *location, from, to int, value any) []splice {
	step := d.indentStep()
	if at.key == nil {
		indent := at.outer - 1 + 2
		return []splice{{from, to, d.apart(from, block(value, indent, step, d.newline), at)}}
	}
	indent := at.outer - 1 + step
	below := d.newline + strings.Repeat(" ", indent) + block(value, indent, step, d.newline)
	for from > 0 && blank(d.src[from-1]) {
		from--
	}
	end := d.lineEnd(to)
	if to == end {
		return []splice{{from, to, below}}
	}
	return []splice{{from, to, ""}, {end, end, below}}
}

// insertBlock adds an entry to a collection in block style: after its last one
// or, where that would change the last one, before the first.
func (d *Document) insertBlock(at *location, value any) ([][]splice, error) {
	n := at.parent
	if len(n.Content) == 0 {
		return nil, ErrUnsafe
	}
	indent, step := at.outer-1, d.indentStep()
	written := ""
	if n.Kind == yaml.MappingNode {
		written = blockEntry(at.rest[0], value, indent, step, d.newline)
	} else {
		written = "- " + blockItem(value, indent, step, d.newline)
	}
	last, err := d.end(n.Content[len(n.Content)-1], at.outer)
	if err != nil {
		return nil, err
	}
	end := d.lineEnd(last)
	ways := [][]splice{{{end, end, d.newline + spaces(at.outer) + written}}}
	if n.Kind == yaml.MappingNode {
		first := d.start(n.Content[0])
		ways = append(ways, []splice{{first, first, written + d.newline + spaces(at.outer)}})
	}
	return ways, nil
}

// removeBlock removes an entry and its lines from a collection in block style.
func (d *Document) removeBlock(at *location) ([][]splice, error) {
	end, err := d.end(at.value, at.outer)
	if err != nil {
		return nil, err
	}
	begin, only, next := 0, false, false
	if at.parent.Kind == yaml.MappingNode {
		begin = d.start(at.key)
		only, next = len(at.parent.Content) == 2, at.index+1 < len(at.parent.Content)
	} else {
		if begin, err = d.dash(at); err != nil {
			return nil, err
		}
		only, next = len(at.parent.Content) == 1, at.index+1 < len(at.parent.Content)
	}
	if only && at.parent.Kind == yaml.SequenceNode {
		return d.replace(at.above, []any{})
	}
	line := begin
	for line > 0 && blank(d.src[line-1]) {
		line--
	}
	ownLine := line == 0 || line == d.lines[0] || breakAt(d.src, line-1) > 0
	switch {
	case ownLine:
		ways := [][]splice{{{line, d.nextLine(end), ""}}}
		if only && at.above != nil && at.above.parent != nil {
			more, err := d.replace(at.above, map[string]any{})
			if err == nil {
				ways = append(ways, more...)
			}
		}
		return ways, nil
	case only:
		return [][]splice{{{begin, end, "{}"}}}, nil
	case next:
		follow := d.nextLine(end)
		for follow < len(d.src) && blank(d.src[follow]) {
			follow++
		}
		return [][]splice{{{begin, follow, ""}}}, nil
	}
	return nil, ErrUnsafe
}

// dash is the offset of the dash before an item.
func (d *Document) dash(at *location) (int, error) {
	i := d.start(at.value) - 1
	for i >= 0 && blank(d.src[i]) {
		i--
	}
	if i < 0 || d.src[i] != '-' {
		return 0, &PathError{Path: []string{strconv.Itoa(at.index)}, Line: at.value.Line, Err: ErrUnsafe}
	}
	return i, nil
}
