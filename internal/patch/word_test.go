package patch_test

import (
	"strings"
	"testing"

	"hermes/internal/patch"
)

// TestInexactMatchNeverCutsAWord: only a search text that is in the file byte
// for byte may begin or end inside a word.
func TestInexactMatchNeverCutsAWord(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, content, old, new string }{
		{"trimmed, inside a word", "width = 1\n", "\n  id\n", "\n  ident\n"},
		{"trimmed, the start of a word", "identity = 1\n", " ident\n", " name\n"},
		{"trimmed, the end of a word", "the grid = 1\n", "\tid ", "\tx "},
		{"trimmed at one side only", "grid x\n", "id\n", "ident\n"},
		{"blanks, the end of a word", "print  a;\n", "int a;", "long a;"},
		{"blanks, the start of a word", "x =  10\n", "x = 1", "x = 2"},
		{"escapes", "a\nbc\n", `a\nb`, "x"},
		{"typography", "say “no”where\n", `"no"w`, `"yes"w`},
		{"indentation", "\tif a {\n\t\tcount()\n", "if a {\ncou", "if b {\ncou"},
		{"letters that are not ASCII", "naïveté  x\n", "té x", "ty x"},
		{"a letter of one byte", "caf\xe9  x\n", " caf\n", " tea\n"},
		{"digits and underscores", "max_size  = 1\n", "size = 1", "size = 2"},
		{"a combining mark", "cafe\u0301  x\n", " cafe ", " tea "},
	} {
		got, err := patch.Replace(tt.content, tt.old, tt.new, false)
		if err == nil || !strings.Contains(err.Error(), "was not found") {
			t.Errorf("%s: got %q by %s, %v; want not found", tt.name, got.Text, got.Strategy, err)
		}
		if got, err := patch.Replace(tt.content, tt.old, tt.new, true); err == nil {
			t.Errorf("%s, all: got %q by %s", tt.name, got.Text, got.Strategy)
		}
	}
}

// TestInexactMatchPassesWordsItCuts finds the whole word behind one that only
// contains it.
func TestInexactMatchPassesWordsItCuts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, content, old, new, want string }{
		{"trimmed", "width id grid\n", "\n  id\n", "\n  ident\n", "width ident grid\n"},
		{"blanks", "print  a;\nint  a;\n", "int a;", "long a;", "print  a;\nlong a;\n"},
		{"escapes", "ab\nc\nb\nc\n", `b\nc`, "x\ny", "ab\nc\nx\ny\n"},
		{"typography", "kino “x” no “x”\n", `no "x"`, `no "y"`, "kino “x” no “y”\n"},
		{"indentation", "\ta\n\tbc\n\ta\n\tb c\n", "a\nb", "x\ny", "\ta\n\tbc\n\tx\n\ty c\n"},
		{"a script without blanks", "今天  是星期一\n", "天 是", "年 是", "今年 是星期一\n"},
		{"overlapping candidates", "aid id\n", " id ", " x ", "aid x\n"},
	} {
		got, err := patch.Replace(tt.content, tt.old, tt.new, false)
		if err != nil || got.Text != tt.want {
			t.Errorf("%s: got %q by %s, %v, want %q", tt.name, got.Text, got.Strategy, err, tt.want)
		}
	}
}

// TestExactMatchMayCutAWord: what is quoted byte for byte is what was meant.
func TestExactMatchMayCutAWord(t *testing.T) {
	t.Parallel()
	if got, err := patch.Replace("width = 1\n", "id", "ee", false); err != nil || got.Text != "weeth = 1\n" {
		t.Errorf("got %q, %v", got.Text, err)
	}
}
