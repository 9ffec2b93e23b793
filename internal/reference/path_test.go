package reference_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/reference"
)

// there looks up paths among these files and folders.
func there(paths ...string) func(string) reference.Kind {
	return func(path string) reference.Kind {
		for _, p := range paths {
			switch {
			case strings.HasSuffix(p, "/") && p == strings.TrimSuffix(path, "/")+"/":
				return reference.Folder
			case p == path:
				return reference.File
			}
		}
		return ""
	}
}

// TestFindPaths: @path is a reference if there is such a file or folder.
func TestFindPaths(t *testing.T) {
	t.Parallel()
	look := there("main.go", "src/a.go", "src/", "./b.txt", "../c.txt", "~/d.txt", "/abs/e", "my notes.txt", "a dir/", "alice", "app/[id]/(x)/page.tsx", "Makefile", "x:10", "v1.2.md", "it's", "types/node/", "diff.txt")
	file := func(text, target string, lines ...int) reference.Reference {
		r := reference.Reference{Kind: reference.File, Text: text, Target: target}
		if len(lines) == 2 {
			r.From, r.To = lines[0], lines[1]
		}
		return r
	}
	folder := func(text, target string) reference.Reference {
		return reference.Reference{Kind: reference.Folder, Text: text, Target: target}
	}
	for text, want := range map[string][]reference.Reference{
		"look at @main.go please":            {file("@main.go", "main.go")},
		"@src/a.go:10-25.":                   {file("@src/a.go:10-25", "src/a.go", 10, 25)},
		"(@src/a.go:7), @Makefile!":          {file("@src/a.go:7", "src/a.go", 7, 7), file("@Makefile", "Makefile")},
		"@src/a.go#L10-L25":                  {file("@src/a.go#L10-L25", "src/a.go", 10, 25)},
		"@./b.txt and @../c.txt, @~/d.txt":   {file("@./b.txt", "./b.txt"), file("@../c.txt", "../c.txt"), file("@~/d.txt", "~/d.txt")},
		"@/abs/e":                            {file("@/abs/e", "/abs/e")},
		`see @"my notes.txt":3-4 now`:        {file(`@"my notes.txt":3-4`, "my notes.txt", 3, 4)},
		"@'my notes.txt', @`my notes.txt`":   {file("@'my notes.txt'", "my notes.txt"), file("@`my notes.txt`", "my notes.txt")},
		`in @"a dir" or @src/ or @src?`:      {folder(`@"a dir"`, "a dir"), folder("@src/", "src/"), folder("@src", "src")},
		"@app/[id]/(x)/page.tsx)":            {file("@app/[id]/(x)/page.tsx", "app/[id]/(x)/page.tsx")},
		"\"@main.go\" `@main.go` <@main.go>": {file("@main.go", "main.go")},
		"@main.go's author":                  {file("@main.go", "main.go")},
		"@main.go,@src/a.go":                 {file("@main.go", "main.go"), file("@src/a.go", "src/a.go")},
		"@x:10":                              {file("@x:10", "x:10")},
		"@v1.2.md.":                          {file("@v1.2.md", "v1.2.md")},
		"@alice said":                        {file("@alice", "alice")},
		"@file:main.go @diff @folder:src":    {{Kind: reference.File, Text: "@file:main.go", Target: "main.go"}, {Kind: reference.Diff, Text: "@diff"}, {Kind: reference.Folder, Text: "@folder:src", Target: "src"}},
		"@types/node":                        {folder("@types/node", "types/node")},
		// A path that cannot be anything else is reported if it is missing.
		"@./gone.txt, @~/gone and @../gone:3": {file("@./gone.txt", "./gone.txt"), file("@~/gone", "~/gone"), file("@../gone:3", "../gone", 3, 3)},
		"@\"./no such/file.txt\"":             {file(`@"./no such/file.txt"`, "./no such/file.txt")},
		"@diff.txt @diff":                     {file("@diff.txt", "diff.txt"), {Kind: reference.Diff, Text: "@diff"}},

		"mail bob@main.go or x@src":                nil,
		"@bob and @carol: hi":                      nil,
		"npm i @scope/pkg @babel/core@7.1":         nil,
		"@Override @property @app.route('/x')":     nil,
		"import x from \"@/lib/utils\"":            nil,
		"NSString *s = @\"hello there\";":          nil,
		"@media (max-width: 1px) { @include x; }":  nil,
		"a @ b, @, @@ -1,2 +3 @@, @. @.. @/ @~ @-": nil,
		"HEAD@{1} v@1.2 @{u}":                      nil,
		"@src/missing.go":                          nil,
		"@\"unclosed":                              nil,
		"@different":                               nil,
	} {
		if diff := cmp.Diff(want, reference.FindIn(text, look)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	if got := reference.Find("@main.go"); got != nil {
		t.Errorf("without a look at the disk: %v", got)
	}
}

// TestFindReadsLittleAfterEachSign: a pasted line with many @ costs time in
// proportion to its length, since only so much is read as a path.
func TestFindReadsLittleAfterEachSign(t *testing.T) {
	t.Parallel()
	longest := 0
	look := func(path string) reference.Kind {
		longest = max(longest, len(path))
		if path == "main.go" {
			return reference.File
		}
		return ""
	}
	got := reference.FindIn(strings.Repeat("(@a", 3000)+";@main.go,"+strings.Repeat("x", 9000), look)
	want := []reference.Reference{{Kind: reference.File, Text: "@main.go", Target: "main.go"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if longest > 1024 {
		t.Errorf("a path of %d bytes was looked up", longest)
	}
}

// TestUntrackedAloneAreAChange: a diff without changes to known files is not empty.
func TestUntrackedAloneAreAChange(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gitInit(t, dir)
	for _, want := range []string{"(no changes)", "Untracked files:\nnew.txt"} {
		e, err := sources(t, dir).Expand(t.Context(), "@diff", 0)
		if err != nil || !strings.HasPrefix(e.Attached, "Attached context:\n\n--- @diff ---\n"+want) {
			t.Errorf("%q, %v", e.Attached, err)
		}
		writeFile(t, filepath.Join(dir, "new.txt"), "new\n")
	}
	if e, err := sources(t, t.TempDir()).Expand(t.Context(), "@diff", 0); err != nil || e.Attached != "" || len(e.Warnings) != 1 {
		t.Errorf("no repository: %+v, %v", e, err)
	}
}
