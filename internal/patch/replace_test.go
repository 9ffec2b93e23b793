package patch_test

import (
	"strings"
	"testing"

	"hermes/internal/patch"
)

func TestReplaceStrategies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, content, old, new string
		want, strategy          string
	}{
		{
			name:    "exact",
			content: "a\nb\nc\n", old: "b", new: "B",
			want: "a\nB\nc\n", strategy: "exact",
		}, {
			name:    "line-trimmed keeps the file's depth and its untouched lines",
			content: "func f() {\n\t\tone()  \n\t\ttwo()\n}\n",
			old:     "one()\ntwo()", new: "one()\nTWO()\nthree()",
			want: "func f() {\n\t\tone()  \n\t\tTWO()\n\t\tthree()\n}\n", strategy: "line-trimmed",
		}, {
			name:    "whitespace runs count as one blank",
			content: "x   =  1;  y = 2\n", old: "x = 1;", new: "x = 7;",
			want: "x = 7;  y = 2\n", strategy: "whitespace-normalised",
		}, {
			name:    "a match that ends in a non-space leaves the blank after it",
			content: "int  a;   // note\n", old: "int a;", new: "long a;",
			want: "long a;   // note\n", strategy: "whitespace-normalised",
		}, {
			name:    "indentation-flexible, last line short of its end",
			content: "class A:\n        def f(self):\n            return 1  # one\n",
			old:     "def f(self):\nreturn 1", new: "def f(self):\nreturn 2",
			want: "class A:\n        def f(self):\n            return 2  # one\n", strategy: "indentation-flexible",
		}, {
			name:    "escape-normalised line breaks in the search",
			content: "one\ntwo\nthree\n", old: `one\ntwo`, new: "ONE\nTWO",
			want: "ONE\nTWO\nthree\n", strategy: "escape-normalised",
		}, {
			name:    "trimmed boundary",
			content: "call(a, b); more()\n", old: "\n  call(a, b);\n", new: "\n  call(b, a);\n",
			want: "call(b, a); more()\n", strategy: "trimmed-boundary",
		}, {
			name:    "typography in the file, plain in the search; untouched characters keep their form",
			content: "say “don’t” – now… ok\n", old: `say "don't" - now... ok`, new: `say "don't" - later... ok`,
			want: "say “don’t” – later… ok\n", strategy: "unicode-normalised",
		}, {
			name:    "no-break and other space separators, minus",
			content: "a\u00a0b\u2003c \u2212 d\n", old: "a b c - d", new: "a b c - e",
			want: "a\u00a0b\u2003c \u2212 e\n", strategy: "unicode-normalised",
		}, {
			name:    "typography and depth at once",
			content: "if x {\n    log(‘hi’)\n    go()\n}\n", old: "log('hi')\ngo()", new: "log('hi there')\ngo()",
			want: "if x {\n    log(‘hi there’)\n    go()\n}\n", strategy: "unicode-normalised",
		}, {
			name:    "block anchors with inner lines alike",
			content: "begin\n  total := sum(values)\n  print(total)\nend\nafter\n",
			old:     "begin\n  total := sum(value)\n  print(total)\nend", new: "begin\n  total := sum(value)\n  print(total, 1)\nend",
			want: "begin\n  total := sum(values)\n  print(total, 1)\nend\nafter\n", strategy: "block-anchor",
		}, {
			name:    "context-aware, most lines alike",
			content: "alpha beta gamma\nsecond line here\nthird line here\nlast of them\n",
			old:     "alpha beta gamma!\nsecond line here\nthird line here", new: "alpha beta gamma!\nsecond line here\n3rd",
			want: "alpha beta gamma\nsecond line here\n3rd\nlast of them\n", strategy: "context-aware",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := patch.Replace(tt.content, tt.old, tt.new, false)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.want || got.Strategy != tt.strategy {
				t.Errorf("got %q by %s, want %q by %s", got.Text, got.Strategy, tt.want, tt.strategy)
			}
		})
	}
}

func TestReplaceRefuses(t *testing.T) {
	t.Parallel()
	block := "start\n  aaa bbb ccc\n  ddd eee fff\n  ggg hhh iii\n  jjj kkk lll\nstop\n"
	tests := []struct {
		name, content, old, new string
		all                     bool
		want                    string
	}{
		{"empty search", "a", "", "b", false, "old_string is empty"},
		{"blank search", "a", " \n\t", "b", false, "only whitespace"},
		{"identical texts", "a", "a", "a", false, "identical"},
		{"several matches", "x x x", "x", "y", false, "matches 3 places"},
		{"matches are counted without overlaps", "aaaa", "aa", "b", false, "matches 2 places"},
		{"not found", "abc", "zzzzzz", "y", false, "was not found"},
		{"half of the inner lines unrelated", block,
			"start\n  aaa bbb ccc\n  ddd eee fff\n  return to sender\n  quite something else\nstop", "start\nstop", false, "was not found"},
		{"a blank line stands against text", "top line\nsomething\nbottom line\n", "top line\n\nbottom line", "x", false, "was not found"},
		{"similarity never serves replace-all", "begin\n  total := sum(values)\nend\n", "begin\n  total := sum(value)\nend", "x", true, "was not found"},
		{"escape drift", "if x:\n  say('hi')\n  stop(1)\ndone\n", "if x:\n  say(\\'hi\\')\n  stop(1)\ndone", "if x:\n  say(\\'ho\\')\n  stop(1)\ndone", false, "escape-drift"},
		{"escape drift names the backslash", "if x:\n  say(\"hi\")\n  stop(1)\ndone\n", "if x:\n  say(\\\"hi\\\")\n  stop(1)\ndone", "if x:\n  say(\\\"ho\\\")\n  stop(1)\ndone", false, "backslash"},
		{"rogue indentation", "def f():\n  a = 1 \n  b = 2\n", "a = 1\nb = 2", "a = 1\n                    c = 3\nb = 2", false, "far deeper"},
		{"spelled line breaks throughout", "one\ntwo\n", `one\ntwo`, `1\n2`, false, "real line breaks"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := patch.Replace(tt.content, tt.old, tt.new, tt.all)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %+v, error %v; want an error with %q", got, err, tt.want)
			}
			if got.Text != "" {
				t.Errorf("a refused replacement gave text %q", got.Text)
			}
		})
	}
}

func TestReplaceEdges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, content, old, new string
		all                     bool
		want                    string
		count                   int
	}{
		{"all of them", "x y x", "x", "z", true, "z y z", 2},
		{"CRLF stays and comes to new lines", "a\r\nb\r\nc\r\n", "b\n", "b\nB\n", false, "a\r\nb\r\nB\r\nc\r\n", 1},
		{"CRLF in a request for an LF file", "a\nb\nc\n", "a\r\nb", "a\r\nx\r\nb", false, "a\nx\nb\nc\n", 1},
		{"mixed endings stay as they are", "a\r\nb\nc\nd\r\n", "c\n", "C\nE\n", false, "a\r\nb\nC\nE\nd\r\n", 1},
		{"byte order mark stays", "\ufeffa\nb\n", "a", "A", false, "\ufeffA\nb\n", 1},
		{"no final line break stays so", "a\nb", "b", "c", false, "a\nc", 1},
		{"bytes that are no UTF-8 stay", "a\xff\xfe\nkey = 1\n\x80z\n", "key = 1", "key = 2", false, "a\xff\xfe\nkey = 2\n\x80z\n", 1},
		{"bytes shown as replacement characters can be quoted", "name\xff = 1\n", "name\ufffd = 1", "name\ufffd = 2", false, "name\xff = 2\n", 1},
		{"literal backslash-t becomes a tab where the region has one", "\tone\n", "\tone", `\ttwo`, false, "\ttwo\n", 1},
		{"literal backslash-t stays where it has none", "one\n", "one", `a\tb`, false, "a\\tb\n", 1},
		{"literal backslash-t stays beside real tabs", "\tprint(1)\n", "\tprint(1)", "\tprint(\"a\\tb\")", false, "\tprint(\"a\\tb\")\n", 1},
		{"literal backslash-n stays", "a\nb\n", "a\nb", `a\nb`, false, "a\\nb\n", 1},
		{"new lines go to the file's tabs", "\tif x {\n\t\ta()\n\t}\n", "if x {\n    a()\n}", "if x {\n    a()\n    if y {\n        b()\n    }\n}", false,
			"\tif x {\n\t\ta()\n\t\tif y {\n\t\t\tb()\n\t\t}\n\t}\n", 1},
		{"blank lines come as given", "  a = 1\n  b = 2\n", "a = 1\nb = 2", "a = 1\n\n   \nb = 3", false, "  a = 1\n\n   \n  b = 3\n", 1},
		{"shallower than anything quoted", "        x = 1\n        y = 2\n", "    x = 1 \n    y = 2", "    x = 1 \nz = 3", false, "        x = 1\n    z = 3\n", 1},
		{"deep line after an opener is fine", "def f():\n  a = 1 \n  b = 2\n", "a = 1\nb = 2", "a = call(\n              3)\nb = 2", false, "def f():\n  a = call(\n                3)\n  b = 2\n", 1},
		{"deletion", "a\nb\nc\n", "b\n", "", false, "a\nc\n", 1},
		{"done already", "return compute(2)\n", "return compute(1, 2, 3, 4)", "return compute(2)", false, "return compute(2)\n", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := patch.Replace(tt.content, tt.old, tt.new, tt.all)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.want || got.Count != tt.count {
				t.Errorf("got %q (%d, %s)\nwant %q (%d)", got.Text, got.Count, got.Strategy, tt.want, tt.count)
			}
			if (got.Strategy == patch.AlreadyApplied) != (tt.count == 0) {
				t.Errorf("strategy %q for %d passages", got.Strategy, got.Count)
			}
		})
	}
}

func TestShortTextDoesNotProveAnEarlierEdit(t *testing.T) {
	t.Parallel()
	if got, err := patch.Replace("x = 1\n", "y = 2 and more", "x = 1", false); err == nil {
		t.Errorf("got %+v, want not found", got)
	}
}

func TestReplaceReportsTheLine(t *testing.T) {
	t.Parallel()
	got, err := patch.Replace("one\r\ntwo and two\r\nthree\r\n", "three", "two and two", false)
	if err != nil || got.Line != 3 {
		t.Errorf("line %d, want 3 (%v)", got.Line, err)
	}
}

func TestAmbiguousShowsPlaces(t *testing.T) {
	t.Parallel()
	_, err := patch.Replace(strings.Repeat("pad\n  hit here\n", 7), "hit here", "x", false)
	if err == nil {
		t.Fatal("want an error")
	}
	for _, want := range []string{"matches 7 places", "L2: hit here", "L10: hit here", "and 2 more", "replace_all"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	content := "package main\n\nfunc handleRequest(w Writer) {\n\treturn\n}\n"
	_, err := patch.Replace(content, "func handleRequests(w io.Writer) {\n\tpanic(1)\n\tother()", "x", false)
	if err == nil || !strings.Contains(err.Error(), "Did you mean") || !strings.Contains(err.Error(), "    3| func handleRequest(w Writer) {") {
		t.Errorf("want a hint with line 3, got %v", err)
	}
	_, err = patch.Replace(content, "SELECT 1 FROM dual", "x", false)
	if err == nil || strings.Contains(err.Error(), "Did you mean") {
		t.Errorf("want no hint where nothing is similar, got %v", err)
	}
	_, err = patch.Replace("a a", "a", "b", false)
	if err == nil || strings.Contains(err.Error(), "Did you mean") {
		t.Errorf("want no hint for other errors, got %v", err)
	}
}
