package search_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/search"
)

// tree makes files from a map; names ending in a slash are folders.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if strings.HasSuffix(name, "/") {
			mustDo(t, os.MkdirAll(path, 0o755))
			continue
		}
		mustDo(t, os.MkdirAll(filepath.Dir(path), 0o755))
		mustDo(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return root
}

func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustMatcher(t testing.TB, pattern string) *search.Matcher {
	t.Helper()
	m, err := search.NewMatcher(pattern)
	mustDo(t, err)
	return m
}

// names returns the files found below root, sorted.
func names(t testing.TB, q search.Query) []string {
	t.Helper()
	found, err := search.Search(context.Background(), q)
	mustDo(t, err)
	list := []string{}
	for _, f := range found.Files {
		rel, err := filepath.Rel(q.Root, f.Path)
		mustDo(t, err)
		list = append(list, filepath.ToSlash(rel))
	}
	slices.Sort(list)
	return list
}

func TestIgnoreFiles(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		".git/info/exclude": "excluded.txt\n",
		".git/HEAD":         "x",
		".gitignore":        "*.log\n!keep.log\n/build/\nnode_modules/\ndoc/*.pdf\n**/tmp\na/**/z.txt\n# comment\n\\#odd\ntrailing.txt   \n",
		"a.log":             "", "keep.log": "", "b.txt": "", "excluded.txt": "", "#odd": "", "trailing.txt": "",
		"build/x": "", "src/build/x": "", "node_modules/m/i.js": "", "src/node_modules/m.js": "",
		"doc/a.pdf": "", "doc/sub/a.pdf": "", "src/tmp/x": "", "a/z.txt": "", "a/b/c/z.txt": "", "a/y.txt": "",
		"sub/.gitignore": "*.txt\n!special.txt\n", "sub/b.txt": "", "sub/special.txt": "", "sub/keep.log": "",
		"sub/deep/.gitignore": "!*.txt\n", "sub/deep/c.txt": "", ".hidden/x": "", ".env": "",
	})
	got := names(t, search.Query{Root: root})
	want := []string{"a/y.txt", "b.txt", "doc/sub/a.pdf", "keep.log", "src/build/x", "sub/deep/c.txt", "sub/keep.log", "sub/special.txt"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := names(t, search.Query{Root: filepath.Join(root, "sub")}); !slices.Equal(got, []string{"deep/c.txt", "keep.log", "special.txt"}) {
		t.Errorf("rules of folders above hold below as well, got %v", got)
	}
	if got := names(t, search.Query{Root: filepath.Join(root, "build")}); !slices.Equal(got, []string{"x"}) {
		t.Errorf("an ignored folder asked for by name is searched, got %v", got)
	}
	if got := names(t, search.Query{Root: root, Name: search.NewGlob(".env*")}); !slices.Equal(got, []string{".env"}) {
		t.Errorf("a glob with a dot asks for hidden files, got %v", got)
	}
	if got := names(t, search.Query{Root: filepath.Join(root, ".hidden")}); !slices.Equal(got, []string{"x"}) {
		t.Errorf("a hidden folder asked for by name is searched, got %v", got)
	}
}

func TestIgnoreMatchesGit(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("git is not installed: its rules are what ours are held against")
		}
		t.Skip("git is not installed")
	}
	root := tree(t, map[string]string{
		".gitignore": "*.o\n!/keep.o\nout\n/only/here\n**/gen/*.go\nx/**\n!x/y\n[abc].txt\n?.md\ndir/\nfoo/**/bar\n*~\n\\!bang\n",
		"m.o":        "1", "keep.o": "1", "s/keep.o": "1", "out/f": "1", "s/out": "1", "only/here": "1", "s/only/here": "1",
		"gen/a.go": "1", "s/gen/a.go": "1", "s/gen/t/a.go": "1", "x/y": "1", "x/z": "1", "a.txt": "1", "d.txt": "1", "a.md": "1", "ab.md": "1",
		"dir/f": "1", "s/dir": "1", "foo/bar": "1", "foo/q/bar": "1", "foo/q/r/bar": "1", "foo/baz": "1", "n~": "1", "!bang": "1",
		"s/.gitignore": "!*.o\n/deep.txt\n", "s/deep.txt": "1", "s/t/deep.txt": "1", "s/m.o": "1",
	})
	run := func(args ...string) string {
		cmd := exec.Command(git, args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+root)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	run("init", "-q")
	want := strings.Fields(run("-c", "core.quotePath=false", "ls-files", "-co", "--exclude-standard"))
	want = slices.DeleteFunc(want, func(s string) bool { return strings.Contains("/"+s, "/.") })
	slices.Sort(want)
	if diff := cmp.Diff(want, names(t, search.Query{Root: root})); diff != "" {
		t.Errorf("unlike git (-git +ours):\n%s", diff)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	text := "Alpha one\r\nbeta two\r\n\r\nALPHA three\nta\u017fk Kelvin \u212a\ngamma alpha\nlast alpha"
	for _, pattern := range []string{
		"alpha", "(?i)alpha", "^beta", "two$", "^$", "alpha$", `\w+ three`, "one|three", "(?i)TASK", "(?i)k$", "nothing", "a.*a",
		`\bal`, "(?i)(gamma|beta) [a-z]+", `\Agamma`, `alpha\z`, "[^x]one", `\s`, "", "x*", "(?i)ALPHA|two", "a{2,}", "l(a|as)t",
	} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			root := tree(t, map[string]string{"f": text})
			found, err := search.Search(context.Background(), search.Query{Root: filepath.Join(root, "f"), Lines: mustMatcher(t, pattern)})
			mustDo(t, err)
			var got []string
			for _, f := range found.Files {
				for _, l := range f.Lines {
					got = append(got, fmt.Sprintf("%d:%s", l.Number, l.Text))
				}
			}
			if diff := cmp.Diff(plainLines(pattern, text), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// plainLines is the search without its optimisations.
func plainLines(pattern, text string) []string {
	re := regexp.MustCompile("(?m)" + pattern)
	var want []string
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSuffix(line, "\r"); re.MatchString(line) {
			want = append(want, fmt.Sprintf("%d:%s", i+1, strings.ToValidUTF8(line, "\ufffd")))
		}
	}
	return want
}

func FuzzLines(f *testing.F) {
	f.Add("(?i)ab+c|d$", "xabc\r\nABBC d\n\nq")
	f.Add("[^a]b", "a\nb\nab")
	f.Add(`\w{3}(x|yz)`, "abcx\nabcyz\x00")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		m, err := search.NewMatcher(pattern)
		if err != nil || strings.Contains(pattern, "(?") || strings.Contains(text, "\x00") || len(text) > 400 || strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") {
			return
		}
		root := tree(t, map[string]string{"f": text})
		found, err := search.Search(context.Background(), search.Query{Root: filepath.Join(root, "f"), Lines: m})
		mustDo(t, err)
		var got []string
		for _, file := range found.Files {
			for _, l := range file.Lines {
				got = append(got, fmt.Sprintf("%d:%s", l.Number, l.Text))
			}
		}
		want := plainLines(pattern, strings.TrimSuffix(text, "\n"))
		if text == "" {
			want = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: %s", pattern, diff)
		}
	})
}

func TestSearchDetails(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("filler text of no interest\n", 40_000) + "the needle is here\n" + strings.Repeat("x", 3000) + "needle" + strings.Repeat("y", 3000) + "\nend\n"
	root := tree(t, map[string]string{
		"big.txt": big, "bin.dat": "needle\x00needle", "secret.env": "needle", "bad.txt": "needle \xff\xfe\n", "ctx.txt": "1\n2\nneedle\n4\n5\n",
	})
	mustDo(t, os.Chtimes(filepath.Join(root, "ctx.txt"), time.Now(), time.Now().Add(time.Hour)))
	found, err := search.Search(context.Background(), search.Query{
		Root: root, Lines: mustMatcher(t, "needle"), Context: 1,
		Omit: func(path string) bool { return strings.HasSuffix(path, ".env") },
	})
	mustDo(t, err)
	if found.Omitted != 1 || len(found.Files) != 3 || found.Matches != 4 {
		t.Fatalf("omitted %d, files %d, matches %d; want 1, 3, 4", found.Omitted, len(found.Files), found.Matches)
	}
	if f := found.Files[0]; filepath.Base(f.Path) != "ctx.txt" {
		t.Errorf("the newest file comes first, got %s", f.Path)
	} else if diff := cmp.Diff([]search.Line{{Number: 3, Text: "needle", Before: []string{"2"}, After: []string{"4"}}}, f.Lines); diff != "" {
		t.Error(diff)
	}
	for _, f := range found.Files {
		switch filepath.Base(f.Path) {
		case "big.txt":
			if f.Lines[0].Number != 40_001 || f.Lines[0].Before[0] != "filler text of no interest" {
				t.Errorf("got %+v", f.Lines[0])
			}
			if l := f.Lines[1].Text; len(l) > 600 || !strings.Contains(l, "needle") {
				t.Errorf("a long line is cut about its match, got %d bytes: %.80s", len(l), l)
			}
		case "bad.txt":
			if f.Lines[0].Text != "needle \ufffd" {
				t.Errorf("invalid bytes are shown safely, got %q", f.Lines[0].Text)
			}
		}
	}
}

func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"a": strings.Repeat("hit\n", 100), "b": strings.Repeat("hit\n", 100)})
	found, err := search.Search(context.Background(), search.Query{Root: root, Lines: mustMatcher(t, "hit"), MaxLines: 50})
	mustDo(t, err)
	if n := len(found.Files[0].Lines); n > 50 || !found.Partial {
		t.Errorf("kept %d lines, partial %v", n, found.Partial)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if found, err := search.Search(ctx, search.Query{Root: root}); err != nil || !found.Partial {
		t.Errorf("a cancelled search is partial: %+v, %v", found, err)
	}
}

func TestGlob(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern, path string
		want          bool
	}{
		{"*.go", "a/b/c.go", true}, {"*.go", "c.gox", false}, {"*.{ts,tsx}", "x/a.tsx", true}, {"src/*.go", "src/a.go", true},
		{"src/*.go", "src/b/a.go", false}, {"src/**/*.go", "src/a.go", true}, {"src/**/*.go", "src/b/c/a.go", true}, {"src/**", "src/a/b", true},
		{"**/test_*.py", "a/test_x.py", true}, {"[a-c]?.md", "bz.md", true}, {"[!a]*", "abc", false}, {"[]x]", "]", true}, {"a[b", "a[b", true},
		{"Make*", "Makefile", true}, {"*", "anything", true}, {"./*.go", "x.go", true}, {"/top.txt", "top.txt", true}, {"/top.txt", "s/top.txt", false},
		{"ü?.txt", "üé.txt", true}, {`\*`, "*", true}, {`\*`, "x", false}, {"{a,b", "{a,b", true}, {"a{b,c{d,e}}f", "acef", true},
	}
	for _, tt := range tests {
		if got := search.NewGlob(tt.pattern).Match(tt.path); got != tt.want {
			t.Errorf("%s on %s: %v, want %v", tt.pattern, tt.path, got, tt.want)
		}
	}
	if !search.NewGlob("*config*").Fold().Match("MyConfig.JSON") {
		t.Error("a folded glob ignores case")
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("a/**/[b-d]?{x,y}*", "a/q/bcxz")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if len(pattern) < 60 && len(path) < 60 {
			search.NewGlob(pattern).Match(path)
		}
	})
}
