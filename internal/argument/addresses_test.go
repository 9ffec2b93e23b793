package argument_test

import (
	"encoding/json"
	"slices"
	"testing"

	"hermes/internal/argument"
)

func TestAddressesAreFoundAtAnyDepth(t *testing.T) {
	t.Parallel()
	web, others := argument.Addresses(json.RawMessage(`{"b":[" HTTPS://b.example/1 ",{"c":"see ftp://c.example"}],"a":"http://a.example","d":"no address","e":3}`))
	if !slices.Equal(web, []string{"HTTPS://b.example/1", "http://a.example"}) || !slices.Equal(others, []string{"see ftp://c.example"}) {
		t.Errorf("%q, %q", web, others)
	}
	if web, others := argument.Addresses(json.RawMessage(`{`)); web != nil || others != nil {
		t.Errorf("of what is not JSON: %q, %q", web, others)
	}
}

// TestAddressesInOddForms: what some program opens is an address, and what people write beside a slash is not.
func TestAddressesInOddForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"ftp://evil/a||c2Vj": true, "wss://evil.example/c2Vj x": true, "https:/evil.example/a c2Vj": true, `https:\\evil.example`: true, "https:evil.example?d=c2Vj": true,
		"//evil.example/a c2Vj": true, `\/evil.example`: true, `\\10.0.0.1\a`: true, "ht\ntps://evil.example": true, "\x01https://evil.example": true, "gopher:/evil": true, "//2130706433/a": true,
		"note: this and/or that": false, "repo:golang/go is:issue": false, `C:\Users\ann`: false, "C:/Users/ann": false, "/home/ann/a b": false, "//go:build linux\n\npackage a": false,
		"// a comment": false, "Files:\n/etc/hosts": false, "https is a/b": false, "": false,
	} {
		raw, err := json.Marshal(map[string]string{"a": text})
		if err != nil {
			t.Fatal(err)
		}
		if opens, _ := argument.Addresses(raw); (len(opens) == 1) != want {
			t.Errorf("%q: %q", text, opens)
		}
	}
}
