package argument

import "strings"

// kinds are the JSON types that a schema allows; none means that it does not say.
type kinds []string

func (k kinds) has(kind string) bool {
	for _, s := range k {
		if s == kind {
			return true
		}
	}
	return false
}

// only reports whether the schema allows this kind, and nothing else but null.
func (k kinds) only(kind string) bool {
	for _, s := range k {
		if s != kind && s != "null" {
			return false
		}
	}
	return k.has(kind)
}

// kinds lists the types of a schema and of its alternatives.
func (c *coercer) kinds(schema map[string]any, depth int) kinds {
	if c.looked++; depth > deepest || c.looked > widest {
		return nil
	}
	var out kinds
	switch t := schema["type"].(type) {
	case string:
		out = append(out, t)
	case []any:
		for _, one := range t {
			if s, ok := one.(string); ok {
				out = append(out, s)
			}
		}
	}
	if schema["nullable"] == true {
		out = append(out, "null")
	}
	for _, key := range [...]string{"anyOf", "oneOf"} {
		list, _ := schema[key].([]any)
		for _, one := range list {
			if s, ok := one.(map[string]any); ok {
				out = append(out, c.kinds(c.resolve(s), depth+1)...)
			}
		}
	}
	return out
}

// resolve follows local references and enters the one alternative that is an
// array or object, so that its items and properties are found.
func (c *coercer) resolve(schema map[string]any) map[string]any {
	for range deepest {
		ref, ok := schema["$ref"].(string)
		if !ok {
			break
		}
		target, ok := c.pointer(ref)
		if !ok {
			return schema
		}
		schema = target
	}
	return c.spread(schema)
}

// spread lifts items and properties of a single structured alternative.
func (c *coercer) spread(schema map[string]any) map[string]any {
	if schema["items"] != nil || schema["properties"] != nil {
		return schema
	}
	for _, key := range [...]string{"anyOf", "oneOf"} {
		list, _ := schema[key].([]any)
		for _, one := range list {
			s, _ := one.(map[string]any)
			if ref, ok := s["$ref"].(string); ok {
				s, _ = c.pointer(ref)
			}
			if s["items"] == nil && s["properties"] == nil {
				continue
			}
			joined := map[string]any{"items": s["items"], "properties": s["properties"], "additionalProperties": s["additionalProperties"]}
			for k, v := range schema {
				joined[k] = v
			}
			return joined
		}
	}
	return schema
}

// pointer finds what a local reference such as "#/$defs/item" names.
func (c *coercer) pointer(ref string) (map[string]any, bool) {
	path, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil, false
	}
	at := c.root
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if step == "" {
			continue
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		next, ok := at[step].(map[string]any)
		if !ok {
			return nil, false
		}
		at = next
	}
	return at, true
}
