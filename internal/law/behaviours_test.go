package law_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestBehavioursAreProven keeps docs/behaviours.md true: every rule of its
// tables names tests that exist in the file that it names, or says what it
// comes with.
func TestBehavioursAreProven(t *testing.T) {
	t.Parallel()
	root := mustRoot(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "behaviours.md"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(file string) (string, error) {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		return string(text), err
	}
	rules, faults := unproven(string(page), read)
	for _, fault := range faults {
		t.Error("docs/behaviours.md, " + fault)
	}
	if rules < 100 {
		t.Errorf("docs/behaviours.md has %d rules: the table was not read", rules)
	}
}

var proof = regexp.MustCompile("^`([a-z0-9_/]+_test\\.go)` ((?:Test|Fuzz)[A-Za-z0-9]+(?:, (?:Test|Fuzz)[A-Za-z0-9]+)*)$")

// unproven counts the rules of a page and names those that have no proof.
func unproven(page string, read func(file string) (string, error)) (rules int, faults []string) {
	n := 0
	for line := range strings.Lines(page) {
		n++
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) == 2 && cells[0] == "| rule" {
			continue
		}
		rules++
		if len(cells) != 2 {
			faults = append(faults, fmt.Sprintf("line %d: a row is a rule and its proof", n))
			continue
		}
		proofs := strings.TrimSuffix(cells[1], " |")
		if strings.HasPrefix(proofs, "comes with ") {
			continue
		}
		for part := range strings.SplitSeq(proofs, "; ") {
			m := proof.FindStringSubmatch(part)
			if m == nil {
				faults = append(faults, fmt.Sprintf("line %d: %q is not a file and its tests", n, part))
				continue
			}
			text, err := read(m[1])
			if err != nil {
				faults = append(faults, fmt.Sprintf("line %d: %v", n, err))
				continue
			}
			for name := range strings.SplitSeq(m[2], ", ") {
				if !strings.Contains(text, "\nfunc "+name+"(") {
					faults = append(faults, fmt.Sprintf("line %d: %s has no %s", n, m[1], name))
				}
			}
		}
	}
	return rules, faults
}

func TestARuleWithoutProofIsFound(t *testing.T) {
	t.Parallel()
	read := func(file string) (string, error) {
		if file != "a/b_test.go" {
			return "", os.ErrNotExist
		}
		return "package b\n\nfunc TestOne(t *testing.T) {}\n", nil
	}
	for row, bad := range map[string]bool{
		"| a rule | `a/b_test.go` TestOne |":                        false,
		"| a rule | comes with the gateway |":                       false,
		"| a rule | `a/b_test.go` TestOne, TestTwo |":               true,
		"| a rule | `a/b_test.go` TestOn |":                         true,
		"| a rule | `a/c_test.go` TestOne |":                        true,
		"| a rule | somebody has seen it |":                         true,
		"| a rule | `a/b_test.go` TestOne; `a/c_test.go` TestOne |": true,
		"| a rule without a proof |":                                true,
	} {
		rules, faults := unproven("# Page\n\n| rule | proof |\n|---|---|\n"+row+"\n", read)
		if rules != 1 || (len(faults) > 0) != bad {
			t.Errorf("%s: %d rules, %v", row, rules, faults)
		}
	}
}
