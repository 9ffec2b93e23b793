package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes/internal/schema"
)

func TestClean(t *testing.T) {
	t.Parallel()
	const empty = schema.Empty
	tests := []struct{ name, in, want string }{
		{"missing", ``, empty},
		{"null", `null`, empty},
		{"broken", `{"type":`, empty},
		{"a list", `[]`, empty},
		{"empty", `{}`, empty},
		{"no properties", `{"type":"object"}`, empty},
		{"properties are no object", `{"type":"object","properties":[]}`, empty},
		{"good stays, order kept",
			`{"type":"object","properties":{"b":{"type":"string","description":"a < b"},"a":{"type":"integer","minimum":1.50}},"required":["b"]}`,
			`{"type":"object","properties":{"b":{"type":"string","description":"a < b"},"a":{"type":"integer","minimum":1.50}},"required":["b"]}`},
		{"inner object gets properties",
			`{"type":"object","properties":{"a":{"type":"object"}}}`,
			`{"type":"object","properties":{"a":{"type":"object","properties":{}}}}`},
		{"items and additionalProperties too",
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}},"b":{"type":"object","properties":{},"additionalProperties":{"type":"object"}}}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{}}},"b":{"type":"object","properties":{},"additionalProperties":{"type":"object","properties":{}}}}}`},
		{"bare strings",
			`{"type":"object","properties":{"a":"string","b":"object","c":{"type":"array","items":"integer"},"d":"the name"}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object","properties":{}},"c":{"type":"array","items":{"type":"integer"}},"d":{"type":"string","description":"the name"}}}`},
		{"booleans are schemas",
			`{"type":"object","properties":{"a":true},"additionalProperties":false}`,
			`{"type":"object","properties":{"a":true},"additionalProperties":false}`},
		{"other values are none",
			`{"type":"object","properties":{"a":null,"b":3}}`,
			`{"type":"object","properties":{"a":{},"b":{}}}`},
		{"array without items",
			`{"type":"object","properties":{"a":{"type":"array"}}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{}}}}`},
		{"required is pruned",
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b",3,"a"]}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`},
		{"required of nothing goes",
			`{"type":"object","properties":{},"required":["b"]}`, empty},
		{"required that is no list goes",
			`{"type":"object","properties":{"a":{"type":"object","properties":{},"required":true}}}`,
			`{"type":"object","properties":{"a":{"type":"object","properties":{}}}}`},
		{"type with null",
			`{"type":"object","properties":{"a":{"type":["string","null"]}}}`,
			`{"type":"object","properties":{"a":{"type":"string","nullable":true}}}`},
		{"anyOf with null",
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"integer","description":"in"},{"type":"null"}],"description":"out","default":null}}}`,
			`{"type":"object","properties":{"a":{"description":"out","default":null,"type":"integer","nullable":true}}}`},
		{"oneOf with null and two more",
			`{"type":"object","properties":{"a":{"oneOf":[{"type":"integer"},{"type":"object"},{"type":"null"}]}}}`,
			`{"type":"object","properties":{"a":{"oneOf":[{"type":"integer"},{"type":"object","properties":{}}],"nullable":true}}}`},
		{"nested null unions",
			`{"type":"object","properties":{"a":{"anyOf":[{"type":["object","null"]},{"type":"null"}]}}}`,
			`{"type":"object","properties":{"a":{"type":"object","nullable":true,"properties":{}}}}`},
		{"several types",
			`{"type":"object","properties":{"a":{"type":["string","array","null"],"items":{"type":"object"},"description":"d"}}}`,
			`{"type":"object","properties":{"a":{"description":"d","anyOf":[{"type":"string"},{"type":"array","items":{"type":"object","properties":{}}}],"nullable":true}}}`},
		{"combinators at the top go",
			`{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]}],"allOf":[],"oneOf":[],"not":{}}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`},
		{"anyOf at the top gives the properties of all",
			`{"anyOf":[{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]},{"properties":{"b":{"type":"string"},"c":{"type":"string"}},"required":["b","c"]},{"type":"null"}]}`,
			`{"properties":{"a":{"type":"string"},"b":{"anyOf":[{"type":"integer"},{"type":"string"}]},"c":{"type":"string"}},"description":"Give a; or b and c.","type":"object"}`},
		{"oneOf at the top requires what all choices require",
			`{"type":"object","description":"Do it.","properties":{"x":{"type":"string"}},"required":["x"],"oneOf":[{"properties":{"k":{"const":"p"},"v":{"type":"string"}},"required":["k","v"]},{"properties":{"k":{"const":"q"}},"required":["k"]}]}`,
			`{"type":"object","description":"Do it. Give k; or k and v.","properties":{"x":{"type":"string"},"k":{"anyOf":[{"const":"p"},{"const":"q"}]},"v":{"type":"string"}},"required":["x","k"]}`},
		{"allOf at the top is joined",
			`{"allOf":[{"$ref":"#/$defs/base"},{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}],"$defs":{"base":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}`,
			`{"$defs":{"base":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}},"properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"],"type":"object"}`},
		{"then and else are joined",
			`{"type":"object","properties":{"a":{"type":"string"}},"if":{"required":["a"]},"then":{"properties":{"b":{"type":"string"}},"required":["b"]},"else":{"properties":{"c":{"type":"string"}}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}}}`},
		{"a reference at the top is followed",
			`{"$ref":"#/definitions/args","definitions":{"args":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}}`,
			`{"definitions":{"args":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}},"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}`},
		{"a reference to itself ends", `{"$ref":"#","properties":{"a":{"$ref":"#"}}}`, `{"properties":{"a":{"$ref":"#"}},"type":"object"}`},
		{"a reference to nothing goes", `{"$ref":"#/$defs/x"}`, `{"type":"object","properties":{}}`},
		{"a default beside a reference is kept apart from it",
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/x","default":1,"description":"d"},"b":{"anyOf":[{"$ref":"#/$defs/x"},{"type":"null"}],"default":null},"c":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"integer"}}}`,
			`{"type":"object","properties":{"a":{"default":1,"description":"d","allOf":[{"$ref":"#/$defs/x"}]},"b":{"default":null,"nullable":true,"allOf":[{"$ref":"#/$defs/x"}]},"c":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"integer"}}}`},
		{"required names of another part stay",
			`{"type":"object","properties":{"a":{"type":"object","allOf":[{"$ref":"#/$defs/x"}],"required":["q"]}},"$defs":{"x":{"type":"object","properties":{"q":{"type":"string"}}}}}`,
			`{"type":"object","properties":{"a":{"type":"object","allOf":[{"$ref":"#/$defs/x"}],"required":["q"],"properties":{}}},"$defs":{"x":{"type":"object","properties":{"q":{"type":"string"}}}}}`},
		{"the top is never null",
			`{"type":["object","null"],"properties":{"a":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"definitions are schemas",
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"object"}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"object","properties":{}}}}`},
		{"data is not changed",
			`{"type":"object","properties":{"a":{"type":"object","properties":{},"default":{"type":["x","null"]},"enum":[{"type":"object"}]}}}`,
			`{"type":"object","properties":{"a":{"type":"object","properties":{},"default":{"type":["x","null"]},"enum":[{"type":"object"}]}}}`},
		{"properties named like keywords",
			`{"type":"object","properties":{"type":{"type":"string"},"required":{"type":"boolean"},"properties":{"type":"object"}}}`,
			`{"type":"object","properties":{"type":{"type":"string"},"required":{"type":"boolean"},"properties":{"type":"object","properties":{}}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := []byte(tt.in)
			got := schema.Clean(in)
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if string(in) != tt.in {
				t.Errorf("the input became %s", in)
			}
			if again := schema.Clean(got); string(again) != string(got) {
				t.Errorf("a second time gives %s", again)
			}
		})
	}
}

func TestStrip(t *testing.T) {
	t.Parallel()
	const in = `{"type":"object","properties":{"pattern":{"type":"string","pattern":"^a$"},"format":{"type":"string","format":"uri","enum":["pattern"],"default":{"format":1}},"a":{"anyOf":[{"format":"x","type":"string"}]},"b":{"type":"array","items":{"pattern":"p"}}},"required":["pattern"]}`
	const want = `{"type":"object","properties":{"pattern":{"type":"string"},"format":{"type":"string","enum":["pattern"],"default":{"format":1}},"a":{"anyOf":[{"type":"string"}]},"b":{"type":"array","items":{}}},"required":["pattern"]}`
	if got := schema.Strip([]byte(in), "pattern", "format"); string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := schema.Strip([]byte(`{`), "pattern"); string(got) != `{` {
		t.Errorf("broken JSON became %s", got)
	}
}

// inProportion fails if work on the schema takes more than 100 times what it takes to read it as
// JSON. Work that grows with the square of the size takes thousands of times as long. Both are
// measured here, so that a slow machine slows both.
func inProportion(t *testing.T, in string, work func()) {
	t.Helper()
	var read, worked time.Duration
	for range 3 {
		began := time.Now()
		var v any
		if err := json.Unmarshal([]byte(in), &v); err != nil {
			t.Fatal(err)
		}
		read += time.Since(began)
		began = time.Now()
		work()
		worked += time.Since(began)
		if worked <= 100*read {
			return
		}
	}
	t.Errorf("%.40s…: took %v, and its reading %v", in, worked, read)
}

// TestTimeIsInProportion would fail if the time grew with the square of the size.
func TestTimeIsInProportion(t *testing.T) {
	const n = 15_000
	var names, properties, choices bytes.Buffer
	for i := range n {
		fmt.Fprintf(&names, `"p%d",`, i)
		fmt.Fprintf(&properties, `"p%d":{"type":"string"},`, i)
		fmt.Fprintf(&choices, `{"required":["p%d"]},`, i)
	}
	last := `{"type":"object","properties":{` + properties.String() + `"z":{}},"required":[` + names.String() + `"z"]}`
	for _, in := range []string{
		last,
		`{"properties":{"a":{` + properties.String() + `"anyOf":[` + last + `,{"type":"null"}]}}}`,
		`{"allOf":[` + last + `,` + last + `]}`, `{"anyOf":[` + last + `,` + last + `]}`,
		`{"properties":{"a":{"type":"string","enum":[` + names.String() + `"z"]}}}`,
		`{"type":"object","properties":{"z":{}},"anyOf":[` + choices.String() + `{}]}`,
	} {
		inProportion(t, in, func() { schema.Clean([]byte(in)) })
		inProportion(t, in, func() { schema.Gemini([]byte(in)) })
	}
}

func FuzzClean(f *testing.F) {
	f.Add([]byte(`{"type":["object","null"],"properties":{"a":"string","b":{"anyOf":["null",{"type":["a","b"]}]}}}`))
	f.Add([]byte(`{"allOf":[{"$ref":"#/$defs/x"}],"anyOf":[{"required":["a"]},{"properties":{"a":{"$ref":"#","default":1}}}],"$defs":{"x":{"then":{"properties":{"b":1}}}}}`))
	f.Add([]byte(`{"properties":{"":{"items":[true,"x",{"oneOf":[null]}]}},"required":[1]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		was := bytes.Clone(in)
		got := schema.Clean(in)
		var top map[string]any
		if err := json.Unmarshal(got, &top); err != nil {
			t.Fatalf("Clean(%q) = %s: %v", in, got, err)
		}
		if _, ok := top["properties"].(map[string]any); !ok || top["type"] != "object" {
			t.Fatalf("Clean(%q) = %s", in, got)
		}
		if !bytes.Equal(in, was) {
			t.Fatalf("the input %q became %q", was, in)
		}
		if again := schema.Clean(got); !bytes.Equal(again, got) {
			t.Fatalf("Clean(%q) = %s, then %s", in, got, again)
		}
		if s := schema.Strip(in, "pattern", "format"); json.Valid(in) && !json.Valid(s) {
			t.Fatalf("Strip(%q) = %s", in, s)
		}
	})
}

// TestManyBranchesAreJoinedInTime joins branches with a property each, which took a
// minute when each was joined with all before it.
func TestManyBranchesAreJoinedInTime(t *testing.T) {
	const branches = 20_000
	for _, combinator := range []string{"allOf", "anyOf", "oneOf"} {
		var b strings.Builder
		for i := range branches {
			fmt.Fprintf(&b, `,{"properties":{"p%d":{"type":"string"}},"required":["p%d"]}`, i, i)
		}
		in := `{"` + combinator + `":[` + b.String()[1:] + `]}`
		var got json.RawMessage
		inProportion(t, in, func() { got = schema.Clean(json.RawMessage(in)) })
		if n := strings.Count(string(got), `{"type":"string"}`); n != branches {
			t.Errorf("%s: %d properties", combinator, n)
		}
	}
}
