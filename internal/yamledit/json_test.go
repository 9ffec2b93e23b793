package yamledit_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/yamledit"
)

// TestJSONIsReadAsJSONSays compares with the JSON decoder, escapes and tabs included.
func TestJSONIsReadAsJSONSays(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		"{\n\t\"model\": {\n\t\t\"default\":\t\"m\"\n\t}\n}\n",
		`{"url": "http:\/\/127.0.0.1\/v1", "after": "x"}`,
		`{"face": "\ud83d\ude00", "after": ["\/", "\\/", "\"\/"]}`,
		`{"half": "a\ud83dz", "other": "\ude00\ud83d"}`,
		`{"text": "a\tb\n\\u0041\u0041 # no comment: x", "yes": "yes", "no": "0x1f"}`,
		"\ufeff{\"a\":{\"b\":[true,false,null,{}]},\"c\":[]}",
		"{\"a\":\"\u2028\u00e9\"}",
	} {
		d, err := yamledit.Parse([]byte(src))
		if err != nil {
			t.Errorf("%q: %v", src, err)
			continue
		}
		got, err := yamledit.Value(d.Root())
		if err != nil {
			t.Errorf("%q: %v", src, err)
		}
		var want any
		if err := json.Unmarshal([]byte(trimMark(src)), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%q:\n%s", src, diff)
		}
	}
}

func trimMark(s string) string {
	if len(s) > 3 && s[:3] == "\ufeff" {
		return s[3:]
	}
	return s
}

func TestJSONStaysJSON(t *testing.T) {
	t.Parallel()
	const lines = "{\n  \"model\": {\n    \"default\": \"a\\/b \\ud83d\\ude00\", \"provider\": \"x\"\n  },\n  \"list\": [\n    1\n  ]\n}\n"
	tests := []struct {
		name, src, key string
		value          any
		want           string
	}{
		{"a text", lines, "model.default", "it's: new", "{\n  \"model\": {\n    \"default\": \"it's: new\", \"provider\": \"x\"\n  },\n  \"list\": [\n    1\n  ]\n}\n"},
		{"behind odd escapes", lines, "model.provider", "y", "{\n  \"model\": {\n    \"default\": \"a\\/b \\ud83d\\ude00\", \"provider\": \"y\"\n  },\n  \"list\": [\n    1\n  ]\n}\n"},
		{"a new key on its own line", lines, "agent.max_turns", 9, "{\n  \"model\": {\n    \"default\": \"a\\/b \\ud83d\\ude00\", \"provider\": \"x\"\n  },\n  \"list\": [\n    1\n  ],\n  \"agent\": {\"max_turns\": 9}\n}\n"},
		{"an item", lines, "list.1", "two", "{\n  \"model\": {\n    \"default\": \"a\\/b \\ud83d\\ude00\", \"provider\": \"x\"\n  },\n  \"list\": [\n    1,\n    \"two\"\n  ]\n}\n"},
		{"on one line", `{"a":1}`, "b", []any{map[string]any{"name": "y", "on": true, "f": 1.5}}, `{"a":1, "b": [{"name": "y", "f": 1.5, "on": true}]}`},
		{"odd characters", `{"a":1}`, "a", "\x00\u2028<&>\"\\", `{"a": "\u0000\u2028<&>\"\\"}`},
		{"nothing", `{"a":1}`, "a", nil, `{"a": null}`},
	}
	for _, tt := range tests {
		path, err := yamledit.Split(tt.key)
		if err != nil {
			t.Fatal(err)
		}
		got, err := yamledit.Set([]byte(tt.src), path, tt.value)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(string(got), tt.want); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
		if !json.Valid(got) {
			t.Errorf("%s: not JSON: %s", tt.name, got)
		}
	}
	for _, key := range []string{"model.default", "model.provider", "model", "list", "list.0"} {
		path, _ := yamledit.Split(key)
		got, err := yamledit.Unset([]byte(lines), path)
		if err != nil || !json.Valid(got) {
			t.Errorf("without %s: %v\n%s", key, err, got)
		}
	}
}
