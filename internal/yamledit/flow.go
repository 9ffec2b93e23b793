package yamledit

import (
	"errors"

	"go.yaml.in/yaml/v3"
)

// ErrIndex means that a part of a path is not an index of the list.
var ErrIndex = errors.New("is not an index of the list; use 0 for the first item, or the number of items to append")

// insertFlow adds an entry to a collection in braces or brackets.
func (d *Document) insertFlow(at *location, value any) ([][]splice, error) {
	n := at.parent
	written := d.inline(value, func() string { return flow(value, 0, true) })
	if n.Kind == yaml.MappingNode {
		written = d.inline(at.rest[0], func() string { return text(at.rest[0], 0, true) }) + ": " + written
	}
	if len(n.Content) == 0 {
		end, err := d.end(n, at.outer)
		if err != nil {
			return nil, err
		}
		return [][]splice{{{end - 1, end - 1, written}}}, nil
	}
	last, err := d.end(n.Content[len(n.Content)-1], at.outer)
	if err != nil {
		return nil, err
	}
	begin := len(n.Content) - 1
	if n.Kind == yaml.MappingNode {
		begin-- // with its key
	}
	return [][]splice{{{last, last, d.separator(d.start(n.Content[begin])) + written}}}, nil
}

// removeFlow removes an entry and one comma from a collection in braces or brackets.
func (d *Document) removeFlow(at *location) ([][]splice, error) {
	width := 1
	if at.parent.Kind == yaml.MappingNode {
		width = 2
	}
	first := at.index - width + 1
	begin := d.start(at.parent.Content[first])
	end, err := d.end(at.value, at.outer)
	if err != nil {
		return nil, err
	}
	if after := at.index + 1; after < len(at.parent.Content) {
		return [][]splice{{{begin, d.start(at.parent.Content[after]), ""}}}, nil
	}
	if first > 0 {
		before, err := d.end(at.parent.Content[first-1], at.outer)
		if err != nil {
			return nil, err
		}
		return [][]splice{{{before, end, ""}}}, nil
	}
	ways := [][]splice{{{begin, end, ""}}}
	if comma := d.skipSpace(end); comma < len(d.src) && d.src[comma] == ',' {
		ways = append(ways, []splice{{begin, end, ""}, {comma, comma + 1, ""}})
	}
	return ways, nil
}
