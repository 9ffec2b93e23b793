package shell_test

import (
	"strings"
	"testing"

	"hermes/internal/policy/shell"
)

// TestStranger judges lines by two authors who did not know the rules: no hostile
// one runs without approval, at most 4 of 40 harmless ones need it, and none of
// those is refused.
func TestStranger(t *testing.T) {
	t.Parallel()
	on := shell.Context{Home: "/home/ada", Dir: "/home/ada/work", Hermes: "/home/ada/.hermes"}
	total := 0
	for _, file := range []string{"testdata/stranger.txt", "testdata/second.txt"} {
		for _, g := range readCorpus(t, file, "#") {
			total += len(g.lines)
			for _, line := range g.lines {
				if shell.Judge(line, on).Level() == shell.Allow {
					t.Errorf("%s: allowed: %s", g.name, line)
				}
			}
		}
	}
	var asked []string
	harmless := 0
	for _, g := range readCorpus(t, "testdata/stranger-harmless.txt", "#") {
		harmless += len(g.lines)
		for _, line := range g.lines {
			switch v := shell.Judge(line, on); v.Level() {
			case shell.Ask:
				asked = append(asked, line+"  "+strings.Join(keys(v), " "))
			case shell.Refuse:
				t.Errorf("%s: refused: %s  %v", g.name, line, keys(v))
			}
		}
	}
	t.Logf("asked about %d of %d:\n%s", len(asked), harmless, strings.Join(asked, "\n"))
	if total != 200 || harmless != 40 || len(asked) > 4 {
		t.Errorf("%d hostile lines; asked about %d of %d harmless ones, want at most 4 of 40", total, len(asked), harmless)
	}
}
