package shell_test

import (
	"testing"

	"hermes/internal/policy/shell"
)

// TestAnAliasThatNamesItselfIsFollowedOnce: a shell does not replace the same alias
// twice, so that a usual one is no nesting without an end.
func TestAnAliasThatNamesItselfIsFollowedOnce(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"alias ls='ls -la'; ls", "alias grep='grep --color'; grep x y", "alias a=b; alias b=a; a"} {
		if v := shell.Judge(line, testContext()); v.Level() != shell.Allow {
			t.Errorf("%q: %v, want no question", line, v.Findings)
		}
	}
}
