// Package argument brings the arguments of a tool call into the one form that their
// JSON Schema asks for, as far as the model's meaning is clear.
//
// Values in, values out: it knows neither tools nor calls. fit.go converts, kinds.go
// reads the types of a schema.
package argument

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
)

// Fit fits arguments to a tool's schema: arguments that the schema does not
// have are dropped, and values of the wrong type are converted where the model
// clearly meant them: "5" for 5, "[1]" for [1], "null" for null, a bare value for
// a list of one. Values that do not fit, have no schema or are declared as
// strings stay as they are. It returns the same bytes when nothing changed.
//
// A name that is there twice, or that differs from the schema's only in case, is
// a problem: some readers take the first, others the last, encoding/json either
// spelling.
func Fit(arguments json.RawMessage, schema map[string]any) (fit json.RawMessage, problem string) {
	if name, twice := Repeated(arguments); twice {
		return nil, fmt.Sprintf("the argument %q is there twice", name)
	}
	if schema == nil {
		return arguments, ""
	}
	value, ok := Decode(arguments).(map[string]any)
	if !ok {
		return arguments, ""
	}
	c := coercer{root: schema}
	fitted := c.fit(value, schema, 0)
	if c.problem != "" {
		return nil, c.problem
	}
	if !c.changed {
		return arguments, ""
	}
	text, err := Encode(fitted)
	if err != nil {
		return arguments, ""
	}
	return text, ""
}

// Repeated returns a name that an object of a valid JSON text has twice.
func Repeated(text []byte) (name string, twice bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var open []map[string]bool // the names of the objects around; nil for a list
	key := false               // the next string is a name
	for {
		token, err := d.Token()
		if err != nil {
			return "", false
		}
		if word, ok := token.(string); ok && key {
			names := open[len(open)-1]
			if names[word] {
				return word, true
			}
			names[word] = true
			key = false
			continue
		}
		switch token {
		case json.Delim('{'):
			open = append(open, map[string]bool{})
		case json.Delim('['):
			open = append(open, nil)
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
		key = len(open) > 0 && open[len(open)-1] != nil
	}
}

// Decode returns a JSON text as maps, lists, texts and json.Number, or nil if it is not
// valid.
func Decode(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// Encode returns v as JSON with sorted names, without escaping <, > and &.
func Encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Shape returns a func that decodes a schema at its first call, and then returns the same, which must not
// be changed. It may be called concurrently.
func Shape(schema json.RawMessage) func() map[string]any {
	return sync.OnceValue(func() map[string]any {
		shape, _ := Decode(schema).(map[string]any)
		return shape
	})
}

// CanonicalSchema returns the schema of a tool of others so that equal schemas give equal bytes: without
// white space and with sorted names, since a server may list them in any order. One that is missing or not an
// object becomes one without arguments.
func CanonicalSchema(schema []byte) json.RawMessage {
	none := json.RawMessage(`{"type":"object","properties":{}}`)
	shape, _ := Decode(schema).(map[string]any)
	if shape == nil {
		return none
	}
	if shape["type"] == nil {
		shape["type"] = "object"
	}
	if shape["properties"] == nil {
		shape["properties"] = map[string]any{}
	}
	text, err := Encode(shape)
	if err != nil {
		return none
	}
	return text
}

type coercer struct {
	root    map[string]any // the schema that local references point into
	changed bool
	looked  int    // schemas visited
	problem string // why the arguments are refused
}

// deepest and widest bound the walk, since references may run in circles.
const (
	deepest = 32
	widest  = 20_000
)

// fit returns the value as the schema wants it, or unchanged.
func (c *coercer) fit(value any, schema map[string]any, depth int) any {
	if depth > deepest {
		return value
	}
	schema = c.resolve(schema)
	kinds := c.kinds(schema, 0)
	switch v := value.(type) {
	case string:
		return c.text(v, kinds, schema, depth)
	case json.Number:
		return c.number(v, kinds, schema, depth)
	case map[string]any:
		if !kinds.has("object") && kinds.has("array") {
			return c.wrap(v, schema, depth)
		}
		c.fields(v, schema, depth)
		return v
	case []any:
		items, ok := schema["items"].(map[string]any)
		if !ok {
			return v
		}
		for i := range v {
			v[i] = c.fit(v[i], items, depth+1)
		}
		return v
	case bool:
		if kinds.only("array") {
			return c.wrap(v, schema, depth)
		}
	}
	return value
}

// fields fits the members of an object in place and drops those that a closed
// schema does not have.
func (c *coercer) fields(v map[string]any, schema map[string]any, depth int) {
	properties, _ := schema["properties"].(map[string]any)
	rest, _ := schema["additionalProperties"].(map[string]any)
	closed := closed(schema, properties)
	for name, member := range v {
		s, ok := properties[name].(map[string]any)
		if _, known := properties[name]; !known {
			if like := otherCase(name, properties); like != "" {
				c.problem = fmt.Sprintf("the argument %q differs from %q only in case", name, like)
				return
			}
			if closed {
				delete(v, name)
				c.changed = true
				continue
			}
		}
		if !ok {
			s = rest
		}
		if s != nil {
			v[name] = c.fit(member, s, depth+1)
		}
	}
}

// closed reports whether a schema names every member that an object may have.
func closed(schema, properties map[string]any) bool {
	switch more := schema["additionalProperties"].(type) {
	case bool:
		if more {
			return false
		}
	case nil:
		if len(properties) == 0 {
			return false
		}
	default:
		return false
	}
	for _, key := range [...]string{"patternProperties", "anyOf", "oneOf", "allOf", "if", "dependentSchemas", "unevaluatedProperties"} {
		if schema[key] != nil {
			return false
		}
	}
	return true
}

// otherCase returns the property whose name differs from name in case only. It
// folds letters as encoding/json does.
func otherCase(name string, properties map[string]any) string {
	for p := range properties {
		if strings.EqualFold(p, name) {
			return p
		}
	}
	return ""
}

// text fits a string that may hold a value of another type.
func (c *coercer) text(v string, kinds kinds, schema map[string]any, depth int) any {
	if kinds.has("string") || len(kinds) == 0 {
		return v
	}
	word := strings.TrimSpace(v)
	if kinds.has("null") && word == "null" {
		c.changed = true
		return nil
	}
	if kinds.has("boolean") {
		switch strings.ToLower(word) {
		case "true", "false":
			c.changed = true
			return strings.EqualFold(word, "true")
		}
	}
	if kinds.has("integer") || kinds.has("number") {
		if n, ok := asNumber(word, kinds.has("number")); ok {
			c.changed = true
			return n
		}
	}
	if kinds.has("array") || kinds.has("object") {
		if name, twice := Repeated([]byte(word)); twice && decodeWhole(word) != nil {
			c.problem = fmt.Sprintf("the argument %q is there twice", name)
			return v
		}
		switch inner := decodeWhole(word).(type) {
		case []any:
			if kinds.has("array") {
				c.changed = true
				return c.fit(inner, schema, depth+1)
			}
		case map[string]any:
			c.changed = c.changed || kinds.has("object")
			if kinds.has("object") {
				return c.fit(inner, schema, depth+1)
			}
		}
	}
	if kinds.only("array") {
		return c.wrap(v, schema, depth)
	}
	return v
}

// number turns whole floats into integers and wraps what should be a list.
func (c *coercer) number(v json.Number, kinds kinds, schema map[string]any, depth int) any {
	if kinds.only("array") {
		return c.wrap(v, schema, depth)
	}
	if kinds.has("integer") && !kinds.has("number") && strings.ContainsAny(v.String(), ".eE") {
		if n, ok := asNumber(v.String(), false); ok {
			c.changed = true
			return n
		}
	}
	return v
}

// wrap makes a list of one.
func (c *coercer) wrap(v any, schema map[string]any, depth int) any {
	c.changed = true
	return c.fit([]any{v}, schema, depth+1)
}

// asNumber parses a number. Whole floats become integers; a fraction is
// accepted only if fractions is true.
func asNumber(word string, fractions bool) (json.Number, bool) {
	if word == "" || word[0] != '-' && (word[0] < '0' || word[0] > '9') || !json.Valid([]byte(word)) {
		return "", false
	}
	if !strings.ContainsAny(word, ".eE") {
		return json.Number(word), true
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return "", false
	}
	const exact = 1 << 53
	if f == math.Trunc(f) && math.Abs(f) <= exact {
		return json.Number(strconv.FormatInt(int64(f), 10)), true
	}
	return json.Number(word), fractions
}

// decodeWhole decodes a text that is exactly one JSON array or object.
func decodeWhole(text string) any {
	if text == "" || text[0] != '[' && text[0] != '{' || !json.Valid([]byte(text)) {
		return nil
	}
	return Decode([]byte(text))
}
