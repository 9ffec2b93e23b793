package schema

// The keywords that contain schemas, by the form of their value.
func isSchemaMap(k string) bool {
	switch k {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return true
	}
	return false
}

func isSchemaList(k string) bool {
	switch k {
	case "anyOf", "oneOf", "allOf", "prefixItems":
		return true
	}
	return false
}

func isSchema(k string) bool {
	switch k {
	case "items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames", "unevaluatedProperties", "unevaluatedItems":
		return true
	}
	return false
}

// repairChildren repairs every schema directly below s.
func repairChildren(s *object) {
	for i, m := range *s {
		switch {
		case isSchemaMap(m.key):
			if children, ok := m.value.(*object); ok {
				for j := range *children {
					(*children)[j].value = repair((*children)[j].value)
				}
			}
		case isSchemaList(m.key), m.key == "items":
			if list, ok := m.value.([]any); ok {
				for j := range list {
					list[j] = repair(list[j])
				}
				continue
			}
			(*s)[i].value = repair(m.value)
		case isSchema(m.key):
			(*s)[i].value = repair(m.value)
		}
	}
}

// each calls f for every schema in the tree, outer ones first. It skips the names
// of properties and values that are data (enum, default, …).
func each(v any, f func(*object)) {
	switch s := v.(type) {
	case []any:
		for _, item := range s {
			each(item, f)
		}
	case *object:
		f(s)
		for _, m := range *s {
			if isSchemaList(m.key) || isSchema(m.key) {
				each(m.value, f)
				continue
			}
			if children, ok := m.value.(*object); ok && isSchemaMap(m.key) {
				for _, c := range *children {
					each(c.value, f)
				}
			}
		}
	}
}
