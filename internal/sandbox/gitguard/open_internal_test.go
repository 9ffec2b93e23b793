package gitguard

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNothingWaitsForAPipe: what is opened below a workspace is opened by open.go, or with
// flags that do not wait.
func TestNothingWaitsForAPipe(t *testing.T) {
	t.Parallel()
	bare := regexp.MustCompile(`\bos\.(Open|OpenRoot|ReadDir|ReadFile)\(|\b(root|dir|git|Root)\.(Open|OpenRoot|ReadFile)\(|\br\.(ReadFile|FS)\(`)
	// What restores opens folders that it has just made or looked at, with all frozen.
	left := []string{"restore.go", "snapshot.go", "named.go", "open.go"}
	for _, dir := range []string{"../gitguard", "../plan"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") || slices.Contains(left, filepath.Base(name)) {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				if bare.MatchString(line) && !strings.Contains(line, `"/proc/`) {
					t.Errorf("%s:%d opens what may be a pipe: %s", name, i+1, strings.TrimSpace(line))
				}
			}
		}
	}
}
