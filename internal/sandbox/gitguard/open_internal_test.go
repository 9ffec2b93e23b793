package gitguard

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNothingWaitsForAPipe: what is opened below a workspace is opened by open.go, or with
// flags that do not wait.
func TestNothingWaitsForAPipe(t *testing.T) {
	t.Parallel()
	bare := regexp.MustCompile(`\bos\.(Open|OpenRoot|ReadDir|ReadFile)\b|\b(root|dir|git|Root)\.(Open|OpenRoot|ReadFile)\b|\br\.(ReadFile|FS)\(`)
	for _, dir := range []string{"../gitguard", "../plan"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") || filepath.Base(name) == "open.go" {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				if bare.MatchString(line) && !strings.Contains(line, `"/proc/`) && !strings.Contains(line, `.Open(".")`) { // an open folder itself
					t.Errorf("%s:%d opens what may be a pipe: %s", name, i+1, strings.TrimSpace(line))
				}
			}
		}
	}
}
