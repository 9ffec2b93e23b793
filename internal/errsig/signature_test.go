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
		{"an error of a tool", `{"path":"/a/b"}`, `{"error":"open /home/ada/notes.txt: no such file or directory"}`, "not_found", "open <path>: no such file or directory"},
		{"a command", `{"command":"pip install x"}`, `{"output":"Collecting x\nerror: externally-managed-environment\n\nhint: see PEP 668","exit_code":1}`, "error", "pip: error: externally-managed-environment"},
		{"the last telling line", `{"command":"python3 run.py"}`, `{"output":"Traceback (most recent call last):\n  File \"/w/run.py\", line 3, in <module>\nModuleNotFoundError: No module named 'yaml'\n","exit_code":1}`,
			"missing_module", "python3: modulenotfounderror: no module named 'yaml'"},
		{"variables and sudo before the program", `{"command":"LANG=C sudo /usr/bin/apt-get update"}`, `{"output":"E: Could not get lock /var/lib/apt/lists/lock. It is held by process 4711","exit_code":100}`,
			"error", "apt-get: e: could not get lock <path>. it is held by process <n>"},
		{"a program that says its name", `{"command":"git push"}`, `{"output":"git: 'psh' is not a git command. unknown command","exit_code":1}`, "arguments", "git: 'psh' is not a git command. unknown command"},
		{"addresses, numbers and hashes", `{}`, `connect to https://api.example:443/x failed after 30s: commit 3e71197f2c at 2026-11-20T12:00:00z port 8080`, "error",
			"connect to <url> failed after <n>s: commit <hex> at <time> port <n>"},
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
	a := errsig.Of(`{"command":"cat /x/1"}`, `{"output":"cat: /x/1: No such file or directory"}`)
	b := errsig.Of(`{"command":"cat /y/z/2"}`, `{"output":"cat: /y/z/2: No such file or directory"}`)
	if a.Pattern != b.Pattern || a.Class != b.Class {
		t.Errorf("%+v and %+v differ", a, b)
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
