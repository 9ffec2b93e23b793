// Package jsonschema reads a JSON Schema that a user wrote and says whether a JSON value fits it.
// Draft-07 and draft 2020-12 are known, except references to other documents, to anchors and to
// what is only known at run time. Formats are not checked, as the drafts have it.
//
// It wraps github.com/google/jsonschema-go, which accepts schemas that it cannot use: types that do
// not exist, and references in a circle, which would end the program. It knows nothing of models.
//
// Start at Read; circle.go finds the circles.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// MaxSize is the size of the largest schema that is read, in bytes.
const MaxSize = 1 << 20

// Schema is a schema that values can be compared with. It may be used concurrently.
type Schema struct {
	text     json.RawMessage
	resolved *jsonschema.Resolved
}

// drafts are the values of $schema that are known, without a # at the end, as the library
// spells them.
var drafts = map[string]string{
	"https://json-schema.org/draft/2020-12/schema": "https://json-schema.org/draft/2020-12/schema",
	"http://json-schema.org/draft-07/schema":       "http://json-schema.org/draft-07/schema#",
	"https://json-schema.org/draft-07/schema":      "http://json-schema.org/draft-07/schema#",
}

// Read reads a schema. Its errors say what is wrong with the text.
func Read(text []byte) (*Schema, error) {
	var tree map[string]any
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	switch {
	case len(text) > MaxSize:
		return nil, fmt.Errorf("it is larger than %d MB", MaxSize>>20)
	case !json.Valid(text):
		return nil, errors.New("it is not valid JSON")
	case json.Unmarshal(text, &tree) != nil || tree == nil:
		return nil, errors.New("it is not a JSON object")
	}
	if draft, given := tree["$schema"]; given {
		name, _ := draft.(string)
		known, ok := drafts[strings.TrimSuffix(name, "#")]
		if !ok {
			return nil, fmt.Errorf("$schema %q is unknown; use draft 2020-12 or draft-07", name)
		}
		tree["$schema"] = known
	}
	if err := check(tree); err != nil {
		return nil, err
	}
	plain, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(plain, &s); err != nil {
		return nil, errors.New("a keyword has a value of the wrong type: " + reason(err))
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, errors.New(reason(err))
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, err
	}
	return &Schema{compact.Bytes(), resolved}, nil
}

// String is the schema as it was read, in one line.
func (s *Schema) String() string { return string(s.text) }

// Check says how a JSON text does not fit the schema, or returns nil.
func (s *Schema) Check(text []byte) error {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return errors.New("it is not valid JSON: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	if err := s.resolved.Validate(value); err != nil {
		return errors.New(reason(err))
	}
	return nil
}

// reason is an error of the library without what only its authors need.
func reason(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		_, field, _ := strings.Cut(wrong.Field, ".")
		if field == "" {
			field = wrong.Field
		}
		return strings.TrimSpace(field + " " + wrong.Value)
	}
	text := strings.TrimPrefix(err.Error(), "validating root: ")
	return strings.NewReplacer("jsonschema.Schema: ", "", "<anonymous schema>", "the schema", "validating /", "at /", "map[]", "it").Replace(text)
}
