package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Gemini returns the schema of a tool's arguments in the subset of OpenAPI that
// Gemini's functions accept: references are resolved, combinators become anyOf or
// are merged, and unknown keywords are left out. It returns nil for a tool without
// arguments. The input is not changed; Gemini may be called concurrently.
func Gemini(raw json.RawMessage) json.RawMessage {
	root, ok := parse(Clean(raw)).(*object)
	if !ok {
		return nil
	}
	n := narrower{root: root, left: maxNarrowed}
	out := n.narrow(root, 0)
	if !out.has("properties") {
		return nil
	}
	return encode(out)
}

const maxNarrowed = 2_000 // references may grow without limit

// narrower rewrites one schema.
type narrower struct {
	root *object
	left int
}

// narrow returns the schema in the service's subset. It never changes s.
func (n *narrower) narrow(v any, depth int) *object {
	s, ok := v.(*object)
	n.left--
	if !ok || depth > maxNesting || n.left < 0 {
		return anything(s)
	}
	s = n.flatten(s, depth)
	choices, _ := s.get("anyOf").([]any)
	if oneOf, ok := s.get("oneOf").([]any); ok && len(choices) == 0 {
		choices = oneOf
	}
	if len(choices) > 0 && s.get("type") != "object" {
		return n.union(s, choices, depth)
	}
	out := &object{{"type", typeOf(s)}}
	for _, k := range []string{"description", "nullable", "minimum", "maximum", "minLength", "maxLength", "pattern", "minItems", "maxItems"} {
		if s.has(k) {
			out.set(k, s.get(k))
		}
	}
	narrowBounds(s, out)
	narrowFormat(s, out)
	narrowEnum(s, out)
	switch out.get("type") {
	case "object":
		n.properties(s, out, depth)
	case "array":
		items := s.get("items")
		if list, ok := s.get("prefixItems").([]any); ok && items == nil && len(list) > 0 {
			items = list[0]
		}
		out.set("items", n.narrow(items, depth+1))
	}
	return out
}

// anything returns the schema of an unknown value: a string, which the tools
// convert.
func anything(s *object) *object {
	out := &object{{"type", "string"}}
	if s != nil && s.has("description") {
		out.set("description", s.get("description"))
	}
	return out
}

// flatten replaces a reference by its target and merges the parts of allOf. The
// outer keywords win.
func (n *narrower) flatten(s *object, depth int) *object {
	out := slices.Clone(*s)
	for range maxNesting {
		ref, _ := out.get("$ref").(string)
		all, _ := out.get("allOf").([]any)
		if ref == "" && len(all) == 0 {
			break
		}
		out.drop("$ref")
		out.drop("allOf")
		if target := find(n.root, ref); target != nil {
			merge(&out, target)
		}
		for _, part := range all {
			if p, ok := part.(*object); ok {
				merge(&out, p)
			}
		}
	}
	return &out
}

// merge adds to o what it lacks; properties and required names are joined.
func merge(o, from *object) {
	for _, m := range *from {
		switch {
		case !o.has(m.key):
			o.set(m.key, m.value)
		case m.key == "properties":
			mine, _ := o.get(m.key).(*object)
			other, _ := m.value.(*object)
			if mine == nil || other == nil {
				continue
			}
			joined := slices.Clone(*mine)
			fill(&joined, other)
			o.set(m.key, &joined)
		case m.key == "required":
			mine, _ := o.get(m.key).([]any)
			other, _ := m.value.([]any)
			o.set(m.key, append(slices.Clone(mine), other...))
		}
	}
}

// union keeps only the choices: the service accepts nothing beside anyOf.
func (n *narrower) union(s *object, choices []any, depth int) *object {
	var list []any
	for _, c := range choices {
		if isNull(c) {
			continue
		}
		choice := n.narrow(c, depth+1)
		for _, k := range []string{"description", "nullable"} {
			if s.has(k) && !choice.has(k) && !choice.has("anyOf") {
				choice.set(k, s.get(k))
			}
		}
		list = append(list, choice)
	}
	if only, single := one(list); single {
		return only
	}
	if len(list) == 0 {
		return anything(s)
	}
	return &object{{"anyOf", list}}
}

func typeOf(s *object) string {
	name, _ := s.get("type").(string)
	name = strings.ToLower(name)
	switch {
	case slices.Contains([]string{"string", "number", "integer", "boolean", "array", "object"}, name):
		return name
	case s.has("properties"):
		return "object"
	case s.has("items"), s.has("prefixItems"):
		return "array"
	}
	return "string"
}

func narrowBounds(s, out *object) {
	for _, bound := range [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
		if n, ok := s.get(bound[0]).(json.Number); ok && !out.has(bound[1]) {
			out.set(bound[1], n)
		}
	}
}

func narrowFormat(s, out *object) {
	format, _ := s.get("format").(string)
	known := map[string][]string{"string": {"date-time"}, "number": {"float", "double"}, "integer": {"int32", "int64"}}
	if kind, _ := out.get("type").(string); slices.Contains(known[kind], format) {
		out.set("format", format)
	}
}

// narrowEnum keeps the choices of strings. The choices of other types go into the
// description, since the service accepts only strings.
func narrowEnum(s, out *object) {
	values, _ := s.get("enum").([]any)
	if fixed := s.get("const"); fixed != nil && len(values) == 0 {
		values = []any{fixed}
	}
	if len(values) == 0 {
		return
	}
	var texts []any
	seen := map[string]bool{"": true}
	for _, v := range values {
		if text, ok := v.(string); ok && !seen[text] {
			seen[text] = true
			texts = append(texts, v)
		}
	}
	if out.get("type") == "string" && len(texts) > 0 && len(texts) >= len(values)-1 {
		out.set("enum", texts)
		return
	}
	var words []string
	for _, v := range values {
		words = append(words, string(encode(v)))
	}
	description, _ := out.get("description").(string)
	out.set("description", strings.TrimSpace(fmt.Sprintf("%s One of: %s.", description, strings.Join(words, ", "))))
}

func (n *narrower) properties(s, out *object, depth int) {
	from, _ := s.get("properties").(*object)
	if from == nil || len(*from) == 0 {
		return // an object without named properties accepts any
	}
	list := &object{}
	for _, m := range *from {
		*list = append(*list, member{m.key, n.narrow(m.value, depth+1)})
	}
	out.set("properties", list)
	if known := requiredOf(s, list); len(known) > 0 {
		out.set("required", known)
	}
}
