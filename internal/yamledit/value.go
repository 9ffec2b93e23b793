package yamledit

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxNodes limits what aliases may expand to.
const maxNodes = 200_000

// ErrTooLarge means that aliases expand to too many values.
var ErrTooLarge = errors.New("the anchors and aliases of the file expand to too many values")

// Value returns the value of a node: nil, bool, int64, float64, string, []any or
// map[string]any. It resolves aliases and merge keys, uses the last of several
// equal keys and returns keys as text. A nil node is nil.
func Value(n *yaml.Node) (any, error) {
	left := maxNodes
	return value(n, &left)
}

func value(n *yaml.Node, left *int) (any, error) {
	if *left--; *left < 0 {
		return nil, ErrTooLarge
	}
	if n == nil {
		return nil, nil
	}
	switch n.Kind {
	case yaml.AliasNode:
		return value(n.Alias, left)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := value(c, left)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		return mapping(n, left)
	}
	return Scalar(n), nil
}

func mapping(n *yaml.Node, left *int) (any, error) {
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		v, err := value(n.Content[i+1], left)
		if err != nil {
			return nil, err
		}
		if isMerge(n.Content[i]) {
			merge(m, v, n)
			continue
		}
		m[keyText(n.Content[i])] = v
	}
	return m, nil
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0
}

// merge adds the keys that m does not have itself, before or after the merge key.
func merge(m map[string]any, from any, n *yaml.Node) {
	if list, ok := from.([]any); ok {
		for _, one := range list {
			merge(m, one, n)
		}
		return
	}
	more, _ := from.(map[string]any)
	for k, v := range more {
		if _, set := m[k]; !set && Child(n, k) == nil {
			m[k] = v
		}
	}
}

// Child returns the value that a mapping itself holds under a key, the last one
// if the key is repeated, or nil. It does not look into merged mappings.
func Child(n *yaml.Node, key string) *yaml.Node {
	if i := entry(n, key); i >= 0 {
		return n.Content[i+1]
	}
	return nil
}

// entry is the index in Content of the last key of that name, or -1.
func entry(n *yaml.Node, key string) int {
	if n == nil || n.Kind != yaml.MappingNode {
		return -1
	}
	for i := len(n.Content) - 2; i >= 0; i -= 2 {
		if !isMerge(n.Content[i]) && keyText(n.Content[i]) == key {
			return i
		}
	}
	return -1
}

func keyText(key *yaml.Node) string {
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	if key.Kind == yaml.ScalarNode {
		return key.Value
	}
	return "?" // a collection as a key: no path can name it
}

// Scalar resolves a scalar as PyYAML does (yes, no, on and off are bools, 0x1f,
// 0b11 and 017 are ints), except that 1e3 is a number and 12:30 a text.
func Scalar(n *yaml.Node) any {
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if n.Style&yaml.TaggedStyle != 0 {
		switch n.Tag {
		case "!!int", "!!float", "!!bool", "!!null":
			return Plain(n.Value)
		case "!!str", "!":
			return n.Value
		}
		return n.Tag + " " + n.Value
	}
	if quoted {
		return n.Value
	}
	return Plain(n.Value)
}

// Plain resolves the text of an unquoted scalar; see Scalar.
func Plain(s string) any {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil
	case "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE":
		return true
	case "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE":
		return false
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return math.Inf(1)
	case "-.inf", "-.Inf", "-.INF":
		return math.Inf(-1)
	case ".nan", ".NaN", ".NAN":
		return math.NaN()
	}
	if strings.IndexByte("+-.0123456789", s[0]) < 0 {
		return s
	}
	if i, ok := integer(s); ok {
		return i
	}
	if f, ok := float(s); ok {
		return f
	}
	return s
}

func integer(s string) (int64, bool) {
	digits, negative := strings.CutPrefix(s, "-")
	if !negative {
		digits = strings.TrimPrefix(s, "+")
	}
	if digits == "" || digits[0] < '0' || digits[0] > '9' {
		return 0, false
	}
	digits = strings.ReplaceAll(digits, "_", "")
	base := 10
	if len(digits) > 2 && digits[0] == '0' {
		switch digits[1] {
		case 'x':
			base = 16
		case 'b':
			base = 2
		case 'o':
			base = 8
		}
		if base != 10 {
			digits = digits[2:]
		}
	}
	if base == 10 && len(digits) > 1 && digits[0] == '0' {
		base = 8
	}
	u, err := strconv.ParseInt(digits, base, 64)
	if negative {
		u = -u
	}
	return u, err == nil
}

func float(s string) (float64, bool) {
	for i := range len(s) {
		if strings.IndexByte("+-.eE_0123456789", s[i]) < 0 {
			return 0, false // strconv would take hexadecimal, inf and nan
		}
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, err == nil
}

// Equal compares two values as Value returns them. An empty section is like a
// missing one: nil, an empty mapping and an empty list are equal.
func Equal(a, b any) bool {
	if empty(a) && empty(b) {
		return true
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalMaps(a, b)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !Equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case float64:
		f, ok := b.(float64)
		return ok && (a == f || math.IsNaN(a) && math.IsNaN(f))
	}
	return reflect.TypeOf(a) == reflect.TypeOf(b) && a == b
}

func equalMaps(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		w, ok := b[k]
		if !ok || !Equal(v, w) {
			return false
		}
	}
	return true
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}
