package jsonschema

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// types are the names of types.
var types = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// Keywords by what is below them.
var (
	one  = []string{"additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"}
	list = []string{"allOf", "anyOf", "items", "oneOf", "prefixItems"}
	many = []string{"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
	// same are the keywords whose schemas are for the same value, not for a part of it.
	same = []string{"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"}
)

// check refuses what the library accepts and cannot use.
func check(root map[string]any) error {
	c := checker{root: root, at: map[string]map[string]any{}, state: map[string]int{}, work: map[string]int{}}
	if err := c.schema("#", root); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(c.at)) {
		if err := c.circle(path); err != nil {
			return err
		}
		if c.work[path] > maxWork {
			return fmt.Errorf("one value would be compared with more than %d schemas at %s; use fewer references in allOf, anyOf and the like", maxWork, path)
		}
	}
	return nil
}

const (
	// maxNesting is how deep schemas may be in each other. Far beyond it the library takes minutes.
	maxNesting = 200
	// maxWork is how many schemas one value may be compared with. Schemas that refer to the
	// same one several times, in several levels, multiply.
	maxWork = 50_000
)

// checker walks a schema. Paths are JSON pointers behind a #.
type checker struct {
	root  map[string]any
	at    map[string]map[string]any // the schemas, by path
	state map[string]int            // of each schema in the search for circles: 1 open, 2 done
	work  map[string]int            // how many schemas a value is compared with for one, up to maxWork+1
}

// schema reads one schema and those below it.
func (c *checker) schema(path string, s map[string]any) error {
	if strings.Count(path, "/") > 2*maxNesting { // at most two for each schema
		return fmt.Errorf("schemas are more than %d deep in each other", maxNesting)
	}
	c.at[path] = s
	for _, keyword := range []string{"$dynamicRef", "$recursiveRef"} {
		if s[keyword] != nil {
			return fmt.Errorf("%s at %s is not supported; use $ref with #/$defs/NAME", keyword, path)
		}
	}
	if s["$id"] != nil && path != "#" {
		return fmt.Errorf("$id at %s is not supported; only the whole schema may have one", path)
	}
	if ref, given := s["$ref"]; given {
		name, _ := ref.(string)
		if name != "#" && !strings.HasPrefix(name, "#/") {
			return fmt.Errorf("$ref %q at %s is not supported; copy what it names below $defs and write #/$defs/NAME", name, path)
		}
	}
	if err := knownType(path, s["type"]); err != nil {
		return err
	}
	for keyword, value := range s {
		if err := c.below(path+"/"+keyword, keyword, value); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) below(path, keyword string, value any) error {
	switch v := value.(type) {
	case map[string]any:
		if slices.Contains(one, keyword) {
			return c.schema(path, v)
		}
		if !slices.Contains(many, keyword) {
			return nil
		}
		for name, s := range v {
			if s, ok := s.(map[string]any); ok {
				if err := c.schema(path+"/"+escape(name), s); err != nil {
					return err
				}
			}
		}
	case []any:
		if !slices.Contains(list, keyword) {
			return nil
		}
		for i, s := range v {
			if s, ok := s.(map[string]any); ok {
				if err := c.schema(path+"/"+strconv.Itoa(i), s); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func knownType(path string, value any) error {
	names, ok := value.([]any)
	if !ok {
		names = []any{value}
	}
	for _, n := range names {
		if name, ok := n.(string); ok && !slices.Contains(types, name) {
			return fmt.Errorf("the type %q at %s does not exist; the types are %s", name, path, strings.Join(types, ", "))
		}
	}
	return nil
}

// errCircle is a schema that asks only whether the value fits itself.
var errCircle = errors.New("it refers to itself without going into the value")

// circle finds schemas for a value that depend on themselves for the same value, and counts
// those that a schema depends on.
func (c *checker) circle(path string) error {
	switch c.state[path] {
	case 1:
		return fmt.Errorf("$ref at %s: %w", path, errCircle)
	case 2:
		return nil
	}
	s, ok := c.at[path]
	if !ok {
		return nil
	}
	c.state[path] = 1
	work := 1
	defer func() { c.state[path], c.work[path] = 2, min(work, maxWork+1) }()
	if ref, ok := s["$ref"].(string); ok {
		target := "#" + strings.TrimPrefix(ref, "#")
		if _, ok := c.at[target]; !ok {
			return fmt.Errorf("$ref %q at %s names no schema", ref, path)
		}
		if err := c.circle(target); err != nil {
			return err
		}
		work += c.work[target]
	}
	for _, keyword := range same {
		for _, below := range c.direct(path, keyword, s[keyword]) {
			if err := c.circle(below); err != nil {
				return err
			}
			work += c.work[below]
		}
	}
	return nil
}

// direct lists the schemas that a keyword has.
func (c *checker) direct(path, keyword string, value any) []string {
	path += "/" + keyword
	switch v := value.(type) {
	case map[string]any:
		if slices.Contains(one, keyword) {
			return []string{path}
		}
		var all []string
		for name := range v {
			all = append(all, path+"/"+escape(name))
		}
		return all
	case []any:
		all := make([]string, len(v))
		for i := range v {
			all[i] = path + "/" + strconv.Itoa(i)
		}
		return all
	}
	return nil
}

// escape writes a name as a part of a JSON pointer.
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
