package patch_test

import (
	"strings"
	"testing"

	"hermes/internal/patch"
)

// TestAppliedNeedsTheSurroundings: an edit counts as made before only where the
// lines around the change say that it was made at that very place.
func TestAppliedNeedsTheSurroundings(t *testing.T) {
	t.Parallel()
	const two = "func f() {\n\treturn 2\n}\n\nfunc g() {\n\treturn 2\n}\n"
	for _, tt := range []struct {
		name, content, old, new string
		line                    int // 0 for a refusal
	}{
		{"lines above and below", "top\na()\nx = 2\nb()\n", "a()\nx = 1\nb()", "a()\nx = 2\nb()", 2},
		{"a line above that is the only one", two, "func f() {\n\treturn 1", "func f() {\n\treturn 2", 1},
		{"a line below that is the only one", "x\ny = 2\nreturn y\n", "y = 1\nreturn y\n", "y = 2\nreturn y\n", 2},
		{"one side is the only one", two, "func g() {\n\treturn 1\n}", "func g() {\n\treturn 2\n}", 5},
		{"a deletion between two lines", "start\nend of it\n", "start\nmiddle\nend of it", "start\nend of it", 1},
		{"an insertion between two lines", "start\nmiddle\nend of it\n", "start\nend of it", "start\nmiddle\nend of it", 1},
		{"CRLF and byte order mark", "\ufeffa()\r\nx = 2\r\nb()\r\n", "a()\nx = 1\nb()", "a()\nx = 2\nb()", 1},
		{"the whole file", "return compute(2)\n", "return calculate(everything, 2)", "return compute(2)", 1},

		{"new text somewhere else", "timeout: 30\nretries = 3\nidle timeout = 60\n", "timeout = 30", "timeout = 60", 0},
		{"new text that is common", "one\ntwo and two\nthree\n", "nowhere at all", "two and two", 0},
		{"surroundings that fit two places", "begin\n x = 2\nend\nbegin\n x = 9\nend\n", "begin\n x = 1\nend", "begin\n x = 2\nend", 0},
		{"new text that is there twice", two, "\treturn 1\n}", "\treturn 2\n}", 0},
		{"new text that begins a longer line", "def f():\n    return 25\n", "def f():\n    raise Oops(all)", "def f():\n    return 2", 0},
		{"new text that ends a longer line", "else x = 2\nnext(x)\n", "x = 1\nnext(x)", "x = 2\nnext(x)", 0},
		{"a deletion at the end of the search text", "start of it\nother\n", "start of it\nmiddle", "start of it", 0},
		{"surroundings without a word", "x\n{\nmake(other)\n}\n", "{\nbuild(thing)\n}", "{\nmake(other)\n}", 0},
		{"only blank lines around", "x\n\nreturn compute(2)\n\ny\n", "\nreturn calculate(all)\n", "\nreturn compute(2)\n", 0},
	} {
		got, err := patch.Replace(tt.content, tt.old, tt.new, false)
		switch {
		case tt.line == 0 && err == nil:
			t.Errorf("%s: got %q by %s in line %d, want an error", tt.name, got.Text, got.Strategy, got.Line)
		case tt.line > 0 && (err != nil || got.Strategy != patch.AlreadyApplied || got.Line != tt.line || got.Text != tt.content || got.Count != 0):
			t.Errorf("%s: got %+v, %v, want it applied in line %d", tt.name, got, err, tt.line)
		}
	}
}

// TestUnprovenEditSaysWhereTheNewTextIs: the model learns what it can check.
func TestUnprovenEditSaysWhereTheNewTextIs(t *testing.T) {
	t.Parallel()
	_, err := patch.Replace("one\ntwo and two\nthree\n", "nowhere at all", "two and two", false)
	if err == nil || !strings.Contains(err.Error(), "was not found") || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v", err)
	}
	_, err = patch.Replace("one\nx\n", "nowhere at all", "x", false)
	if err == nil || strings.Contains(err.Error(), "line 2") {
		t.Errorf("a short text proves nothing: %v", err)
	}
}
