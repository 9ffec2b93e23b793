package shell_test

import (
	"testing"

	"hermes/internal/policy/shell"
)

// TestGNUProgramsAreJudgedUnderBothNames: macOS calls them with a g before the name.
func TestGNUProgramsAreJudgedUnderBothNames(t *testing.T) {
	t.Parallel()
	checkLevels(t, shell.Refuse, []string{"gchmod -R 777 /", "grm -rf /", "gdd if=x of=/dev/sda", "genv grm -rf /", "gtee /etc/passwd < x", "gtruncate -s 0 /etc/passwd", "gfind / -delete"})
	checkLevels(t, shell.Ask, []string{"gtruncate -s 0 notes.md", "gln -sf a ~/.bashrc", "gshred x", "find . -type f | gxargs grm"})
	checkLevels(t, shell.Allow, []string{"gls -la", "gstat x", "gtail -f x", "gcat a > b", "gsed s/a/b/ x", "gcc x.c", "gmake", "gtimeout 5 ls"})
}
