package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"hermes/internal/redact"
)

// each writes every byte of a text.
func each(text, between string, write func(i int, c byte) string) string {
	var parts []string
	for i := range len(text) {
		parts = append(parts, write(i, text[i]))
	}
	return strings.Join(parts, between)
}

func formatted(format string) func(int, byte) string {
	return func(_ int, c byte) string { return fmt.Sprintf(format, c) }
}

func itself(_ int, c byte) string { return string(c) }

func backwards(text string) string {
	b := []byte(text)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

// mixed escapes every other byte, as programs that escape only some do.
func mixed(format string) func(int, byte) string {
	return func(i int, c byte) string {
		if i%2 == 0 {
			return string(c)
		}
		return fmt.Sprintf(format, c)
	}
}

// spellings has every form in which a known value must not leave.
func spellings(v string) map[string]string {
	b64 := base64.StdEncoding.EncodeToString([]byte(v))
	quoted, _ := json.Marshal(v)
	out := map[string]string{
		"as it is": v, "JSON": string(quoted), "query": url.QueryEscape(v), "path": url.PathEscape(v),
		"base64": b64, "base64, raw": base64.RawStdEncoding.EncodeToString([]byte(v)), "base64, address": base64.URLEncoding.EncodeToString([]byte(v)),
		"base64, one before": base64.StdEncoding.EncodeToString([]byte("a" + v + "zz")), "base64, two before": base64.StdEncoding.EncodeToString([]byte("ab" + v + "zz")),
		"base64, indented lines": b64[:9] + "\r\n    " + b64[9:], "base64, in quotes": `"` + b64[:7] + "\" +\n\t\"" + b64[7:] + `"`,
		"base64, spaced": each(b64, " ", itself), "base64, escaped": url.QueryEscape(b64), "base64, reversed": base64.StdEncoding.EncodeToString([]byte(backwards(v))),
		"hex": hex.EncodeToString([]byte(v)), "hex, large": strings.ToUpper(hex.EncodeToString([]byte(v))),
		"hex, colons": each(v, ":", formatted("%02x")), "hex, blanks": each(v, " ", formatted("%02X")), "hex, C": each(v, "", formatted(`\x%02x`)), "hex, list": each(v, ", ", formatted("0x%02x")),
		"decimal": each(v, ", ", formatted("%d")), "octal": each(v, "", formatted(`\%03o`)),
		"percent": each(v, "", formatted("%%%02X")), "percent, small": each(v, "", formatted("%%%02x")), "percent, mixed": each(v, "", mixed("%%%02x")), "percent, twice": each(v, "", mixed("%%25%02X")), "percent, three times": each(v, "", formatted("%%2525%02X")),
		"JSON, escaped": each(v, "", formatted(`\u%04x`)), "JSON, mixed": each(v, "", mixed(`\u%04X`)), "JSON in JSON": each(v, "", mixed(`\\u%04X`)), "braces": each(v, "", formatted(`\u{%x}`)),
		"HTML": each(v, "", formatted("&#%d;")), "HTML, hex": each(v, "", mixed("&#x%X;")),
		"quoted-printable": each(v, "", mixed("=%02X")), "quoted-printable, broken": v[:7] + "=\n" + v[7:],
		"reversed": backwards(v), "reversed, spaced": each(backwards(v), " ", itself),
	}
	for name, between := range map[string]string{"blank": " ", "line": "\n", "dash": "-", "dot": ".", "comma": ", ", "zero width": "\u200b", "joiner": "\u2060", "wide blank": "\u2003", "quotes": "', '", "escaped": "%20"} {
		out["spaced by "+name] = each(v, between, itself)
	}
	return out
}

const (
	plainKnown = "Tr0ub4dor-zebra!x9"
	wordsKnown = "correct horse"
)

// TestAKnownValueIsMaskedInEverySpelling prints a secret in all forms, alone, within
// other text and cut anywhere.
func TestAKnownValueIsMaskedInEverySpelling(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{Known: []string{plainKnown}})
	for name, spelt := range spellings(plainKnown) {
		for _, text := range []string{spelt, "x " + spelt + " y", "\"" + spelt + "\"\n", "https://h.example/?q=" + spelt + "&b=1"} {
			got := r.Text(text)
			if part := shows(got, spelt); !strings.Contains(got, "***") || len(part) > 7 {
				t.Errorf("%s: %q became %q", name, text, got)
			}
			for _, size := range []int{1, 2, 3, 5, 8, 13} {
				out := streamed(r, text, func(int) int { return size })
				if part := shows(out, spelt); !strings.Contains(out, "***") || len(part) > 7 {
					t.Errorf("%s in pieces of %d: %q became %q", name, size, text, out)
				}
			}
		}
	}
}

// TestWordsAreMaskedInEscapesOnly has a known value of words: in blanks and backwards
// it may be an ordinary text.
func TestWordsAreMaskedInEscapesOnly(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{Known: []string{wordsKnown, "20261122", "swordfish", "abc123"}})
	for name, spelt := range spellings(wordsKnown) {
		loose := strings.Contains(name, "reversed") || strings.HasPrefix(name, "spaced")
		if got := r.Text(spelt); !loose && got == spelt {
			t.Errorf("%s: %q is shown", name, got)
		}
	}
	for _, text := range []string{"correct, horse", "esroh tcerroc", "2026-11-22", "s w o r d f i s h", "hsifdrows", "abc 123", "321cba", "a.b.c.1.2.3"} {
		if got := r.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestAlmostAKnownValueStays has texts that begin like a known value.
func TestAlmostAKnownValueStays(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{Known: []string{plainKnown}})
	for _, text := range []string{"Tr0ub4dor-zebra", "T r 0 u b 4 d o r", "tr0ub4dor zebra x9", "x9 zebra", hex.EncodeToString([]byte("Tr0ub4dor")), "%54%72%30"} {
		if got := r.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		if got := streamed(r, text, func(int) int { return 1 }); got != text {
			t.Errorf("in pieces: %q became %q", text, got)
		}
	}
}
