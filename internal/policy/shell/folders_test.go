package shell_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/policy/shell"
)

// TestPathsOfFolders is about the folders that a line changes to.
func TestPathsOfFolders(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"cd svc":                             {"svc"},
		"cd svc&&ls":                         {"svc"},
		"make;cd svc;ls":                     {"svc"},
		"make\ncd svc\nls":                   {"svc"},
		"(cd svc; make) && pushd lib":        {"svc", "lib"},
		"cd svc && cd api/v1 && cd ..":       {"svc", "svc/api/v1", "svc/api"},
		"cd 'my dir'; cd \"a b\"/c":          {"my dir", "my dir/a b/c"},
		`cd my\ dir`:                         {"my dir"},
		"cd -P -- /srv/x >/dev/null":         {"/srv/x"},
		"if true; then cd a; fi":             {"a"},
		"for d in a b; do cd $d; done; cd c": {"a", "b"},
		"cd $DIR && ls":                      nil,
		"cd $DIR; cd sub; cd /abs; cd below": {"/abs", "/abs/below"},
		"cd *; cd a?; cd ~/x":                {"~/x"},
		"cd; cd -; pushd +1; popd":           nil,
		"echo cd svc; abcd x; git -C cd log": {"x", "cd", "log"},
		"echo 'cd svc'":                      nil,
		"ls svc":                             {"svc"},
		"cd a; echo \"unclosed":              {"a"},
	} {
		if diff := cmp.Diff(want, shell.Paths(line)); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	}
}
