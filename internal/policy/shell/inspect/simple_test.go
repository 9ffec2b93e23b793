package inspect_test

import (
	"strings"
	"testing"

	"hermes/internal/policy/shell/inspect"
)

func TestSimpleListsWhatIsWrittenOut(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"go test ./...":                           "go|test|./...",
		"'go' \"test\" 'a b'":                     "go|test|a b",
		"a; b && c || d | e\nf":                   "a, b, c, d, e, f",
		"CI=1 X= go test":                         "CI=1|X=|go|test",
		"! go test 2>&1 | tail -5 >/dev/null":     "go|test, tail|-5",
		"a </dev/null 2>>/dev/null &>/dev/null":   "a",
		"go test # a comment":                     "go|test",
		"echo é '$HOME' 'a;b' \"x && y\" -o=a\tb": "echo|é|$HOME|a;b|x && y|-o=a|b",
		"[ -f a ]": "[|-f|a|]",
	} {
		got, ok := inspect.Simple(line)
		var all []string
		for _, words := range got {
			all = append(all, strings.Join(words, "|"))
		}
		if text := strings.Join(all, ", "); !ok || text != want {
			t.Errorf("%q: %q, %v", line, text, ok)
		}
	}
}

func TestSimpleRefusesWhatIsNot(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"", "# nothing", "X=1", "X=(a b)", "X+=1 a", "a &", "a & b", "a > f", "a >> f", "a < f", "a >&f", "a 3>&1", "a 2>&-", "a <<EOF\nx\nEOF", "a <<< x", "a |& b", "> /dev/null",
		"a $X", "a \"$X\"", "a ${X}", "$X", "a $(b)", "a `b`", "a <(b)", "a >(b)", "a $((1+b))", "a $'b'", "a $\"b\"", "a *", "a ?", "a [b]", "a {b,c}", "a ~/b", "a=~/b c", "a \\b", "a\\\n b",
		"(a)", "{ a; }", "a() { b; }", "function a { b; }", "if a; then b; fi", "for a in b; do c; done", "while a; do b; done", "case a in b) c;; esac", "time a", "coproc a",
		"[[ a ]]", "((a))", "export A=b", "declare a", "let a", "a 'b", "a \"b", "a ;; b", "a )", "a\r", "a\x00", "a \u200bb", "a\u00a0b", "ｇｏ test", "a =b", "(a) > /dev/null", "a | (b)", "a && { b; }",
	} {
		if got, ok := inspect.Simple(line); ok {
			t.Errorf("%q: %q", line, got)
		}
	}
}
