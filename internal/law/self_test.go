package law_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// mustParse makes a small module from file names and texts.
func mustParse(t *testing.T, files map[string]string) *moduleTree {
	t.Helper()
	root := fstest.MapFS{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	h, err := parseTree(root)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestForbiddenImports checks the import rules on pairs of packages.
func TestForbiddenImports(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		from, to string
		want     string // part of the reason; "" for allowed
	}{
		{"internal/agent", ".", ""},
		{"internal/agent", "internal/jsonrepair", ""},
		{"internal/agent", "internal/toolbox", "one row"},
		{"internal/agent", "internal/session", "lower layer"},
		{"internal/session", "internal/agent", ""},
		{"internal/session", "internal/provider", ""},
		{"internal/replay", "internal/agent", ""},
		{"internal/agent", "internal/replay", "lower layer"},
		{"internal/memory", "internal/learning", "one row"},
		{"internal/memory", "internal/transport/base", "libraries only"},
		{"internal/transport/chat", "internal/transport/base", ""},
		{"internal/memory/external/mem0", "internal/memory/external", ""},
		{"internal/memory/external/mem0", "internal/memory/external/local", "one row"},
		{"internal/memory", "internal/memory/external", "libraries only"},
		{"internal/session", "internal/memory/external/mem0", "names implementations"},
		{"internal/environment/daytona", "internal/environment/rented", ""},
		{"internal/environment/daytona", "internal/environment/vercel", "one row"},
		{"internal/memory", "internal/environment/rented", "libraries only"},
		{"internal/store/sqlite", "internal/store", ""},
		{"internal/memory", "internal/store", "libraries only"},
		{"internal/transport/base", "internal/transport/chat", "lower layer"},
		{"internal/review", "internal/session", "lower layer"},
		{"internal/review", "internal/agent", ""},
		{"internal/session", "internal/store/sqlite", "names implementations"},
		{"internal/provider", "internal/transport/chat", ""},
		{"internal/provider", "internal/tool/file", "names implementations"},
		{"internal/session", "internal/config", "configuration"},
		{"internal/app", "internal/config", ""},
		{"internal/app", "internal/tool/file", ""},
		{"internal/tui", "internal/session", "through internal/protocol"},
		{"internal/tui", "internal/protocol", ""},
		{"internal/tui", "internal/command", ""},
		{"internal/tui", "internal/markup", ""},
		{"internal/tui", "internal/tui/input", ""},
		{"internal/tui/input", "internal/tui", "lower layer"},
		{"internal/tui", "internal/agent", "through internal/protocol"},
		{"internal/tui", "internal/provider", "through internal/protocol"},
		{"internal/redact", ".", "does not know what Hermes is"},
		{"internal/policy", ".", "does not know what Hermes is"},
		{"internal/policy/shell", "internal/policy", ""},
		{"internal/policy", "internal/policy/shell", "lower layer"},
		{"hermestest", ".", ""},
		{"internal/cmd/chat", "internal/app", ""},
		{"internal/cmd/chat", "internal/cmd/model", "one row"},
		{"internal/cmd", "internal/cmd/chat", ""},
		{"cmd/hermes", "hermescmd", ""},
	} {
		got := forbidden(tt.from, tt.to)
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s imports %s: got %q, want %q", tt.from, tt.to, got, tt.want)
		}
	}
}

func TestWrittenVariablesAreFound(t *testing.T) {
	t.Parallel()
	h := mustParse(t, map[string]string{
		"x/a.go": `package x
import "example.org/other"
var count int
var table = map[string]int{}
var box struct{ n int }
var list []int
var fine = other.Thing()
func f() {
	count++
	table["a"] = 1
	box.n = 2
	delete(table, "a")
	for _, count = range list {
	}
	count := 1 // a local one
	count = 2
	_ = count + len(fine)
}`,
		"x/b.go": `package x
func g(list []int) { list = nil; count = 3; _ = list }`,
	})
	got := writtenVariables(h.fset, h.find("x"))
	want := []string{"x/a.go:9", "x/a.go:10", "x/a.go:11", "x/a.go:12", "x/a.go:13", "x/b.go:2"}
	if len(got) != len(want) {
		t.Fatalf("got %d faults, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i, at := range want {
		if !strings.HasPrefix(got[i], at+":") {
			t.Errorf("fault %d: got %q, want it at %s", i, got[i], at)
		}
	}
}

func TestInitAndEnvironmentAreFound(t *testing.T) {
	t.Parallel()
	h := mustParse(t, map[string]string{
		"x/a.go":      "package x\nimport (\"flag\"; \"os\")\nfunc init() { flag.Parse(); _ = os.Getenv(\"A\") }",
		"x/a_test.go": "package x\nfunc init() {}",
		"y/a.go":      "package y\nimport \"os\"\ntype T struct{}\nfunc (T) init() { _, _ = os.UserHomeDir() }",
	})
	if got := initFuncs(h.fset, h.find("x")); len(got) != 1 {
		t.Errorf("init in x: got %q, want one", got)
	}
	if got := environmentUses(h.fset, h.find("x")); len(got) != 2 {
		t.Errorf("environment in x: got %q, want the flag import and os.Getenv", got)
	}
	y := h.find("y")
	if got := append(initFuncs(h.fset, y), environmentUses(h.fset, y)...); len(got) != 0 {
		t.Errorf("y: got %q, want nothing", got)
	}
}

func TestStrayChildrenAreFound(t *testing.T) {
	t.Parallel()
	h := mustParse(t, map[string]string{
		"x/a.go": "package x\nimport \"os/exec\"\nvar _, _ = exec.LookPath(\"sh\")\nfunc f() { exec.Command(\"sh\").Run() }",
	})
	if got := startsChildren(h.fset, h.find("x")); len(got) != 1 || !strings.HasPrefix(got[0], "x/a.go:4:") {
		t.Errorf("got %q, want only line 4", got)
	}
}

func TestOwnClientsAreFound(t *testing.T) {
	t.Parallel()
	h := mustParse(t, map[string]string{
		"x/a.go": "package x\nimport \"net/http\"\nvar _ = http.Client{}\nvar _ = &http.Client{}\nvar _ = http.DefaultClient\n" +
			"func f() { http.Get(\"\") }\nvar _ http.Client\nvar _ = http.Header{}\nfunc g(h http.Header) { h.Get(\"\") }",
	})
	if got := ownClients(h.fset, h.find("x")); len(got) != 4 {
		t.Errorf("got %q, want lines 3 to 6", got)
	}
}

func TestWrongLazyExpressionsAreFound(t *testing.T) {
	t.Parallel()
	h := mustParse(t, map[string]string{
		"x/a.go": "package x\nimport \"hermes/internal/lazy\"\nconst part = \"(a\"\nvar _ = lazy.Regexp(part + `b)`)\n" +
			"var _ = lazy.Regexp(part)\nfunc f(s string) { lazy.Regexp(s) }\nvar _ = []any{lazy.Regexp(`[`)}",
	})
	n, faults := lazyExpressions(h.fset, h.find("x"))
	for i, line := range []string{"x/a.go:5:", "x/a.go:6:", "x/a.go:7:"} {
		if n != 4 || len(faults) != 3 || !strings.HasPrefix(faults[i], line) {
			t.Fatalf("got %d calls and %q, want lines 5 to 7", n, faults)
		}
	}
}

func TestForgottenLineIsFound(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"internal/tool/web/web.go":   "package web\nfunc New() int { return 0 }",
		"internal/tool/todo/todo.go": "package todo\nfunc New() int { return 0 }",
		"internal/app/tools.go":      "package app\nimport t \"hermes/internal/tool/todo\"\nvar _ = t.New()",
	}
	got := unlisted(mustParse(t, files), "internal/tool", "internal/app")
	if len(got) != 1 || !strings.HasPrefix(got[0], "internal/tool/web ") {
		t.Errorf("got %q, want only internal/tool/web", got)
	}
	delete(files, "internal/app/tools.go")
	if got := unlisted(mustParse(t, files), "internal/tool", "internal/app"); len(got) != 1 {
		t.Errorf("without app: got %q, want one sentence that says so", got)
	}
}

func TestUnmarkedChildrenAreFound(t *testing.T) {
	t.Parallel()
	h := mustParse(t, map[string]string{"x/a.go": "package x\nimport \"hermes/internal/proc\"\nvar a = proc.Command{Path: \"git\"}\nvar b = proc.Command{Files: nil}\n"})
	if got := unmarked(h.fset, h.find("x")); len(got) != 1 || !strings.HasPrefix(got[0], "x/a.go:3:") {
		t.Errorf("got %v", got)
	}
}

func TestLargeStructsAreFound(t *testing.T) {
	t.Parallel()
	h := mustParse(t, map[string]string{
		"x/a.go": "package x\ntype part struct{ a int }\ntype full struct {\n\tpart\n\ta, b, c, d, e, f, g, h, i, j, k, l, m int\n\tn string\n}\n" +
			"type over struct {\n\tpart\n\ta, b, c, d, e, f, g, h, i, j, k, l, m int\n\tn, o string\n}\n",
	})
	if got := largeStructs(h.fset, h.find("x")); len(got) != 1 || !strings.HasPrefix(got[0], "x/a.go:8:") {
		t.Errorf("got %q, want only the struct of 16 fields", got)
	}
}

func TestLargePackagesWithoutAReasonAreFound(t *testing.T) {
	t.Parallel()
	files := map[string]string{"internal/small/a.go": "package small", "a.go": "package hermes"}
	for i := range mostFiles + 1 {
		files[fmt.Sprintf("internal/large/f%d.go", i)] = "package large"
		files[fmt.Sprintf("f%d.go", i)] = "package hermes"
	}
	h := mustParse(t, files)
	table := "# Page\n" + largeTable + "\n| package | why it is one |\n|---|---|\n"
	whole := table + "| `hermes` | all use it |\n| `internal/large` | one story |\n"
	for page, want := range map[string]string{
		whole:                                 "",
		table + "| `hermes` | all use it |\n": "internal/large has 16 files",
		whole + "| `internal/small` | it was large |\n":            "internal/small has at most 15 files",
		whole + "| `internal/gone` | it was here |\n":              "internal/gone has at most 15 files",
		whole + "\n## Next\n\n| `internal/small` | a file of it |": "",
	} {
		got := strings.Join(unexplained(h, page), "\n")
		if (want == "") != (got == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s\ngot %q, want %q", page, got, want)
		}
	}
}
