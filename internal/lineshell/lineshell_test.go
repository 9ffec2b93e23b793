package lineshell

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestLinesRun: with their input, their programs, redirections, patterns and exit status.
func TestLinesRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the lines call programs of a Unix")
	}
	dir := t.TempDir()
	for _, tt := range []struct {
		line, in, out, errs string
		status              int
	}{
		{line: `echo a "$(printf b)" | tr a-z A-Z`, out: "A B\n"},
		{line: `read -r x; echo "got $x"`, in: "word\n", out: "got word\n"},
		{line: `cat; exit 2`, in: "{}", out: "{}", status: 2},
		{line: `cd ` + dir + ` && echo 1 > a.txt && echo 2 > b.txt && for f in *.txt; do echo "$f"; done`, out: "a.txt\nb.txt\n"},
		{line: `if [[ "$(echo main)" == ma* ]]; then echo yes >&2; fi`, errs: "yes\n"},
		{line: `no-such-program-here`, status: 127, errs: "not found"},
		{line: `echo "`, status: 2, errs: "without closing quote"},
	} {
		var out, errs bytes.Buffer
		status := run(t.Context(), runtime.GOOS, tt.line, strings.NewReader(tt.in), &out, &errs)
		if status != tt.status || out.String() != tt.out || !strings.Contains(errs.String(), tt.errs) || tt.errs == "" && errs.Len() > 0 {
			t.Errorf("%s: status %d, output %q, errors %q", tt.line, status, out.String(), errs.String())
		}
	}
}

func TestPlainLinesAreOneProgram(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		`./check.sh --x 'a b'`: true, `python3 "$CLAUDE_PROJECT_DIR/.claude/hooks/x.py" ${A}`: true, `~/x.sh`: true, `a\ b`: true,
		`a | b`: false, `a && b`: false, `a; b`: false, `a &`: false, `! a`: false, `A=1 b`: false, `a > b`: false, `a < b`: false, `a *.go`: false, `a {b,c}`: false,
		`a $(b)`: false, "a `b`": false, `a "${B:-c}"`: false, `a $'b'`: false, `a <(b)`: false, `if a; then b; fi`: false, `[[ a == b ]]`: false, ``: false, `a '`: false, `a=b`: false,
	} {
		if got := Plain(line); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// TestScriptsRunWhereTheSystemDoesNotKnowThem: one of a shell in this shell, one of another program by that.
func TestScriptsRunWhereTheSystemDoesNotKnowThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hook.sh": "#!/no/such/folder/bash\necho \"$1 $# $X\"\nexit 3\n", // the kernel could not start it
		"hook.x":  "#!/usr/bin/env cat\nwords\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"X=1 '" + dir + "/hook.sh' one two":   "one 2 1\n",
		"cd '" + dir + "' && ./hook.x && pwd": "#!/usr/bin/env cat\nwords\n" + dir + "\n",
	} {
		var out, errs bytes.Buffer
		run(t.Context(), "windows", line, nil, &out, &errs)
		if out.String() != want {
			t.Errorf("%s: output %q, errors %q", line, out.String(), errs.String())
		}
	}
}
