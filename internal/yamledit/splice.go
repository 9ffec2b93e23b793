package yamledit

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// location is where a path leads: the innermost collection that exists, with what
// is needed to change it.
type location struct {
	parent *yaml.Node // mapping or sequence; nil if the text has no value
	key    *yaml.Node // of the value in a mapping
	value  *yaml.Node // nil if the rest of the path does not exist
	index  int        // of the value in parent.Content
	outer  int        // column of the block collection that holds the value
	inFlow bool       // parent is in braces or brackets
	rest   []string   // of the path, from the missing part on
	// above is the location of the parent, used to create entries below an empty
	// value.
	above *location
}

// locate follows a path as far as it exists.
func (d *Document) locate(path []string) (*location, error) {
	at := &location{value: d.root}
	n := d.root
	for i, name := range path {
		next := &location{parent: n, above: at, rest: path[i:], inFlow: at.inFlow || d.flowStyle(n), outer: at.outer}
		switch {
		case n == nil || empties(n):
			at.rest = path[i:]
			return at, nil
		case n.Kind == yaml.AliasNode:
			return nil, &PathError{Path: path[:i], Line: n.Line, Err: ErrAlias}
		case n.Kind == yaml.ScalarNode:
			return nil, &PathError{Path: path[:i], Line: n.Line, Err: ErrNotSection}
		}
		next.outer = columnOf(n, next.inFlow, at.outer)
		index, err := find(n, name)
		if err != nil {
			return nil, &PathError{Path: path[:i+1], Line: n.Line, Err: err}
		}
		if index < 0 {
			return next, nil
		}
		next.index, next.value, next.rest = index, n.Content[index], nil
		if n.Kind == yaml.MappingNode {
			next.key = n.Content[index-1]
		}
		at, n = next, next.value
	}
	return at, nil
}

// empties reports whether a value may become a section: nothing, null, {} or [].
func empties(n *yaml.Node) bool {
	switch n.Kind {
	case yaml.ScalarNode:
		return Scalar(n) == nil && n.Anchor == ""
	case yaml.MappingNode, yaml.SequenceNode:
		return len(n.Content) == 0 && n.Anchor == ""
	}
	return false
}

func find(n *yaml.Node, name string) (int, error) {
	if n.Kind == yaml.MappingNode {
		if i := entry(n, name); i >= 0 {
			return i + 1, nil
		}
		return -1, nil
	}
	i, err := strconv.Atoi(name)
	if err != nil || i < 0 || i > len(n.Content) {
		return 0, ErrIndex
	}
	if i == len(n.Content) {
		return -1, nil
	}
	return i, nil
}

func columnOf(n *yaml.Node, inFlow bool, outer int) int {
	switch {
	case inFlow:
		return outer
	case n.Kind == yaml.MappingNode && len(n.Content) > 0:
		return n.Content[0].Column
	}
	return n.Column
}

func (d *Document) flowStyle(n *yaml.Node) bool {
	return n != nil && n.Style&yaml.FlowStyle != 0
}

// set lists the ways to put value at path.
func (d *Document) set(path []string, value any) ([][]splice, error) {
	at, err := d.locate(path)
	if err != nil {
		return nil, err
	}
	for i := len(at.rest) - 1; i > 0; i-- {
		value = map[string]any{at.rest[i]: value}
	}
	switch {
	case len(at.rest) == 0:
		return d.replace(at, value)
	case at.value == nil && at.parent == nil:
		return d.begin(at.rest[0], value), nil
	case at.value != nil && at.parent == nil: // the whole text is null or {}
		return d.replaceRoot(at, map[string]any{at.rest[0]: value})
	case at.value != nil:
		return d.replace(at, map[string]any{at.rest[0]: value})
	case at.inFlow:
		return d.insertFlow(at, value)
	}
	return d.insertBlock(at, value)
}

// unset lists the ways to remove the entry at path, which exists.
func (d *Document) unset(path []string, _ any) ([][]splice, error) {
	at, err := d.locate(path)
	if err != nil {
		return nil, err
	}
	if at.value == nil || len(at.rest) > 0 {
		return nil, nil
	}
	if at.inFlow {
		return d.removeFlow(at)
	}
	return d.removeBlock(at)
}

// begin writes the first entry of a text that is empty or has only comments.
func (d *Document) begin(key string, value any) [][]splice {
	text := blockEntry(key, value, 0, defaultStep, d.newline) + d.newline
	end := len(d.src)
	if end > 0 && breakAt(d.src, end-1) == 0 {
		text = d.newline + text
	}
	return [][]splice{{{end, end, text}}}
}

func (d *Document) replaceRoot(at *location, value any) ([][]splice, error) {
	from := d.start(at.value)
	to, err := d.end(at.value, 0)
	if err != nil {
		return nil, err
	}
	return [][]splice{
		{{from, to, block(value, 0, defaultStep, d.newline)}},
		{{from, to, flow(value, 0, true)}},
	}, nil
}

const defaultStep = 2

// indentStep is how far the text indents a section below its key.
func (d *Document) indentStep() int {
	if d.root == nil || d.root.Kind != yaml.MappingNode {
		return defaultStep
	}
	for i := 0; i+1 < len(d.root.Content); i += 2 {
		v := d.root.Content[i+1]
		if v.Kind == yaml.MappingNode && len(v.Content) > 0 && !d.flowStyle(v) {
			if step := v.Content[0].Column - d.root.Content[i].Column; step > 0 {
				return step
			}
		}
	}
	return defaultStep
}

func spaces(column int) string { return strings.Repeat(" ", max(0, column-1)) }
