package inspect_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/policy/shell/inspect"
)

// TestPathsOfALine lists every word that may be a path, from where the line is
// when it comes to it. Whether such a file exists is not known here.
func TestPathsOfALine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"cat svc/x.go":                                  "svc/x.go",
		"ls svc":                                        "svc",
		"go test ./svc/... -run X":                      "test|svc|X",
		"cd svc && cat x.go":                            "svc|svc/x.go",
		"(cd svc && cat x.go); cat y":                   "svc|svc/x.go|y",
		"cd svc; cd ..; cat y":                          "svc|.|y",
		"cat /abs/x ~/y":                                "/abs/x|~/y",
		"cat < in.txt > out/o.txt 2>> err/e.txt":        "in.txt|out/o.txt|err/e.txt",
		"sort x >/dev/null 2>&1":                        "x",
		"cat <<EOF > svc/a\nlib/b\nEOF":                 "svc/a",
		"./svc/run.sh -v":                               "svc/run.sh",
		"make -C svc all":                               "svc|all",
		"cc -Isvc/include --out=bin/o x.c":              "svc/include|bin/o|x.c",
		"dd if=svc/a of=b":                              "svc/a|b",
		"A=svc/a run":                                   "svc/a",
		"cat 'my dir/x' \"a b/c\" d\\ e":                "my dir/x|a b/c|d e",
		"cat svc/*.go lib/**/x [ab].c sub/{a,b}.go":     "svc|lib|sub",
		"vet svc/x.go:12:3 HEAD:lib/y":                  "svc/x.go:12:3|svc/x.go|HEAD:lib/y|lib/y",
		"curl https://x.org/svc -o out/f":               "out/f",
		"git clone git@x.org:a/b svc":                   "clone|git@x.org:a/b|a/b|svc",
		"cat $DIR/x \"$f\" a$b":                         "",
		"cd $DIR && cat x /abs/y":                       "/abs/y",
		"pushd svc; popd; cat x":                        "svc",
		"echo svc/x; printf '%s' lib":                   "",
		"bash -c 'cd svc && cat x'; cat y":              "svc|svc/x|y",
		"sudo sh -ec \"cat lib/z\"":                     "sh|lib/z",
		"diff <(cat svc/a) $(find lib)":                 "svc/a|lib",
		"for f in svc/a lib/b; do cat $f; done":         "svc/a|lib/b",
		"cat svc/x.go; cat svc/x.go":                    "svc/x.go",
		"[ -f svc/a ] && [[ -d lib ]] && test -e b/c":   "svc/a|lib|b/c",
		"cat svc/x 'unclosed":                           "",
		"cat svc/x; echo 'unclosed":                     "svc/x",
		"":                                              "",
		"cat " + strings.Repeat("a/b ", 200) + " svc/x": "a/b|svc/x",
	} {
		if diff := cmp.Diff(want, strings.Join(inspect.Paths(line), "|")); diff != "" {
			t.Errorf("%.80q: got (+) want (-)\n%s", line, diff)
		}
	}
}

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
		if diff := cmp.Diff(want, inspect.Paths(line)); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	}
}

func FuzzPaths(f *testing.F) {
	f.Add("cd&0\xff") // which the parser tells two errors of
	f.Add("cd a && (cat b/*.c > $c); bash -c 'x {y,z}' <(q)")
	f.Fuzz(func(t *testing.T, line string) {
		for _, p := range inspect.Paths(line) {
			if p == "" || strings.Contains(p, "://") {
				t.Errorf("%q", p)
			}
		}
	})
}
