package script_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/hook/script"
)

// TestARuleNarrowsAHook to the calls that fit, as in Claude Code. Where it cannot be known whether a call fits, the hook
// runs.
func TestARuleNarrowsAHook(t *testing.T) {
	t.Parallel()
	bash := func(command string) string {
		raw, _ := json.Marshal(map[string]string{"command": command})
		return string(raw)
	}
	path := func(path string) string { return fmt.Sprintf(`{"path":%q,"content":"x","old_string":"a"}`, path) }
	for _, tt := range []struct {
		rule, tool string
		fits, not  []string
	}{
		{"Bash(git push *)", "terminal", []string{
			bash("git push origin main"), bash("git push"), bash("git  push\tx"), bash("ls && git push origin"), bash("FOO=1 git push x"), bash("sudo git push x"), bash("echo $(git push x)"),
			bash("bash -c 'git push x'"), bash("ls\ngit push x"), bash("/usr/bin/git push x"), bash("git $(verb) x"), bash("$program push"), bash("git push x >/dev/null"), bash("(git push x)"),
			bash("echo 'open"), bash("if true; then git push x; fi"), `{"command":7}`,
			bash("/usr/bin/git push $REMOTE"), bash("/usr/bin/$x push"), bash("./$x y"), bash("git $nothing push x"), bash("git pus$x y"), bash(`git "$x"`), bash("g$x push"),
			bash("gi? push x"), bash("/usr/bin/gi? push origin"), bash("git pus* origin"), bash("git pus[h] x"), bash("git x* push y"), bash("X='pus*'; git $X y"), bash("bash -c 'git pus? x'"), bash("@(git) push x"), bash("env /usr/bin/git push $X"),
			bash("echo push x | xargs git"), bash("command git push x"), bash("g() { git push x; }; g"), bash("\\git push x"), bash(`g""it pu's'h x`), bash("{git,push,x}"), bash("git $(echo push) x"),
			bash(strings.Repeat("nice ", 15) + "git push x"), bash("true; git push x # " + strings.Repeat("(", 2001)),
		}, []string{bash("git status"), bash("git pushed x"), bash("echo push"), bash("echo $X"), bash("git commit -m 'x'"),
			bash("git commit -m $MESSAGE"), bash("/usr/bin/git status $X"), bash("git log -- '*.ts'"), bash("ls *.go"), bash("[ -f $X ]"), bash("echo 'really?'")}},
		{"Bash(git:*)", "terminal", []string{bash("git"), bash("git status")}, []string{bash("gitk"), bash("ls git")}},
		{"Bash(npm run build)", "terminal", []string{bash("npm run build"), bash("cd x; npm run build"), bash("npm $x build"), bash("npm run buil?"), bash("npm run b$x")}, []string{bash("npm $x test"), bash("npm run $x y"), bash("npm run builds$x"), bash("npm run build:all"), bash("npm run")}},
		{"Bash(* --force)", "terminal", []string{bash("git push --force"), bash("git push $X"), bash("git $X push --force")}, []string{bash("git push"), bash("git push $X origin")}},
		{"Bash", "terminal", []string{bash("ls")}, nil},
		{"Bash(*)", "terminal", []string{bash("ls")}, nil},
		{"Bash(git *)", "write_file", nil, []string{path("git")}},
		{"Edit(*.ts)", "patch", []string{path("a.ts"), path("src/deep/a.ts"), path("/elsewhere/a.ts"), `{"patch":"*** Begin Patch\n*** Add File: a.md\n+x\n*** Add File: a.ts\n+x\n*** End Patch"}`}, []string{path("a.tsx"), path("ts")}},
		{"Edit(*.ts)", "write_file", []string{path("a.ts")}, []string{path("a.js")}},
		{"Write(*.ts)", "patch", nil, []string{path("a.ts")}},
		{"Edit(src/**)", "write_file", []string{path("src/a"), path("src/b/c"), path("/work/src/a"), path("x/../src/a")}, []string{path("a"), path("lib/src/a"), path("/src/a")}},
		{"Edit(src/**/*.ts)", "write_file", []string{path("src/a.ts"), path("src/b/c.ts"), path("src/b\nc/d\ne.ts")}, []string{path("src/a.js")}},
		{"Edit(/docs/*)", "write_file", []string{path("docs/a"), path("docs/a/b")}, []string{path("x/docs/a")}},
		{"Edit(//etc/**)", "write_file", []string{path("/etc/a/b")}, []string{path("etc/a")}},
		{"Edit(.git)", "write_file", []string{path(".git/config"), path(".git/a\nb"), path("x/.git/hooks/a")}, []string{path(".gitignore")}},
		{"Read(*.env)", "read_file", []string{path("a.env")}, []string{path("a.txt")}},
		{"Read(*.env)", "search_files", []string{`{"pattern":"x"}`}, nil},
		{"WebFetch(domain:example.org)", "web_extract", []string{`{"urls":["https://a.net/","https://EXAMPLE.org./x"]}`, `{"urls":[]}`, `{"urls":["https://ｅxample。org/"]}`, `{"urls":["https://a b/"]}`}, []string{`{"urls":["https://example.org.net/"]}`, `{"urls":["https://r3---sn-x.a_b.net/"]}`}},
		{"WebFetch(domain:*-cdn.my_app.org)", "web_extract", []string{`{"urls":["https://eu-cdn.my_app.org/"]}`}, []string{`{"urls":["https://my_app.org/"]}`}},
		{"WebFetch(domain:*.Bücher.example)", "web_extract", []string{`{"urls":["https://x.xn--bcher-kva.example/"]}`, `{"urls":["https://x.bücher.example/"]}`}, []string{`{"urls":["https://x.bucher.example/"]}`}},
		{"mcp__github", "mcp__github__push", []string{`{}`}, nil},
		{"mcp__github__get_*", "mcp__github__push", nil, []string{`{}`}},
		{"mcp__github__get_*", "mcp__github__get_issue", []string{`{}`}, nil},
	} {
		h, at, _ := begin(t, `PreToolUse: [{hooks: [{command: a, if: "`+tt.rule+`"}]}]`, map[string]said{"a": {}})
		for i, arguments := range append(tt.fits, tt.not...) {
			at.ran = nil
			before(t, h, call(tt.tool, arguments))
			if got, want := len(at.ran) > 0, i < len(tt.fits); got != want {
				t.Errorf("%s: %s %s runs the hook: %v, want %v", tt.rule, tt.tool, arguments, got, want)
			}
		}
		at.closed = true
	}
}

// TestARuleForPathsFollowsLinks, also to a folder that is made with the file.
func TestARuleForPathsFollowsLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": "src", "nowhere": "src/gone", "round": "round"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skipf("this system makes no links: %v", err)
		}
	}
	h, at, _ := begin(t, `PreToolUse: [{hooks: [{command: a, if: "Edit(/`+dir+`/src/**)"}]}]`, map[string]said{"a": {}})
	for path, want := range map[string]bool{"src/a": true, "link/a": true, "link/new/a": true, "link/new/deep/a": true, "nowhere": true, "nowhere/a": true, "round/a": true, "lib/new/a": false} {
		at.ran = nil
		before(t, h, call("write_file", fmt.Sprintf(`{"path":%q,"content":"x"}`, filepath.Join(dir, path))))
		if got := len(at.ran) > 0; got != want {
			t.Errorf("%s runs the hook: %v, want %v", path, got, want)
		}
	}
	at.closed = true
}

// TestARuleForPathsFitsFilesElsewhere: where their home is, and where their links lead, is not known here.
func TestARuleForPathsFitsFilesElsewhere(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{false, true} {
		h, at, _ := begin(t, `PreToolUse: [{hooks: [{command: a, if: "Edit(~/.ssh/**)"}]}]`, map[string]said{"a": {}}, func(c *script.Config) { c.Home, c.Session.Elsewhere = "/home/ada", elsewhere })
		before(t, h, call("write_file", `{"path":"/root/.ssh/authorized_keys","content":"x"}`))
		if got := len(at.ran) > 0; got != elsewhere {
			t.Errorf("elsewhere %v: the hook runs: %v", elsewhere, got)
		}
		at.closed = true
	}
}

// TestAGuardWhoseRuleIsNotUnderstoodRefuses.
func TestAGuardWhoseRuleIsNotUnderstoodRefuses(t *testing.T) {
	t.Parallel()
	entries, _, problems := parse(t, `PreToolUse: [{matcher: Bash, hooks: [{command: a, if: "Bash(git", fail_closed: true}, {command: b, if: "Bash(git"}]}]`)
	if len(problems) != 2 || len(entries) != 1 || entries[0].Fault == "" {
		t.Errorf("entries %+v, problems %+v", entries, problems)
	}
}

// TestASampleFitsTheRuleOfAHook, so that it can be tried.
func TestASampleFitsTheRuleOfAHook(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"Bash(git push *)", "Bash(git:*)", "Edit(src/**/*.ts)", "Edit(//etc/x)", "Edit(~/x)", "Edit(/x)", "Read(*.env)", "Bash"} {
		_, at, s := begin(t, `PreToolUse: [{hooks: [{command: a, if: "`+rule+`"}]}]`, map[string]said{"a": {}})
		if list, err := s.Try(t.Context(), "PreToolUse", ""); err != nil || len(at.ran) != 1 {
			t.Errorf("%s: %+v, %v", rule, list, err)
		}
	}
}
