package yamledit

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// with returns v with the value at path; only the containers on the path are copied.
func with(v any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	if list, ok := v.([]any); ok {
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i > len(list) {
			return nil
		}
		list = append(slices.Clone(list), nil)
		list[i] = with(list[i], path[1:], value)
		if i < len(list)-1 {
			list = list[:len(list)-1]
		}
		return list
	}
	m, _ := v.(map[string]any)
	m = maps.Clone(m)
	if m == nil {
		m = map[string]any{}
	}
	m[path[0]] = with(m[path[0]], path[1:], value)
	return m
}

// without returns v without the entry at path.
func without(v any, path []string) any {
	if list, ok := v.([]any); ok {
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(list) {
			return v
		}
		list = slices.Clone(list)
		if len(path) == 1 {
			return slices.Delete(list, i, i+1)
		}
		list[i] = without(list[i], path[1:])
		return list
	}
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	m = maps.Clone(m)
	if len(path) == 1 {
		delete(m, path[0])
		return m
	}
	m[path[0]] = without(m[path[0]], path[1:])
	return m
}

// normal converts the other types that Set accepts into those that Value returns.
func normal(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case string:
		return strings.ToValidUTF8(v, "\ufffd")
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = normal(s)
		}
		return list
	case map[string]string:
		m := make(map[string]any, len(v))
		for k, s := range v {
			m[k] = normal(s)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = normal(item)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, item := range v {
			m[k] = normal(item)
		}
		return m
	}
	return v
}
