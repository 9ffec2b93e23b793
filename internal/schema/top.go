package schema

import (
	"slices"
	"strings"
)

// Services take no reference and no combinator at the top of a schema. The functions of
// this file bring what those say into plain properties, required names and words.

const (
	maxNesting = 12    // references may be circular
	maxJoined  = 2_000 // or grow without limit
)

// joiner resolves references within one schema.
type joiner struct {
	root *object
	left int
}

// plain returns the schema of an object without reference and combinators: with the
// properties of all branches, and the names that every way through them requires.
func (j *joiner) plain(s *object, depth int) *object {
	out := &object{}
	for _, m := range *s {
		switch m.key {
		case "$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const", "nullable":
		default:
			*out = append(*out, m)
		}
	}
	if j.left--; j.left < 0 || depth > maxNesting {
		return out
	}
	var parts []*object
	if ref, ok := s.get("$ref").(string); ok {
		if target := find(j.root, ref); target != nil {
			parts = append(parts, target)
		}
	}
	for _, part := range listOf(s, "allOf") {
		if p, ok := part.(*object); ok {
			parts = append(parts, p)
		}
	}
	j.and(out, parts, depth)
	for _, k := range []string{"anyOf", "oneOf"} {
		j.or(out, listOf(s, k), depth)
	}
	for _, k := range []string{"then", "else"} {
		if p, ok := s.get(k).(*object); ok {
			more := &object{}
			add(more, j.plain(p, depth+1))
			join(out, more, "allOf")
		}
	}
	return out
}

// and adds schemas that hold as well, all at once: each step of join and fill reads
// what is there already.
func (j *joiner) and(out *object, parts []*object, depth int) {
	properties, rest := &object{}, &object{}
	names := slices.Clone(listOf(out, "required"))
	for _, part := range parts {
		p := j.plain(part, depth+1)
		add(properties, p)
		names = append(names, listOf(p, "required")...)
		*rest = append(*rest, *p...)
	}
	join(out, properties, "allOf")
	if len(names) > 0 {
		out.set("required", names)
	}
	fill(out, rest)
}

// add collects the properties of a schema, to be joined.
func add(properties, from *object) {
	if more, ok := from.get("properties").(*object); ok {
		*properties = append(*properties, *more...)
	}
}

// or adds schemas of which one holds. What each of them requires is said in words,
// unless it is the same.
func (j *joiner) or(out *object, choices []any, depth int) {
	var all []any     // required by every choice
	var ways []string // what each requires
	var only *object  // the last branch
	branches, properties := 0, &object{}
	for _, c := range choices {
		o, ok := c.(*object)
		if !ok {
			continue
		}
		p := j.plain(o, depth+1)
		if t := p.get("type"); t != nil && t != "object" && !isList(t) {
			continue // arguments are always an object
		}
		names := listOf(p, "required")
		if branches++; branches == 1 {
			all = names
		}
		listed := setOf(names)
		all = slices.DeleteFunc(slices.Clone(all), func(n any) bool { name, ok := n.(string); return !ok || !listed[name] })
		ways = append(ways, words(names))
		add(properties, p)
		only = p
	}
	if branches == 1 {
		fill(out, only)
	}
	either := &object{}
	join(either, properties, "anyOf")
	if more, ok := either.get("properties").(*object); ok {
		join(out, more, "allOf")
	}
	if names := append(slices.Clone(listOf(out, "required")), all...); len(names) > 0 {
		out.set("required", names)
	}
	slices.Sort(ways)
	ways = slices.DeleteFunc(slices.Compact(ways), func(w string) bool { return w == "" })
	if len(ways) > 1 {
		was, _ := out.get("description").(string)
		out.set("description", strings.TrimSpace(was+" Give "+strings.Join(ways, "; or ")+"."))
	}
}

// join adds properties to those of a schema. Two of one name that differ become one
// with both as a combinator.
func join(out, more *object, combinator string) {
	if len(*more) == 0 {
		return
	}
	mine, _ := out.get("properties").(*object)
	joined := &object{}
	if mine != nil {
		*joined = slices.Clone(*mine)
	}
	at := map[string]int{}
	for i, m := range *joined {
		at[m.key] = i
	}
	for _, m := range *more {
		i, has := at[m.key]
		if !has {
			at[m.key] = len(*joined)
			*joined = append(*joined, m)
			continue
		}
		(*joined)[i].value = both((*joined)[i].value, m.value, combinator)
	}
	out.set("properties", joined)
}

// both returns a schema for a value to which two apply.
func both(a, b any, combinator string) any {
	x, isObject := a.(*object)
	if y, ok := b.(*object); isObject && ok && x == y { // of the same reference
		return a
	}
	if string(encode(a)) == string(encode(b)) {
		return a
	}
	if o, ok := a.(*object); ok && len(*o) == 1 && o.has(combinator) {
		list := listOf(o, combinator)
		if len(list) >= maxChoices || slices.ContainsFunc(list, func(x any) bool { return string(encode(x)) == string(encode(b)) }) {
			return a
		}
		return &object{{combinator, append(slices.Clone(list), b)}}
	}
	return &object{{combinator, []any{a, b}}}
}

// maxChoices bounds the schemas that one property may get from branches.
const maxChoices = 16

// words lists names: "a, b and c".
func words(names []any) string {
	var list []string
	for _, n := range names {
		if name, ok := n.(string); ok {
			list = append(list, name)
		}
	}
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
	return strings.Join(list, "")
}

func listOf(o *object, key string) []any {
	list, _ := o.get(key).([]any)
	return list
}

func isList(v any) bool {
	_, ok := v.([]any)
	return ok
}

func setOf(names []any) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		if name, ok := n.(string); ok {
			set[name] = true
		}
	}
	return set
}

// find returns the target of "#/$defs/name" within a schema, nil if there is none.
func find(root *object, ref string) *object {
	if ref == "#" {
		return root
	}
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	here := root
	for name := range strings.SplitSeq(path, "/") {
		next, ok := here.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(name)).(*object)
		if !ok {
			return nil
		}
		here = next
	}
	return here
}

// fill adds to o the keywords that it lacks.
func fill(o, from *object) {
	has := make(map[string]bool, len(*o))
	for _, m := range *o {
		has[m.key] = true
	}
	for _, m := range *from {
		if !has[m.key] {
			has[m.key] = true
			*o = append(*o, m)
		}
	}
}
