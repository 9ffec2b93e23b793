package schema_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"hermes/internal/schema"
)

func TestGemini(t *testing.T) {
	t.Parallel()
	in := func(a string) string { return `{"type":"object","properties":{"a":` + a + `}}` }
	tests := []struct{ name, in, want string }{
		{"no arguments", `{}`, ``},
		{"broken", `{`, ``},
		{"good stays", `{"type":"object","properties":{"b":{"type":"string","description":"d","minLength":1,"pattern":"^x"},"a":{"type":"integer","minimum":1}},"required":["b"]}`,
			`{"type":"object","properties":{"b":{"type":"string","description":"d","minLength":1,"pattern":"^x"},"a":{"type":"integer","minimum":1}},"required":["b"]}`},
		{"unknown keywords go", `{"$schema":"x","type":"object","additionalProperties":false,"title":"T","properties":{"a":{"type":"string","default":"x","examples":["y"],"$comment":"z","contentEncoding":"base64"}}}`,
			in(`{"type":"string"}`)},
		{"properties that bear such names stay", `{"type":"object","properties":{"default":{"type":"string"},"$ref":{"type":"string"}}}`,
			`{"type":"object","properties":{"default":{"type":"string"},"$ref":{"type":"string"}}}`},
		{"references are put in place", `{"type":"object","properties":{"a":{"$ref":"#/$defs/p","description":"mine"}},"$defs":{"p":{"type":"object","description":"theirs","properties":{"x":{"$ref":"#/$defs/n"}},"required":["x"]},"n":{"type":"number"}}}`,
			in(`{"type":"object","description":"mine","properties":{"x":{"type":"number"}},"required":["x"]}`)},
		{"unknown references are any text", in(`{"$ref":"http://x/y.json"}`), in(`{"type":"string"}`)},
		{"allOf is merged", in(`{"allOf":[{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]},{"properties":{"y":{"type":"string"}},"required":["y"]}]}`),
			in(`{"type":"object","properties":{"x":{"type":"string"},"y":{"type":"string"}},"required":["x","y"]}`)},
		{"oneOf becomes anyOf, without other keywords", in(`{"description":"d","oneOf":[{"type":"string"},{"type":"array","items":{"type":"integer"}}]}`),
			in(`{"anyOf":[{"type":"string","description":"d"},{"type":"array","items":{"type":"integer"},"description":"d"}]}`)},
		{"several types", in(`{"type":["string","integer","null"]}`), in(`{"anyOf":[{"type":"string","nullable":true},{"type":"integer","nullable":true}]}`)},
		{"null union", in(`{"type":["string","null"]}`), in(`{"type":"string","nullable":true}`)},
		{"const", in(`{"const":"x"}`), in(`{"type":"string","enum":["x"]}`)},
		{"enum of texts, none empty", in(`{"type":"string","enum":["","a","b"]}`), in(`{"type":"string","enum":["a","b"]}`)},
		{"enum of numbers is described", in(`{"type":"integer","description":"How many.","enum":[1,2]}`), in(`{"type":"integer","description":"How many. One of: 1, 2."}`)},
		{"formats", in(`{"type":"string","format":"uri"}`), in(`{"type":"string"}`)},
		{"formats that are known", in(`{"type":"string","format":"date-time"}`), in(`{"type":"string","format":"date-time"}`)},
		{"exclusive bounds", in(`{"type":"number","exclusiveMinimum":0}`), in(`{"type":"number","minimum":0}`)},
		{"any object", in(`{"type":"object","additionalProperties":{"type":"string"}}`), in(`{"type":"object"}`)},
		{"array without items", in(`{"type":"array"}`), in(`{"type":"array","items":{"type":"string"}}`)},
		{"tuple", in(`{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}]}`), in(`{"type":"array","items":{"type":"integer"}}`)},
		{"true", in(`true`), in(`{"type":"string"}`)},
		{"no type", in(`{"description":"d"}`), in(`{"type":"string","description":"d"}`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := string(schema.Gemini([]byte(tt.in))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestGeminiEndsOnCircles(t *testing.T) {
	t.Parallel()
	const circle = `{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"x":{"$ref":"#/$defs/n"},"y":{"$ref":"#/$defs/n"},"z":{"$ref":"#/$defs/n"},"self":{"$ref":"#/$defs/s"}}},"s":{"$ref":"#/$defs/s"}}}`
	if got := schema.Gemini([]byte(circle)); !json.Valid(got) || len(got) > 256<<10 {
		t.Errorf("%d bytes", len(got))
	}
}

func FuzzGemini(f *testing.F) {
	f.Add([]byte(`{"properties":{"a":{"$ref":"#/properties/a"},"b":{"allOf":[{"allOf":[{}]}]},"c":{"anyOf":[null,{"type":["a","b"]}],"enum":[{}]}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		got := schema.Gemini(in)
		if got != nil && !json.Valid(got) {
			t.Fatalf("Gemini(%q) = %s", in, got)
		}
		if again := schema.Gemini(in); !bytes.Equal(got, again) {
			t.Fatalf("Gemini(%q) = %s, then %s", in, got, again)
		}
	})
}
