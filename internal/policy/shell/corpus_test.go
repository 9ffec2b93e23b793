package shell_test

import (
	"os"
	"strings"
	"testing"

	"hermes/internal/policy/shell"
)

// corpusGroup is a named part of a file of command lines.
type corpusGroup struct {
	name  string
	lines []string
}

// readCorpus reads a file of command lines. A line that begins with mark and a
// space opens a group; other lines that begin with "# " before the first group,
// and empty lines, are skipped. The sign ⏎ is a line break inside a command.
func readCorpus(t *testing.T, path, mark string) []corpusGroup {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var groups []corpusGroup
	for line := range strings.SplitSeq(string(raw), "\n") {
		name, opens := strings.CutPrefix(line, mark+" ")
		switch {
		case opens:
			groups = append(groups, corpusGroup{name: name})
		case line == "" || len(groups) == 0 || strings.HasPrefix(line, "# "):
		default:
			last := &groups[len(groups)-1]
			last.lines = append(last.lines, strings.ReplaceAll(line, "⏎", "\n"))
		}
	}
	return groups
}

// TestHostileLinesAreNotAllowed: every line of the corpus needs approval or is
// refused.
func TestHostileLinesAreNotAllowed(t *testing.T) {
	t.Parallel()
	groups := readCorpus(t, "testdata/hostile.txt", "==")
	seen := map[string]bool{}
	for _, g := range groups {
		for _, line := range g.lines {
			if seen[line] {
				t.Errorf("%s: %q is there twice", g.name, line)
			}
			seen[line] = true
			if v := shell.Judge(line, testContext()); v.Level() == shell.Allow {
				t.Errorf("%s: allowed: %s", g.name, line)
			}
		}
	}
	if len(groups) < 20 || len(seen) < 400 {
		t.Errorf("%d lines in %d groups, want at least 400 in 20", len(seen), len(groups))
	}
}

// TestEverydayLinesAreNotAskedAbout: of the 200 lines that public projects use,
// at most 8 need approval, and none is refused.
func TestEverydayLinesAreNotAskedAbout(t *testing.T) {
	t.Parallel()
	total := 0
	var asked []string
	for _, g := range readCorpus(t, "testdata/everyday.txt", "#") {
		total += len(g.lines)
		for _, line := range g.lines {
			v := shell.Judge(line, testContext())
			switch v.Level() {
			case shell.Ask:
				asked = append(asked, line+"  "+strings.Join(keys(v), " "))
			case shell.Refuse:
				t.Errorf("%s: refused: %s  %v", g.name, line, keys(v))
			}
		}
	}
	t.Logf("asked about %d of %d:\n%s", len(asked), total, strings.Join(asked, "\n"))
	if total != 200 || len(asked) > 8 {
		t.Errorf("asked about %d of %d lines, want at most 8 of 200", len(asked), total)
	}
}

// TestUsualLinesAreNotAskedAbout: ordinary work of a developer asks nothing.
func TestUsualLinesAreNotAskedAbout(t *testing.T) {
	t.Parallel()
	for _, g := range readCorpus(t, "testdata/usual.txt", "#") {
		for _, line := range g.lines {
			if v := shell.Judge(line, testContext()); v.Level() != shell.Allow {
				t.Errorf("%s: asked about: %s  %v", g.name, line, keys(v))
			}
		}
	}
}
