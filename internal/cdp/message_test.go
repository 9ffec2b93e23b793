package cdp

import (
	"encoding/json"
	"testing"
)

// FuzzMembers: the members of an object are those that encoding/json finds.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{}`, ` { "a" : [1, "]}", {"b":"\\\""}] , "c":null,"d":-1.5e3 } `, `{"a":"\u0022"}`, `[1]`, `{"a":1,}`, `{"a":{}}x`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := map[string]string{}
		err := members([]byte(s), func(name string, value json.RawMessage) error {
			got[name] = string(value)
			return nil
		})
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(s), &want) != nil || want == nil {
			return // it need not be noticed here
		}
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		for name, value := range want {
			if raw, ok := got[name]; ok && raw != string(value) {
				t.Errorf("%q: %s is %q, want %q", s, name, raw, value)
			}
		}
		if len(got) < len(want) {
			t.Errorf("%q: %d members, want %d", s, len(got), len(want))
		}
	})
}
