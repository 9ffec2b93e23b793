package patch_test

import (
	"strings"
	"testing"

	"hermes/internal/patch"
)

// TestTypographyMatchesBothWays: dashes, quotes, ellipses and special blanks
// match their ASCII equivalents in both directions, also those of another
// length. What the change does not touch keeps the file's form.
func TestTypographyMatchesBothWays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, content, old, new, want string }{
		{"em dash as two hyphens", "one — two — three\n", "one -- two -- three", "one -- 2 -- three", "one — 2 — three\n"},
		{"em dash as one hyphen", "one—two\n", "one-two", "one-2", "one—2\n"},
		{"em dash as three hyphens, en dash as two", "a — b, 1–5\n", "a --- b, 1--5", "a --- c, 1--5", "a — c, 1–5\n"},
		{"em dash as two hyphens, en dash as one", "a — b, 1–5\n", "a -- b, 1-5", "a -- c, 1-5", "a — c, 1–5\n"},
		{"both dashes as two hyphens", "a — b, 1–5\n", "a -- b, 1--5", "a -- c, 1--5", "a — c, 1–5\n"},
		{"horizontal bar and minus", "― q: 3 − 1\n", "-- q: 3 - 1", "-- r: 3 - 1", "― r: 3 − 1\n"},
		{"a dash where the file has hyphens", "one -- two\n", "one — two", "one — 2", "one -- 2\n"},
		{"an en dash where the file has a hyphen", "pages 1-5\n", "pages 1–5", "pages 1–5 and 7", "pages 1-5 and 7\n"},
		{"ellipsis as dots", "wait… now\n", "wait... now", "wait... then", "wait… then\n"},
		{"dots as ellipsis", "wait... now\n", "wait… now", "wait… then", "wait... then\n"},
		{"quotes as ASCII", "“a” ‘b’ „c‟ «d» ‹e› ″f″\n", `"a" 'b' "c" "d" 'e' "f"`, `"a" 'b' "c" "d" 'e' "g"`, "“a” ‘b’ „c‟ «d» ‹e› ″g″\n"},
		{"ASCII as quotes", "\"a\" it's\n", "“a” it’s", "“b” it’s", "\"b\" it's\n"},
		{"one typographic quote as another", "“a” don’t\n", "„a“ don‘t", "„b“ don‘t", "“b” don’t\n"},
		{"no-break and thin blanks", "10\u00a0km, 5\u202f%, a\u2009b\n", "10 km, 5 %, a b", "11 km, 5 %, a b", "11\u00a0km, 5\u202f%, a\u2009b\n"},
		{"no-break blanks in the search text", "10 km away\n", "10\u00a0km away", "10\u00a0km off", "10 km off\n"},
		{"a changed line and a new one", "it’s — so…\nend\n", "it's -- so...\nend", "it's -- thus...\nand more\nend", "it’s — thus…\nand more\nend\n"},
		{"two changed lines that become one", "“a” — 1\n“b” — 2\nend\n", "\"a\" -- 1\n\"b\" -- 2\nend", "\"a\" -- 3\nend", "“a” — 3\nend\n"},
		{"each line in its own way", "    a — b\n    1–5\n", "a -- b\n1-5\n", "a -- c\n1-6\n", "    a — c\n    1–6\n"},
		{"a dash that is added stays as it was sent", "a — b\n", "a -- b", "a -- b -- c", "a — b -- c\n"},
		{"a dash that is removed", "a — b — c\n", "a -- b -- c", "a -- b", "a — b\n"},
	} {
		got, err := patch.Replace(tt.content, tt.old, tt.new, false)
		if err != nil || got.Text != tt.want || got.Strategy != "unicode-normalised" {
			t.Errorf("%s: got %q by %s, %v, want %q", tt.name, got.Text, got.Strategy, err, tt.want)
		}
		all, err := patch.Replace(tt.content, tt.old, tt.new, true)
		if err != nil || all.Text != tt.want {
			t.Errorf("%s, all: got %q by %s, %v, want %q", tt.name, all.Text, all.Strategy, err, tt.want)
		}
	}
}

// TestTypographyKeepsASCIIApart: two spellings in ASCII are not the same text.
func TestTypographyKeepsASCIIApart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ content, old string }{
		{"“x” i--; y\n", "\"x\" i-; y"},
		{"“x” --flag\n", `"x" -flag`},
		{"“x” a.. b\n", `"x" a... b`},
		{"— `x`\n", "-- 'x'"},
		{"wait… now\n", "wait.. now"},
		{"wait…. now\n", "wait... now"},
	} {
		if got, err := patch.Replace(tt.content, tt.old, "something else", false); err == nil {
			t.Errorf("%q in %q: got %q by %s", tt.old, tt.content, got.Text, got.Strategy)
		}
	}
}

// TestHintThatIsWrong: a hunk that fits one place needs no hint, and the model
// learns that its hint was wrong. A hint that has to decide must be right.
func TestHintThatIsWrong(t *testing.T) {
	t.Parallel()
	const content = "func f() {\n\ta()\n\tb()\n}\n\nfunc g() {\n\ta()\n\tc()\n}\n"
	for _, tt := range []struct{ name, hunk, note, want string }{
		{"not in the file", "@@ func nope() @@\n \ta()\n-\tb()\n+\tB()\n", "func nope()", "func f() {\n\ta()\n\tB()\n}\n\nfunc g() {\n\ta()\n\tc()\n}\n"},
		{"below the place", "@@ func g() {\n \ta()\n-\tb()\n+\tB()\n", "func g() {", "func f() {\n\ta()\n\tB()\n}\n\nfunc g() {\n\ta()\n\tc()\n}\n"},
		{"the second of two", "@@ func f() {\n@@ nope\n \ta()\n-\tb()\n+\tB()\n", "nope", "func f() {\n\ta()\n\tB()\n}\n\nfunc g() {\n\ta()\n\tc()\n}\n"},
		{"a right one", "@@ func g() {\n-\ta()\n+\tA()\n", "", "func f() {\n\ta()\n\tb()\n}\n\nfunc g() {\n\tA()\n\tc()\n}\n"},
		{"in other typography", "@@ func g() {\n-\tc()\n+\tC()\n", "", "func f() {\n\ta()\n\tb()\n}\n\nfunc g() {\n\ta()\n\tC()\n}\n"},
	} {
		p, err := patch.Parse(wrap("*** Update File: a\n" + tt.hunk))
		if err != nil {
			t.Fatal(err)
		}
		done, err := p.Apply(reader(map[string]string{"a": content}))
		if err != nil || len(done.Changes) != 1 || done.Changes[0].After != tt.want {
			t.Errorf("%s: got %+v, %v", tt.name, done, err)
			continue
		}
		if note := strings.Join(done.Notes, "; "); tt.note == "" && note != "" || !strings.Contains(note, tt.note) {
			t.Errorf("%s: the note is %q, want one with %q", tt.name, note, tt.note)
		}
	}
	for name, hunk := range map[string]string{
		"two places fit":       "@@ nope @@\n-\ta()\n+\tA()\n",
		"only similar lines":   "@@ nope @@\n func f() {\n-\ta(1)\n-\tb()\n+\tB()\n }\n",
		"nothing but new text": "@@ nope @@\n+\tA()\n",
	} {
		p, err := patch.Parse(wrap("*** Update File: a\n" + hunk))
		if err != nil {
			t.Fatal(err)
		}
		if done, err := p.Apply(reader(map[string]string{"a": content})); err == nil || !strings.Contains(err.Error(), "nope") {
			t.Errorf("%s: got %+v, %v, want an error that names the hint", name, done, err)
		}
	}
}
