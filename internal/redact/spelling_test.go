package redact_test

import (
	"encoding/base32"
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

// TestAKnownValueIsMaskedInRarerSpellings has what takes two steps, or a change of letters.
func TestAKnownValueIsMaskedInRarerSpellings(t *testing.T) {
	t.Parallel()
	const quoted = "p@ss!w0rd#x&y z"
	r := redact.New(redact.Options{Known: []string{plainKnown, quoted}})
	b64 := base64.StdEncoding.EncodeToString
	b32 := base32.StdEncoding.EncodeToString([]byte(plainKnown))
	forms := map[string]string{
		"large": strings.ToUpper(plainKnown), "small": strings.ToLower(plainKnown),
		"base32": b32, "base32, small": strings.ToLower(b32), "base32, lines": b32[:9] + "\n" + b32[9:],
		"base64 twice": b64([]byte(b64([]byte(plainKnown)))), "hex of base64": hex.EncodeToString([]byte(b64([]byte(plainKnown)))),
		"base64 of hex": b64([]byte(hex.EncodeToString([]byte(plainKnown)))),
		"a shell":       `p\@ss\!w0rd\#x\&y\ z`, "a shell, in JSON": `p\\@ss\\!w0rd\\#x\\&y\\ z`,
		"lines of a file": plainKnown[:5] + "\n2|" + plainKnown[5:], "lines of a file, in JSON": plainKnown[:9] + "\\n1234|" + plainKnown[9:],
	}
	for n := range 5 {
		forms[fmt.Sprint("base32, before it ", n)] = base32.StdEncoding.EncodeToString([]byte("abcde"[:n] + plainKnown + "zz"))
	}
	for n := range 3 {
		for m := range 3 {
			forms[fmt.Sprint("base64 twice, before it ", n, m)] = b64([]byte("ab"[:m] + b64([]byte("ab"[:n]+plainKnown+"zz")) + "y"))
		}
	}
	for name, spelt := range forms {
		for _, text := range []string{spelt, "x " + spelt + " y", "\"" + spelt + "\"\n"} {
			got := r.Text(text)
			if part := shows(got, spelt); !strings.Contains(got, "***") || len(part) > 7 && !strings.Contains(name, "before") || len(got) > len(text)-8 {
				t.Errorf("%s: %q became %q", name, text, got)
			}
			for _, size := range []int{1, 2, 3, 5, 8, 13} {
				if out := streamed(r, text, func(int) int { return size }); len(out) > len(text)-5 {
					t.Errorf("%s in pieces of %d: %q became %q", name, size, text, out)
				}
			}
		}
	}
}

// dumped has the ways in which programs print bytes.
var dumped = map[string]func(data string) string{
	"xxd": func(data string) string {
		return inLines(data, func(at int, row string) string {
			digits := ""
			for i := range len(row) {
				digits += fmt.Sprintf("%02x", row[i])
				if i%2 == 1 {
					digits += " "
				}
			}
			return fmt.Sprintf("%08x: %-40s %s", at, digits, printable(row))
		})
	},
	"hexdump -C": func(data string) string {
		return inLines(data, func(at int, row string) string {
			digits := ""
			for i := range len(row) {
				if i == 8 {
					digits += " "
				}
				digits += fmt.Sprintf("%02x ", row[i])
			}
			return fmt.Sprintf("%08x  %-49s |%s|", at, digits, printable(row))
		})
	},
	"od -t x1": func(data string) string {
		return inLines(data, func(at int, row string) string { return fmt.Sprintf("%07o % x", at, row) })
	},
	"od -x": func(data string) string {
		return inLines(data, func(at int, row string) string {
			line := fmt.Sprintf("%07o", at)
			for i := 0; i < len(row); i += 2 {
				line += fmt.Sprintf(" %04x", uint16((row + "\x00")[i+1])<<8|uint16(row[i]))
			}
			return line
		})
	},
	"od -b": func(data string) string {
		return inLines(data, func(at int, row string) string {
			line := fmt.Sprintf("%07o", at)
			for i := range len(row) {
				line += fmt.Sprintf(" %03o", row[i])
			}
			return line
		})
	},
	"od -c": func(data string) string {
		return inLines(data, func(at int, row string) string {
			line := fmt.Sprintf("%07o", at)
			for i := range len(row) {
				line += fmt.Sprintf("   %c", row[i])
			}
			return line
		})
	},
}

func inLines(data string, write func(at int, row string) string) string {
	var b strings.Builder
	for at := 0; at < len(data); at += 16 {
		b.WriteString(write(at, data[at:min(len(data), at+16)]) + "\n")
	}
	return b.String()
}

func printable(row string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '.'
		}
		return r
	}, row)
}

// TestAKnownValueIsMaskedInDumps has one that goes on in the next line, in both columns.
func TestAKnownValueIsMaskedInDumps(t *testing.T) {
	t.Parallel()
	const long = `Kq7"mP2xR9s\T4vU6w-Ab1<Cd3&Ef5Gh7Jk9` // three lines
	r := redact.New(redact.Options{Known: []string{plainKnown, long}})
	for name, dump := range dumped {
		for _, secret := range []string{plainKnown, long} {
			for n := range 17 {
				text := dump(strings.Repeat("-", n) + secret + " and more text, all of it fine. Thirty letters are left.")
				for _, around := range []string{"", "json", "numbered"} {
					shown := text
					switch around {
					case "json":
						raw, err := json.Marshal(map[string]any{"output": text, "exit": 0})
						if err != nil {
							t.Fatal(err)
						}
						shown = string(raw)
					case "numbered":
						shown = ""
						for i, line := range strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n") {
							shown += fmt.Sprintf("%d|%s", i+1, line)
						}
					}
					got := r.Text(shown)
					for at := 0; at+4 <= len(secret); at++ {
						if (n+at)%16 > 12 || (n+at)%2 == 1 { // it is in two lines, or in parts of numbers
							continue
						}
						lead := strings.Repeat("\x00", (n+at)%16)
						digits := strings.TrimSuffix(dump(lead+secret[at:at+4]), "\n")
						switch name { // without the column of text
						case "xxd":
							digits = digits[:50]
						case "hexdump -C":
							digits = digits[:58]
						}
						digits = strings.TrimRight(digits, " ")
						digits = digits[len(digits)-map[string]int{"xxd": 9, "hexdump -C": 11, "od -t x1": 11, "od -x": 9, "od -b": 15, "od -c": 13}[name]:]
						if strings.Contains(got, digits) || strings.Contains(got, secret[at:at+4]) {
							t.Fatalf("%s, %d before, %s: %q is shown as %q:\n%s", name, n, around, secret[at:at+4], digits, got)
						}
					}
					if !strings.Contains(got, "***") || name != "od -c" && len(got) < len(shown)/4 {
						t.Fatalf("%s, %d before, %s: got\n%s", name, n, around, got)
					}
					for _, size := range []int{1, 3, 7, 40, 100} {
						if out := streamed(r, shown, func(int) int { return size }); out != got {
							t.Fatalf("%s, %d before, %s, in pieces of %d:\n%s\nwant\n%s", name, n, around, size, out, got)
						}
					}
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
