package text_test

import (
	"testing"

	"hermes/internal/text"
)

func TestOneLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "a b": "a b", "a\nb\r\tc\x1b[m": "a b  c [m", "a\xffb": "a\uFFFDb", "äöüßéè": "äöüßéè", "äöüßéèx": "äöüßéè…",
	} {
		most := 6
		if len(in) > 0 && in[0] == 'a' {
			most = 100
		}
		if got := text.OneLine(in, most); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", " a \n\t b\x1b[m": "a b [m", "äöüßéè": "äöüßéè", "äöüßéèx": "äöüßé…", "abcd efg": "abcd…", "a\xffb": "a\uFFFDb",
	} {
		if got := text.Line(in, 6); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
