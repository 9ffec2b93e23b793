package law_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostFiles is how many files a package has that needs no reason for it.
const mostFiles = 15

// TestLargePackagesHaveAReason keeps the table of large packages on the page complete and
// without packages that were cut since.
func TestLargePackagesHaveAReason(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(mustRoot(t), filepath.FromSlash(architecture)))
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range unexplained(mustTree(t), string(page)) {
		t.Error(fault)
	}
}

// largeTable is the heading of the table, and largeRow a row of it: a package and why it is not
// cut.
const largeTable = "\n## Packages of more than 15 files\n"

var largeRow = regexp.MustCompile("(?m)^\\| `([\\w./]+)` \\| (.+) \\|$")

// unexplained compares the packages with the table of large ones on the page.
func unexplained(h *moduleTree, page string) []string {
	reasons := map[string]string{}
	var faults []string
	_, table, _ := strings.Cut(page, largeTable)
	table, _, _ = strings.Cut(table, "\n## ")
	for _, row := range largeRow.FindAllStringSubmatch(table, -1) {
		folder := row[1]
		if folder == "hermes" {
			folder = "."
		}
		reasons[folder] = row[2]
		if p := h.find(folder); p == nil || len(p.files) <= mostFiles {
			faults = append(faults, fmt.Sprintf("%s has at most %d files: remove its row from %s", row[1], mostFiles, architecture))
		}
	}
	for _, p := range h.pkgs {
		if len(p.files) > mostFiles && reasons[p.path] == "" {
			faults = append(faults, fmt.Sprintf("%s has %d files: cut it, join files that tell one story, or give its reason in the table of %s", p.path, len(p.files), architecture))
		}
	}
	return faults
}
