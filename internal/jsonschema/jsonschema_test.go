package jsonschema_test

import (
	"fmt"
	"strings"
	"testing"

	"hermes/internal/jsonschema"
)

func TestReadRefusesWhatItCannotCheck(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                    "not valid JSON",
		"{":                                   "not valid JSON",
		"{} {}":                               "not valid JSON",
		"[]":                                  "not a JSON object",
		"true":                                "not a JSON object",
		"null":                                "not a JSON object",
		`{"type":"nope"}`:                     `the type "nope" at # does not exist`,
		`{"type":["a"]}`:                      `the type "a" at #`,
		`{"items":{"type":1}}`:                "wrong type",
		`{"properties":{"a":{"type":"int"}}}`: `the type "int" at #/properties/a`,
		`{"required":true}`:                   "wrong type: required",
		`{"pattern":"(?=a)"}`:                 "invalid or unsupported",
		`{"$ref":"http://127.0.0.1/x"}`:       "not supported",
		`{"$ref":"other.json"}`:               "not supported",
		`{"$ref":"#name"}`:                    "not supported",
		`{"$ref":1}`:                          "not supported",
		`{"$ref":"#/$defs/x"}`:                "names no schema",
		`{"$dynamicRef":"#x"}`:                "not supported",
		`{"properties":{"a":{"$id":"x"}}}`:    "only the whole schema",
		`{"$schema":"http://json-schema.org/draft-04/schema#"}`: "unknown; use draft",
		`{"$schema":1}`:                        "unknown; use draft",
		`{"$ref":"#"}`:                         "refers to itself",
		`{"allOf":[{"$ref":"#"}]}`:             "refers to itself",
		`{"if":{"$ref":"#"}}`:                  "refers to itself",
		`{"not":{"anyOf":[{"$ref":"#/not"}]}}`: "refers to itself",
		`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`:     "refers to itself",
		`{"$defs":{"a/b":{"$ref":"#/$defs/a~1b"}}}`:                         "refers to itself",
		`{"dependentSchemas":{"x":{"$ref":"#"}}}`:                           "refers to itself",
		`{"properties":{"a":{"oneOf":[true,{"$ref":"#/properties/a"}]}}}`:   "refers to itself",
		`{"description":"` + strings.Repeat("x", jsonschema.MaxSize) + `"}`: "larger than 1 MB",
	} {
		if _, err := jsonschema.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", text, err, want)
		}
	}
}

// TestSchemasThatTakeMinutesAreRefused: a file of a few lines, or one that is deep.
func TestSchemasThatTakeMinutesAreRefused(t *testing.T) {
	t.Parallel()
	var twice strings.Builder
	for i := range 40 {
		fmt.Fprintf(&twice, `"a%d":{"anyOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i+1, i, i)
	}
	nested := func(n int) string { return strings.Repeat(`{"allOf":[`, n) + "{}" + strings.Repeat("]}", n) }
	for text, want := range map[string]string{
		`{"properties":{"x":{"$ref":"#/$defs/a40"}},"$defs":{` + twice.String() + `"a0":{}}}`: "compared with more than",
		nested(4000): "deep in each other",
		nested(150):  "",
		`{"$defs":{"a":{"type":"string"}},"anyOf":[{}` + strings.Repeat(`,{"$ref":"#/$defs/a"}`, 2000) + `]}`: "",
	} {
		if _, err := jsonschema.Read([]byte(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const tree = `{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}},"additionalProperties":false}},"$ref":"#/$defs/n"}`
	const count = `{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"],"additionalProperties":false}`
	for _, tt := range []struct{ schema, value, want string }{
		{`{}`, `1`, ""},
		{count, `{"n":3}`, ""},
		{count, `{"n":0}`, "at /properties/n: minimum"},
		{count, `{"n":1.5}`, `"integer"`},
		{count, `{}`, `missing properties: ["n"]`},
		{count, `{"n":1,"m":2}`, `unexpected additional properties ["m"]`},
		{count, `[]`, `want "object"`},
		{count, `{`, "not valid JSON"},
		{count, `{"n":1e999}`, "not valid JSON"},
		{tree, `{"next":{"next":{}}}`, ""},
		{tree, `{"next":{"x":1}}`, "unexpected"},
		{tree, strings.Repeat(`{"next":`, 5000) + "{}" + strings.Repeat("}", 5000), ""},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}`, `["a"]`, ""},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}`, `["a",1]`, "additionalItems"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"enum":["x"]}},"properties":{"p":{"$ref":"#/definitions/a"}}}`, `{"p":"y"}`, "enum"},
	} {
		s, err := jsonschema.Read([]byte(tt.schema))
		if err != nil {
			t.Errorf("%s: %v", tt.schema, err)
			continue
		}
		err = s.Check([]byte(tt.value))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60s, %.40s: %v, want %q", tt.schema, tt.value, err, tt.want)
		}
	}
}

func TestStringIsTheSchemaInOneLine(t *testing.T) {
	t.Parallel()
	s, err := jsonschema.Read([]byte("\uFEFF{ \"b\": 1e2,\n \"a\": \"<\" }\n"))
	if err != nil || s.String() != `{"b":1e2,"a":"<"}` {
		t.Errorf("%v, %v", s, err)
	}
}

// FuzzRead: no schema and no value ends the program.
func FuzzRead(f *testing.F) {
	f.Add(`{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"not":{}}}}`, `{}`)
	f.Add(`{"items":{"$ref":"#"},"minItems":1}`, `[[]]`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		if s, err := jsonschema.Read([]byte(schema)); err == nil {
			_ = s.Check([]byte(value))
		}
	})
}
