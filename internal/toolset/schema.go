package toolset

import (
	"bytes"
	"encoding/json"

	"hermes/internal/argument"
)

// canonical returns equal schemas as equal bytes. It removes white space and
// sorts the names of foreign schemas, since a server may list them in any
// order. Our own schemas keep their order, which puts the main argument first.
// A schema that is missing or not an object becomes one without arguments.
func canonical(schema json.RawMessage, foreign bool) json.RawMessage {
	none := json.RawMessage(`{"type":"object","properties":{}}`)
	var shape map[string]any
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	if len(schema) == 0 || d.Decode(&shape) != nil || shape == nil {
		return none
	}
	if !foreign {
		var b bytes.Buffer
		if json.Compact(&b, schema) != nil {
			return none
		}
		return b.Bytes()
	}
	if shape["type"] == nil {
		shape["type"] = "object"
	}
	if shape["properties"] == nil {
		shape["properties"] = map[string]any{}
	}
	text, err := argument.Encode(shape)
	if err != nil {
		return none
	}
	return text
}
