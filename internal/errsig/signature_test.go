package errsig_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"hermes/internal/errsig"
)

func TestTheSameFailureLooksTheSame(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, arguments, result string
		class, pattern          string
	}{
		{"an error of a tool", `{"path":"/a/b"}`, `{"error":"open /home/ada/notes.txt: no such file or directory"}`, "not_found", "open /home/ada/notes.txt: no such file or directory"},
		{"a command", `{"command":"pip install x"}`, `{"output":"Collecting x\nerror: externally-managed-environment\n\nhint: see PEP 668","exit_code":1}`, "error", "pip: error: externally-managed-environment"},
		{"the last telling line", `{"command":"python3 run.py"}`, `{"output":"Traceback (most recent call last):\n  File \"/w/run.py\", line 3, in <module>\nModuleNotFoundError: No module named 'yaml'\n","exit_code":1}`,
			"missing_module", "python3: modulenotfounderror: no module named 'yaml'"},
		{"variables and sudo before the program", `{"command":"LANG=C sudo /usr/bin/apt-get update"}`, `{"output":"E: Could not get lock /var/lib/apt/lists/lock. It is held by process 4711","exit_code":100}`,
			"error", "apt-get: e: could not get lock /var/lib/apt/lists/lock. it is held by process <n>"},
		{"a program that says its name", `{"command":"git push"}`, `{"output":"git: 'psh' is not a git command. unknown command","exit_code":1}`, "arguments", "git: 'psh' is not a git command. unknown command"},
		{"addresses, numbers and hashes", `{}`, `connect to https://api.example:443/x failed after 30s: commit 3e71197f2c at 2026-11-20T12:00:00z port 8080`, "error",
			"connect to https://api.example:443/x failed after <n>s: commit <hex> at <time> port 8080"},
		{"a line that says nothing special", `{"command":"make"}`, `{"output":"something odd","exit_code":2}`, "error", "make: something odd"},
		{"what the user refused", `{"command":"rm -rf /"}`, `{"error":"not run: the user said no"}`, "", ""},
		{"nothing", `{"command":"false"}`, `{"output":"","exit_code":1}`, "", ""},
		{"an error with hints after the JSON", `{}`, `{"error":"file not found"}` + "\n\n[hint]", "not_found", "file not found"},
	}
	for _, tt := range tests {
		got := errsig.Of(tt.arguments, tt.result)
		if got.Class != tt.class || got.Pattern != tt.pattern {
			t.Errorf("%s: got %q %q, want %q %q", tt.name, got.Class, got.Pattern, tt.class, tt.pattern)
		}
	}
}

// TestWhatAMessageNamesIsPartOfIt has failures in pairs: one fix helps both, or must not be
// shown for the other.
func TestWhatAMessageNamesIsPartOfIt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, command, a, b string
		same                bool
	}{
		{"programs", "x | y", "zork: command not found", "frobnicate: command not found", false},
		{"programs that a shell names", "x | y", "bash: line 11: zork: command not found", "bash: line 3: frobnicate: command not found", false},
		{"numbers", "db", "ERROR 1045: access failed", "ERROR 2002: access failed", false},
		{"numbers at the end", "curl x", "the server answered with 404", "the server answered with 500", false},
		{"numbers after a small word", "curl x", "rejected after 404", "rejected after 500", false},
		{"numbers in a sentence", "db", "access denied in 1045", "access denied in 2002", false},
		{"codes in words", "tsc", "a.ts(3,1): error TS2304: wrong", "a.ts(3,1): error TS2551: wrong", false},
		{"ports", "serve", "port 8080 is in use", "port 9090 is in use", false},
		{"hosts with ports", "psql", "cannot connect to db.example:5432", "cannot connect to db.example:5433", false},
		{"paths", "cat", "cat: /x/1: Permission denied", "cat: /y/2: Permission denied", false},
		{"relative paths", "cat", "cat: conf/a.yml: Permission denied", "cat: conf/b.yml: Permission denied", false},
		{"quoted names", "python3 a.py", "ModuleNotFoundError: No module named 'yaml'", "ModuleNotFoundError: No module named 'toml'", false},
		{"bare names", "python3 a.py", "ImportError: No module named yaml", "ImportError: No module named toml", false},
		{"addresses", "curl", "cannot reach https://a.example/x", "cannot reach https://b.example/x", false},
		{"long decimal numbers", "x", "code 10000017 was refused", "code 10000018 was refused", false},

		{"times", "x", "2026-11-20T12:00:00Z error: lock is taken", "2026-11-21T09:10:11Z error: lock is taken", true},
		{"hashes", "git", "error: cannot apply 3e71197f2c", "error: cannot apply 77ab01c9de", true},
		{"addresses in memory", "x", "panic at 0x7ffe12ab", "panic at 0x55aa34cd", true},
		{"process ids", "x", "lock is held by process 4711", "lock is held by process 12", true},
		{"process ids in brackets", "x", "sshd[4711]: error: refused", "sshd[12]: error: refused", true},
		{"lines", "go build", "./main.go:12:5: undefined: foo", "./main.go:90:1: undefined: foo", true},
		{"durations", "x", "request failed after 30s", "request failed after 12s", true},
		{"counts", "go test", "error: 3 failed, 12 passed", "error: 1 failed, 2 passed", true},
		{"temporary files", "go test", "open /tmp/go-build123/b001/x.go: no such file", "open /tmp/go-build4567/b002/x.go: no such file", true},
		{"lines of temporary files", "go test", "/tmp/go-build123/b001/x.go:12:5: undefined: a", "/tmp/go-build4567/b001/x.go:3:1: undefined: a", true},
		{"temporary files of mktemp", "cat", "cat: /tmp/tmp.Ab1Cd2Ef3G/x: Permission denied", "cat: /tmp/tmp.zzZZzzZZzz/x: Permission denied", true},
		{"temporary files of Python", "python3", "cannot open /tmp/tmpab_cdefg.py", "cannot open /tmp/tmp0123abcd.py", true},
		{"temporary files of pytest", "pytest", "cannot open /tmp/pytest-of-me/pytest-12/a.txt", "cannot open /tmp/pytest-of-me/pytest-7/a.txt", true},
		{"temporary folders of macOS", "go", "cannot open /var/folders/zz/x_1/T/go-build12345/a.go", "cannot open /private/var/folders/ab/y/T/go-build2345/a.go", true},
		{"temporary folders of Windows", "go", `cannot open C:\Users\me\AppData\Local\Temp\go-build12345\a.go`, `cannot open C:\Users\me\AppData\Local\Temp\go-build345\a.go`, true},
		{"process ids of sockets", "ssh", "cannot connect to /tmp/ssh-a1b2c3d4/agent.4711", "cannot connect to /tmp/ssh-z9y8x7w6/agent.812", true},
		{"names in temporary folders", "go test", "open /tmp/go-build123/b001/x.go: no such file", "open /tmp/go-build123/b001/y.go: no such file", false},
		{"sockets in /tmp", "psql", "cannot connect to /tmp/app.sock", "cannot connect to /tmp/db.sock", false},
		{"numbered names in /tmp", "x", "cannot open /tmp/server1.log", "cannot open /tmp/server2.log", false},
		{"projects in /tmp", "x", "cannot open /tmp/alpha/main.go", "cannot open /tmp/beta/main.go", false},
		{"names that are plain words", "adduser", "error: user alice not found", "error: user bob not found", false},
		{"a name that is missing", "adduser", "error: user not found", "error: user alice not found", false},
		{"a second name", "adduser", "error: group staff not found", "error: group staff admin not found", false},
		{"the opposite", "rm", "error: it is a directory", "error: it is not a directory", false},
		{"queries", "curl", "cannot reach https://a.example/x?id=1", "cannot reach https://a.example/x?id=2", true},
	} {
		arguments := `{"command":"` + tt.command + `"}`
		a, b := errsig.Of(arguments, tt.a), errsig.Of(arguments, tt.b)
		if m := b.Match(a.Pattern); (m == errsig.Exact) != tt.same || !tt.same && m != errsig.Other {
			t.Errorf("%s: %q and %q match as %d, want the same: %v", tt.name, a.Pattern, b.Pattern, m, tt.same)
		}
	}
}

// TestAShellPutsWhatItLikesBeforeAMessage saves the message as one shell prints it and
// fails in others.
func TestAShellPutsWhatItLikesBeforeAMessage(t *testing.T) {
	t.Parallel()
	for _, said := range [][]string{
		{
			"frobnicate: command not found", "bash: line 11: frobnicate: command not found", "bash: frobnicate: command not found", "-bash: frobnicate: command not found",
			"/bin/bash: line 1: frobnicate: command not found", "sh: 1: frobnicate: not found", "/bin/sh: 1: frobnicate: not found", "sh: frobnicate: not found", "dash: 2: frobnicate: not found",
			"zsh: command not found: frobnicate", "zsh:1: command not found: frobnicate", "(eval):1: command not found: frobnicate", "fish: Unknown command: frobnicate",
			"./build.sh: line 3: frobnicate: command not found", "/usr/local/bin/task: line 7: frobnicate: command not found", "sudo: frobnicate: command not found",
			`exec: "frobnicate": executable file not found in $PATH`, "'frobnicate' is not recognized as an internal or external command,",
		},
		{"./run: Permission denied", "bash: ./run: Permission denied", "bash: line 4: ./run: Permission denied", "sh: 1: ./run: Permission denied", "zsh: ./run: Permission denied"},
		{"HOME: unbound variable", "bash: HOME: unbound variable", "bash: line 2: HOME: unbound variable", "x.sh: line 9: HOME: unbound variable"},
	} {
		for _, first := range said {
			saved := errsig.Of("", first)
			for _, later := range said {
				for _, command := range []string{"frobnicate --now", "ls | frobnicate", "cd /x && frobnicate"} {
					failed := errsig.Of(`{"command":"`+command+`"}`, later)
					if failed.Match(saved.Pattern) != errsig.Exact || failed.Class != saved.Class {
						t.Errorf("%q (%s) saved, %q (%s) failed: %q and %q differ", first, saved.Class, later, failed.Class, saved.Pattern, failed.Pattern)
					}
				}
			}
		}
	}
	// A program that names a line is not a shell.
	if got := errsig.Of(`{"command":"mawk x"}`, "mawk: line 2: cannot open the file"); got.Pattern != "mawk: line <n>: cannot open the file" {
		t.Errorf("got %q", got.Pattern)
	}
}

// TestPatternsOfVersionsBeforeStillFit has patterns with placeholders for all that varied.
func TestPatternsOfVersionsBeforeStillFit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ pattern, command, message string }{
		{"cat: <path>: no such file or directory", "cat /y/2", "cat: /y/2: No such file or directory"},
		{"db: error <n>: access failed", "db", "error 1045: access failed"},
		{"frobnicate: bash: line <n>: frobnicate: command not found", "frobnicate --x", "bash: line 11: frobnicate: command not found"},
		{"connect to <url> failed after <n>s", "", "connect to https://api.example:443/x failed after 30s"},
		{"error <n>: access failed", "db", "error 1045: access failed"},                 // written by the user
		{"python3: no module named '<name>'", "python3 a.py", "no module named 'yaml'"}, // the same
	} {
		s := errsig.Of(`{"command":"`+tt.command+`"}`, tt.message)
		if m := s.Match(tt.pattern); m != errsig.Fits {
			t.Errorf("%q does not fit %q (%d)", tt.pattern, s.Pattern, m)
		}
	}
	s := errsig.Of(`{"command":"cat x"}`, "cat: x: Permission denied")
	for _, other := range []string{"cat: <path>: permission denied", "dog: <path>: permission denied", "cat: <path>: no such file or directory", ""} {
		if m := s.Match(other); m != errsig.Other {
			t.Errorf("%q fits %q (%d)", other, s.Pattern, m)
		}
	}
}

func TestResembles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"git: fatal: not a git repository", "git: not a git repository", true},
		{"could not lock the file", "cannot lock file", true},
		{"connection refused", "connection refused again", true},
		{"command not found", "zork: command not found", false},
		{"no module named yaml", "no module named toml", false},
		{"the index is locked", "index locked.", true}, {"user not found", "user bob not found", false}, {"is a directory", "is not a directory", false},
		{"connection refused", "connection refused by policy", false}, {"the", "a", false},
		{"access denied", "access denied for root@db1", false},
		{"x", "y", false}, {"", "", false},
	} {
		if errsig.Resembles(tt.a, tt.b) != tt.want || errsig.Resembles(tt.b, tt.a) != tt.want {
			t.Errorf("%q and %q: want %v", tt.a, tt.b, tt.want)
		}
	}
}

func TestAlike(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b     string
		min, max float64
	}{
		{"x y", "x y", 1, 1}, {"no module named 'yaml'", "no module named 'toml'", 0.5, 0.7}, {"x", "y", 0, 0}, {"", "x", 0, 0},
	} {
		if got := errsig.Alike(tt.a, tt.b); got < tt.min || got > tt.max {
			t.Errorf("%q and %q: %v", tt.a, tt.b, got)
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add(`{"command":"a"}`, `{"output":"error: x /y 1"}`)
	f.Add(`[`, "\xff error "+strings.Repeat("é", 300))
	f.Fuzz(func(t *testing.T, arguments, result string) {
		s := errsig.Of(arguments, result)
		if utf8.ValidString(result) && utf8.ValidString(arguments) && !utf8.ValidString(s.Pattern) {
			t.Errorf("broken pattern %q", s.Pattern)
		}
		if len(s.Message) > 240 {
			t.Errorf("a message of %d bytes", len(s.Message))
		}
	})
}
