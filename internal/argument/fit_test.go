package argument

import (
	"encoding/json"
	"testing"
)

func shape(schema string) map[string]any {
	m, _ := Decode([]byte(schema)).(map[string]any)
	return m
}

func TestCoerce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, schema, value, want string }{
		{"integer", `{"type":"integer"}`, `"42"`, `42`},
		{"negative", `{"type":"integer"}`, `" -7 "`, `-7`},
		{"whole float", `{"type":"integer"}`, `"3.0"`, `3`},
		{"whole float unquoted", `{"type":"integer"}`, `3.0`, `3`},
		{"fraction never integer", `{"type":"integer"}`, `"3.5"`, `"3.5"`},
		{"fraction unquoted", `{"type":"integer"}`, `3.5`, `3.5`},
		{"number", `{"type":"number"}`, `"2.5"`, `2.5`},
		{"whole number", `{"type":"number"}`, `"2.0"`, `2`},
		{"infinity", `{"type":"number"}`, `"Infinity"`, `"Infinity"`},
		{"inf", `{"type":"number"}`, `"inf"`, `"inf"`},
		{"nan", `{"type":"number"}`, `"NaN"`, `"NaN"`},
		{"too large", `{"type":"number"}`, `"1e999"`, `"1e999"`},
		{"hex", `{"type":"integer"}`, `"0x10"`, `"0x10"`},
		{"words", `{"type":"integer"}`, `"many"`, `"many"`},
		{"true", `{"type":"boolean"}`, `"true"`, `true`},
		{"False", `{"type":"boolean"}`, `"False"`, `false`},
		{"yes is no boolean", `{"type":"boolean"}`, `"yes"`, `"yes"`},
		{"1 is no boolean", `{"type":"boolean"}`, `"1"`, `"1"`},
		{"array text", `{"type":"array"}`, `"[1, 2]"`, `[1,2]`},
		{"object text", `{"type":"object"}`, `"{\"a\": 1}"`, `{"a":1}`},
		{"wrong shape text", `{"type":"object"}`, `"[1]"`, `"[1]"`},
		{"null word", `{"type":["integer","null"]}`, `"null"`, `null`},
		{"nullable", `{"type":"integer","nullable":true}`, `"null"`, `null`},
		{"anyOf null", `{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `"null"`, `null`},
		{"not nullable", `{"type":"integer"}`, `"null"`, `"null"`},
		{"bare for array", `{"type":"array","items":{"type":"string"}}`, `"a"`, `["a"]`},
		{"number for array", `{"type":"array"}`, `5`, `[5]`},
		{"object for array", `{"type":"array","items":{"type":"object"}}`, `{"a":1}`, `[{"a":1}]`},
		{"null for array stays", `{"type":"array"}`, `null`, `null`},
		{"string stays", `{"type":"string"}`, `"42"`, `"42"`},
		{"string or integer stays", `{"type":["string","integer"]}`, `"42"`, `"42"`},
		{"no type stays", `{}`, `"42"`, `"42"`},
		{"items", `{"type":"array","items":{"type":"integer"}}`, `["1","x",3]`, `[1,"x",3]`},
		{"items in text", `{"type":"array","items":{"type":"integer"}}`, `"[\"1\"]"`, `[1]`},
		{"nested", `{"type":"object","properties":{"b":{"type":"array","items":{"type":"object","properties":{"n":{"type":"boolean"}}}}}}`, `{"b":[{"n":"true"}]}`, `{"b":[{"n":true}]}`},
		{"reference", `{"$ref":"#/$defs/n"}`, `"5"`, `5`},
		{"reference in items", `{"type":"array","items":{"$ref":"#/$defs/n"}}`, `["5"]`, `[5]`},
		{"circle", `{"$ref":"#/$defs/loop"}`, `"5"`, `"5"`},
		{"nowhere", `{"$ref":"#/$defs/none"}`, `"5"`, `"5"`},
		{"nullable array", `{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"null"}]}`, `["5"]`, `[5]`},
		{"map", `{"type":"object","additionalProperties":{"type":"integer"}}`, `{"x":"1"}`, `{"x":1}`},
	} {
		schema := `{"type":"object","properties":{"v":` + tt.schema + `},"$defs":{"n":{"type":"integer"},"loop":{"$ref":"#/$defs/loop"}}}`
		got, problem := Fit(json.RawMessage(`{"v":`+tt.value+`}`), shape(schema))
		if want := `{"v":` + tt.want + `}`; string(got) != want || problem != "" {
			t.Errorf("%s: got %s (%s), want %s", tt.name, got, problem, want)
		}
	}
}

func TestCoerceKeepsTheBytesOfWhatFits(t *testing.T) {
	t.Parallel()
	arguments := `{ "z": 1, "a": "<b>" , "big": 12345678901234567890}`
	for _, schema := range []string{`{"type":"object","properties":{"z":{"type":"integer"}},"additionalProperties":true}`, ``, `null`, `true`} {
		if got, problem := Fit(json.RawMessage(arguments), shape(schema)); string(got) != arguments || problem != "" {
			t.Errorf("schema %q: got %s (%s)", schema, got, problem)
		}
	}
}

func FuzzCoerce(f *testing.F) {
	f.Add(`{"v":"[1]"}`, `{"type":"object","properties":{"v":{"type":"array","items":{"$ref":"#"}}}}`)
	f.Add(`{"v":{"v":"{}"}}`, `{"properties":{"v":{"$ref":"#","anyOf":[{"type":"null"}]}}}`)
	f.Fuzz(func(t *testing.T, arguments, schema string) {
		got, problem := Fit(json.RawMessage(arguments), shape(schema))
		if !json.Valid([]byte(arguments)) || problem != "" {
			return
		}
		if !json.Valid(got) {
			t.Errorf("%s with %s became invalid: %s", arguments, schema, got)
		}
		again, problem := Fit(got, shape(schema))
		if string(again) != string(got) || problem != "" {
			t.Errorf("%s with %s is not canonical: %s becomes %s (%s)", arguments, schema, got, again, problem)
		}
	})
}
