package ansi

import (
	"strings"
	"testing"
)

func TestSequencesAreRemoved(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"\x1b[31mred\x1b[0m":                        "red",
		"\x1b[38;2;1;2;3mx\x1b[?25l":                "x",
		"\x1b]0;title\x07a\x1b]8;;u\x1b\\b":         "ab",
		"\x1bP1$r0m\x1b\\x\x1b_app\x1b\\y":          "xy",
		"\x1b(Bx\x1b=y\x1b7z\x1bM":                  "xyz",
		"\u009b31mx\u009d0;t\x07y":                  "xy",
		"\x9b31mx\x9d0;t\x07y":                      "xy",
		"[31m not one [0]":                          "[31m not one [0]",
		"a\x00b\x07c\x08d\x7fe":                     "abcde",
		"tab\there\r\n":                             "tab\there\r\n",
		"naïve ÂÀ Â £ €\u00a0日本 \U0001f600":         "naïve ÂÀ Â £ €\u00a0日本 \U0001f600",
		"\x1b]0;never ends\nnext line":              "\nnext line",
		"\x1b[12\nx":                                "\nx",
		"\x1b\x1b[1mx":                              "x",
		"\x1b]0;" + strings.Repeat("x", 5000) + "y": strings.Repeat("x", 5000-longestString+2) + "y",
		"end\x1b": "end",
	} {
		var s Stripper
		if got := string(s.Text([]byte(in))); got != want {
			t.Errorf("%.60q: got %.60q (%d), want %.60q (%d)", in, got, len(got), want, len(want))
		}
	}
}

func FuzzStripDoesNotDependOnTheCut(f *testing.F) {
	f.Add([]byte("\x1b[31mred\x1b]0;t\x07 \u009b1mé\x9b2mx\xc2"), 5)
	f.Fuzz(func(t *testing.T, in []byte, at int) {
		if at < 0 || at > len(in) {
			return
		}
		var whole, cut Stripper
		want := string(whole.Text(in))
		got := string(cut.Text(in[:at]))
		got += string(cut.Text(in[at:]))
		if got != want {
			t.Errorf("cut at %d: %q, whole %q", at, got, want)
		}
		if strings.ContainsRune(want, 0x1b) {
			t.Errorf("an escape is left in %q", want)
		}
	})
}
