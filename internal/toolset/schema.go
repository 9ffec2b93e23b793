package toolset

import (
	"bytes"
	"encoding/json"

	"hermes/internal/argument"
)

// readSchema is a schema in both forms that are needed of it.
type readSchema struct {
	text  json.RawMessage
	shape func() map[string]any
}

// schema reads the schema of a tool. What it returns is shared: do not change it.
func (c *Catalogue) schema(raw json.RawMessage, foreign bool) readSchema {
	key := schemaKey{foreign, string(raw)}
	c.mu.Lock()
	read, ok := c.schemas.Get(key)
	c.mu.Unlock()
	if ok {
		return read
	}
	read = newSchema(canonical(raw, foreign))
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.schemas.Make(key, func() readSchema { return read }) // another session may have been faster
}

// newSchema reads a canonical schema.
func newSchema(text json.RawMessage) readSchema {
	return readSchema{text, argument.Shape(text)}
}

// CanonicalTool is implemented by a tool of others whose schema is one that [argument.CanonicalSchema]
// has written, so that it is not read before it is used. Shape returns it as [argument.Shape] does.
type CanonicalTool interface{ Shape() map[string]any }

// schemaKey is a schema as its tool has it.
type schemaKey struct {
	foreign bool
	raw     string
}

// canonical returns equal schemas as equal bytes. It removes white space and
// sorts the names of foreign schemas, since a server may list them in any
// order. Our own schemas keep their order, which puts the main argument first.
// A schema that is missing or not an object becomes one without arguments.
func canonical(schema json.RawMessage, foreign bool) json.RawMessage {
	if !foreign {
		var b bytes.Buffer
		if json.Compact(&b, schema) == nil && bytes.HasPrefix(b.Bytes(), []byte("{")) {
			return b.Bytes()
		}
	}
	return argument.CanonicalSchema(schema)
}
