// Package schema turns JSON Schemas of tools into the dialects that model
// services accept.
//
// Tools come from many sources (our own, MCP servers, plugins), and services
// reject schemas that a lenient validator accepts. Clean fixes the form: every
// object has properties, bare type names become schemas, required names only
// existing properties, unions with null become nullable, and so on. Strip removes
// keywords that a service rejected. Both keep the order of keys, do not change the
// input and return the same bytes for the same input.
//
// The package must not know tools or services. Start reading at Clean.
package schema

import (
	"encoding/json"
	"slices"
)

// Empty is the schema of a tool without arguments.
const Empty = `{"type":"object","properties":{}}`

// Clean returns the schema of a tool's arguments in the form that all services
// accept: an object with properties and without reference and combinators at its top;
// what those say becomes properties, required names and words of the description.
// Anything but a JSON object gives Empty. It takes time in proportion to the size of
// the schema and may be called concurrently.
func Clean(raw json.RawMessage) json.RawMessage {
	root, ok := parse(raw).(*object)
	if !ok {
		return json.RawMessage(Empty)
	}
	j := joiner{root: root, left: maxJoined}
	root = j.plain(root, 0)
	root.set("type", "object")
	repair(root)
	root.drop("nullable")
	return encode(root)
}

// Strip returns the schema without the named keywords, for a service that
// rejected them ("pattern", "format"). Properties with such a name stay. Use it
// only to recover: the keywords help the model. Invalid JSON is returned
// unchanged.
func Strip(raw json.RawMessage, keywords ...string) json.RawMessage {
	root := parse(raw)
	if root == nil {
		return raw
	}
	each(root, func(o *object) {
		for _, k := range keywords {
			o.drop(k)
		}
	})
	return encode(root)
}

// repair fixes one schema and all schemas below it. It returns the schema to use
// instead.
func repair(v any) any {
	switch s := v.(type) {
	case string:
		return repair(bare(s))
	case *object:
		repairUnions(s)
		repairChildren(s)
		repairObject(s)
		repairReference(s)
		return s
	case bool:
		return v // true and false are schemas
	}
	return &object{}
}

// bare returns the schema for a bare type name.
func bare(name string) *object {
	switch name {
	case "string", "number", "integer", "boolean", "array", "object", "null":
		return &object{{"type", name}}
	}
	return &object{{"type", "string"}, {"description", name}}
}

// repairObject adds missing properties to an object and removes unknown required
// names.
func repairObject(s *object) {
	properties, has := s.get("properties").(*object)
	if s.get("type") == nil && has {
		s.set("type", "object")
	}
	if s.get("type") == "array" && s.get("items") == nil && s.get("prefixItems") == nil {
		s.set("items", &object{})
	}
	if s.get("type") != "object" {
		return
	}
	if !has {
		properties = &object{}
		s.set("properties", properties)
	}
	if has := slices.ContainsFunc(combinators(), s.has); has {
		return // the names may be in another part
	}
	known := requiredOf(s, properties)
	if len(known) == 0 {
		s.drop("required")
		return
	}
	s.set("required", known)
}

// combinators are the keywords that bring other schemas into one.
func combinators() []string { return []string{"$ref", "allOf", "anyOf", "oneOf"} }

// repairReference puts a reference that has other keywords beside it into allOf. Many
// readers ignore what is beside "$ref", as JSON Schema did before its version 2019-09,
// so that a default, a description or "nullable" would be lost.
func repairReference(s *object) {
	if !s.has("$ref") || len(*s) == 1 {
		return
	}
	ref := &object{{"$ref", s.get("$ref")}}
	s.drop("$ref")
	s.set("allOf", append(slices.Clone(listOf(s, "allOf")), ref))
}

// requiredOf returns the required names that are properties, each once.
func requiredOf(s, properties *object) []any {
	free := make(map[string]bool, len(*properties))
	for _, m := range *properties {
		free[m.key] = true
	}
	var known []any
	for _, n := range listOf(s, "required") {
		if name, ok := n.(string); ok && free[name] {
			free[name] = false
			known = append(known, n)
		}
	}
	return known
}

// repairUnions turns "type": ["string", "null"] and anyOf with null into
// nullable, and any other list of types into anyOf.
func repairUnions(s *object) {
	if types, ok := s.get("type").([]any); ok {
		repairTypes(s, types)
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		choices, ok := s.get(k).([]any)
		if !ok {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(choices), isNull)
		if len(rest) == len(choices) {
			continue
		}
		only, single := one(rest)
		switch {
		case single:
			s.drop(k)
			fill(s, only) // the outer keywords (description, default) win
			repairUnions(s)
		case len(rest) == 0:
			s.drop(k)
			s.set("type", "null")
			return
		default:
			s.set(k, rest)
		}
		s.set("nullable", true)
	}
}

func repairTypes(s *object, types []any) {
	rest := slices.DeleteFunc(slices.Clone(types), func(t any) bool { return t == "null" })
	switch len(rest) {
	case 0:
		s.set("type", "null")
		if len(types) == 0 {
			s.drop("type")
		}
		return
	case 1:
		s.set("type", rest[0])
	default:
		s.drop("type")
		if !s.has("anyOf") {
			s.set("anyOf", split(s, rest))
		}
	}
	if len(rest) < len(types) {
		s.set("nullable", true)
	}
}

// split makes one choice for each type, and moves the keywords of one type into
// its choice.
func split(s *object, types []any) []any {
	var choices []any
	for _, t := range types {
		choice := &object{{"type", t}}
		switch t {
		case "array":
			s.move("items", choice)
		case "object":
			s.move("properties", choice)
			s.move("required", choice)
			s.move("additionalProperties", choice)
		}
		choices = append(choices, choice)
	}
	return choices
}

func isNull(v any) bool {
	if v == "null" {
		return true
	}
	o, ok := v.(*object)
	return ok && o.get("type") == "null"
}

func one(list []any) (*object, bool) {
	if len(list) != 1 {
		return nil, false
	}
	if name, ok := list[0].(string); ok {
		return bare(name), true
	}
	o, ok := list[0].(*object)
	return o, ok
}
