package inspect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/policy/shell/inspect"
)

// TestStatusCommand is about the status of a line that failed: it names a command
// only where no other part of the line can have given that status.
func TestStatusCommand(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"grep x y":                           {"grep", "x", "y"},
		"cd a && make; diff a b":             {"diff", "a", "b"},
		"false; cd a\ngrep x y":              {"grep", "x", "y"},
		"cat x | sort | grep -c y":           {"grep", "-c", "y"},
		"A=1 /usr/bin/grep x":                {"grep", "x"},
		"true || git diff --quiet":           {"git", "diff", "--quiet"}, // it ran, or the line succeeded
		"a && b || grep x y":                 {"grep", "x", "y"},
		"a || b | grep x":                    {"grep", "x"},
		"env B=2 nice timeout 3 grep x":      {"grep", "x"},
		"grep x y 2>/dev/null":               {"grep", "x", "y"},
		"grep x y >/dev/null 2>&1":           {"grep", "x", "y"},
		"grep x <<< y":                       {"grep", "x"},
		"! a || grep x y":                    {"grep", "x", "y"},
		"[[ -f x ]]":                         {"[["},
		"echo $(false); grep x y":            {"grep", "x", "y"},
		"x && grep y z":                      nil,
		"cd x && grep y z":                   nil,
		"true && true && test -f x":          nil,
		"a || b && grep x y":                 nil,
		"a && b | grep x":                    nil,
		"a && b; c && grep x y":              nil,
		"x && [[ -f y ]]":                    nil,
		"set -o pipefail; a | grep x":        nil,
		"set -e; a; grep x y":                nil,
		"shopt -s inherit_errexit; grep x y": nil,
		"trap 'exit 1' EXIT; grep x y":       nil,
		"exit 1; grep x y":                   nil,
		"a || exit 1; grep x y":              nil,
		"test -f x || exit 1; grep x y":      nil,
		". ./env.sh; grep x y":               nil,
		"source env.sh; grep x y":            nil,
		"eval \"$x\"; grep x y":              nil,
		"$x; grep x y":                       nil,
		"\"$x\" y; grep x y":                 nil,
		"exec 3<x; grep x y":                 nil,
		"alias grep=false; grep x y":         nil,
		"grep() { false; }; grep x y":        nil,
		"function f { :; }; f; grep x y":     nil,
		"builtin exit 1; grep x y":           nil,
		"command exit 1; grep x y":           nil,
		"\\exit 1; grep x y":                 nil,
		"! grep x y":                         nil,
		"! cat x | grep y":                   nil,
		"(grep x)":                           nil,
		"{ grep x; }":                        nil,
		"a; (cd b && grep x y)":              nil,
		"if a; then grep x y; fi":            nil,
		"for i in 1; do grep x y; done":      nil,
		"grep x y &":                         nil,
		"grep x < y":                         nil, // the file may be missing
		"grep x y > z":                       nil,
		"grep x y >> z":                      nil,
		"$grep x y":                          nil,
		"gr$x x y":                           nil,
		"grep ${x:?} y":                      nil,
		"grep $((x / y)) z":                  nil,
		"sudo grep x y":                      nil, // a wrong password gives 1 as well
		"command -v grep":                    nil,
		"flock -n x grep y":                  nil,
		"xargs grep x":                       nil,
		"grep 'open":                         nil,
		"":                                   nil,
		"A=1":                                nil,
	} {
		if diff := cmp.Diff(inspect.StatusCommand(line), want); diff != "" {
			t.Errorf("%q: got (-) want (+)\n%s", line, diff)
		}
	}
}

func FuzzStatusCommand(f *testing.F) {
	f.Add("a && b | ! c; { grep x; } || timeout 3 git -C . grep y 2>&1")
	f.Fuzz(func(t *testing.T, line string) {
		args := inspect.StatusCommand(line)
		if args != nil && (len(args) == 0 || args[0] == "") {
			t.Fatalf("%q: %q", line, args)
		}
	})
}
