package shell_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/policy/shell"
)

func TestLastCommandDecides(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"grep x y":                    {"grep", "x", "y"},
		"cd a && make; diff a b":      {"diff", "a", "b"},
		"cat x | sort | grep -c y":    {"grep", "-c", "y"},
		"A=1 /usr/bin/grep x":         {"grep", "x"},
		"sudo env B=2 timeout 3 grep": {"grep"},
		"true || git diff --quiet":    {"git", "diff", "--quiet"},
		"! grep x y":                  nil,
		"(grep x)":                    nil,
		"grep 'open":                  nil,
		"":                            nil,
		"A=1":                         nil,
	} {
		if diff := cmp.Diff(shell.LastCommand(line), want); diff != "" {
			t.Errorf("%q: got (-) want (+)\n%s", line, diff)
		}
	}
}
