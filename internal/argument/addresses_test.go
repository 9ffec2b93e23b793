package argument_test

import (
	"encoding/json"
	"slices"
	"testing"

	"hermes/internal/argument"
)

func TestAddressesAreFoundAtAnyDepth(t *testing.T) {
	t.Parallel()
	web, others := argument.Addresses(json.RawMessage(`{"b":[" HTTPS://b.example/1 ",{"c":"ftp://c.example"}],"a":"http://a.example","d":"no address","e":3}`))
	if !slices.Equal(web, []string{"HTTPS://b.example/1", "http://a.example"}) || !slices.Equal(others, []string{"ftp://c.example"}) {
		t.Errorf("%q, %q", web, others)
	}
	if web, others := argument.Addresses(json.RawMessage(`{`)); web != nil || others != nil {
		t.Errorf("of what is not JSON: %q, %q", web, others)
	}
}
