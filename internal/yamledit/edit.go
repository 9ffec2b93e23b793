package yamledit

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"hermes/internal/order"

	"go.yaml.in/yaml/v3"
)

// ErrUnsafe means that this change would affect other parts of the text. The user
// must edit the file by hand.
var ErrUnsafe = errors.New("this part of the file cannot be changed automatically; edit it by hand")

// ErrNotSection means that a path leads through a value that is not a section.
var ErrNotSection = errors.New("is a single value, not a section")

// ErrAlias means that a path leads through an alias (*name), so that the change
// would happen in other places too.
var ErrAlias = errors.New("is an alias of another part of the file")

// PathError says at which part of a path an edit failed.
type PathError struct {
	Path []string // up to and including the part
	Line int
	Err  error
}

func (e *PathError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s %v", Join(e.Path), e.Err)
	}
	return fmt.Sprintf("%s (line %d) %v", Join(e.Path), e.Line, e.Err)
}

func (e *PathError) Unwrap() error { return e.Err }

// Set returns the text of src with value at path. Missing sections on the way
// are made; a part that is a number is an index where the file has a list, and
// the index after the last one appends. value has a type that Value returns, or
// int, []string or map[string]string. Lists and sections are changed item by item,
// so that comments between unchanged items are kept. If path has the value already,
// src itself is returned. Errors are *SyntaxError, *PathError or ErrUnsafe.
func Set(src []byte, path []string, value any) ([]byte, error) {
	if len(path) == 0 {
		return nil, &PathError{Err: ErrNotSection}
	}
	d, err := Parse(src)
	if err != nil {
		return nil, err
	}
	value = normal(value)
	old, err := Value(d.Find(path...))
	if err != nil {
		return nil, err
	}
	node := d.Find(path...)
	if node != nil && Equal(old, value) && (old == nil) == (value == nil) {
		return src, nil
	}
	switch value := value.(type) {
	case map[string]any:
		if was, ok := old.(map[string]any); ok && len(was) > 0 && len(value) > 0 {
			return setMap(src, path, was, value)
		}
	case []any:
		if was, ok := old.([]any); ok && len(was) > 0 && len(value) > 0 {
			return setList(src, path, was, value)
		}
	}
	if collection(value) && !empty(value) && node != nil && len(node.Content) > 0 {
		// A list becomes a section or the other way round: start from nothing.
		if src, err = Set(src, path, nil); err != nil {
			return nil, err
		}
	}
	return change(src, path, value, setting())
}

func setMap(src []byte, path []string, was, want map[string]any) (_ []byte, err error) {
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if src, err = Set(src, append(slices.Clone(path), k), want[k]); err != nil {
			return nil, err
		}
	}
	for _, k := range slices.Sorted(maps.Keys(was)) {
		if _, stays := want[k]; stays {
			continue
		}
		if src, err = Unset(src, append(slices.Clone(path), k)); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// setList keeps the equal items at both ends and replaces those between.
func setList(src []byte, path []string, was, want []any) (_ []byte, err error) {
	item := func(i int) []string { return append(slices.Clone(path), strconv.Itoa(i)) }
	same := 0
	for same < min(len(was), len(want)) && Equal(was[same], want[same]) {
		same++
	}
	gone := remaining(was[same:], want[same:])
	for i := len(gone) - 1; i >= 0; i-- {
		if len(was) == 1 {
			break // the last item is replaced below, so that the list never vanishes
		}
		if src, err = Unset(src, item(same+gone[i])); err != nil {
			return nil, err
		}
		was = slices.Delete(slices.Clone(was), same+gone[i], same+gone[i]+1)
	}
	for i := same; i < len(want); i++ {
		if src, err = Set(src, item(i), want[i]); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// remaining lists the items to remove from was so that the rest is the beginning
// of want.
func remaining(was, want []any) (gone []int) {
	kept := 0
	for i, v := range was {
		if kept < len(want) && Equal(v, want[kept]) {
			kept++
			continue
		}
		gone = append(gone, i)
	}
	return gone
}

// Unset returns the text of src without the entry at path; a repeated name is
// removed everywhere. A section that becomes empty stays as an empty one. If
// there is no such entry, src itself is returned.
func Unset(src []byte, path []string) ([]byte, error) {
	if len(path) == 0 {
		return nil, &PathError{Err: ErrNotSection}
	}
	for {
		d, err := Parse(src)
		if err != nil {
			return nil, err
		}
		if !d.holds(path) {
			return src, nil
		}
		if src, err = change(src, path, nil, unsetting()); err != nil {
			return nil, err
		}
		if parent := d.Find(path[:len(path)-1]...); parent.Kind == yaml.SequenceNode {
			return src, nil // the next item has the same index now
		}
	}
}

// holds reports whether the text itself has the entry, not a merged mapping.
func (d *Document) holds(path []string) bool {
	n := d.root
	for _, name := range path {
		if n == nil || n.Kind == yaml.AliasNode {
			return false
		}
		if n.Kind == yaml.SequenceNode {
			n = step(n, name)
			continue
		}
		n = Child(n, name)
	}
	return n != nil
}

// splice is one replacement in the text.
type splice struct {
	from, to int
	text     string
}

// operation lists the ways to make a change; proof checks the values after it.
type operation struct {
	ways  func(d *Document, path []string, value any) ([][]splice, error)
	proof func(before, after *Document, was, is any, path []string, value any) bool
}

func setting() operation {
	return operation{(*Document).set, func(_, _ *Document, was, is any, path []string, value any) bool {
		return Equal(is, with(was, path, value))
	}}
}

// unsetting may uncover an earlier or merged entry of the same name, but nothing else.
func unsetting() operation {
	return operation{(*Document).unset, func(before, after *Document, was, is any, path []string, _ any) bool {
		parent := before.Find(path[:len(path)-1]...)
		if parent != nil && parent.Kind == yaml.SequenceNode {
			return Equal(is, without(was, path))
		}
		return after.count(path) < before.count(path) && Equal(without(is, path), without(was, path))
	}}
}

// change tries the ways to write an operation, the most readable first, and
// returns the first that reads back as intended.
func change(src []byte, path []string, value any, op operation) ([]byte, error) {
	d, err := Parse(src)
	if err != nil {
		return nil, err
	}
	was, err := Value(d.root)
	if err != nil {
		return nil, err
	}
	ways, err := op.ways(d, path, value)
	if err != nil {
		return nil, err
	}
	for _, way := range ways {
		out, ok := d.apply(way)
		if !ok {
			continue
		}
		after, err := Parse(out)
		if err != nil || d.json && !after.json && !empty(value) {
			continue
		}
		if is, err := Value(after.root); err == nil && op.proof(d, after, was, is, path, value) {
			return out, nil
		}
	}
	return nil, &PathError{Path: path, Err: ErrUnsafe}
}

// apply makes the replacements, which must not overlap.
func (d *Document) apply(way []splice) ([]byte, bool) {
	order.By(way, func(a, b splice) int { return a.from - b.from })
	var out bytes.Buffer
	at := 0
	for _, s := range way {
		if s.from < at || s.to < s.from || s.to > len(d.src) {
			return nil, false
		}
		out.Write(d.src[at:s.from])
		out.WriteString(s.text)
		at = s.to
	}
	out.Write(d.src[at:])
	return out.Bytes(), true
}

// count returns how often the mapping at path contains the last name itself.
func (d *Document) count(path []string) int {
	parent := d.Find(path[:len(path)-1]...)
	if parent == nil || parent.Kind != yaml.MappingNode {
		return 0
	}
	found := 0
	for i := 0; i+1 < len(parent.Content); i += 2 {
		if keyText(parent.Content[i]) == path[len(path)-1] && !isMerge(parent.Content[i]) {
			found++
		}
	}
	return found
}
