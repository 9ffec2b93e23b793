package base_test

import (
	"bytes"
	"strings"
	"testing"

	"hermes/internal/transport/base"
)

// FuzzText holds Text against encoding/json: a byte more or less would break
// the stable prefix of every session.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		"", "plain", strings.Repeat("eight by eight ", 20), `"quoted" <tag> & \ slash`, "tab\tline\nreturn\r\b\f\x00\x1f\x7f",
		"naïve 汉字 \U0001f600 é", "bad \xff\xc3 bytes", "\u2028\u2029", "1234567\"", "1234567\\", "12345678\n", "\ufffd", "a\x80b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got, want bytes.Buffer
		base.Text(&got, s)
		if err := base.JSON(&want, s); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%q: got %s, want %s", s, got.String(), want.String())
		}
	})
}
