package cmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hermes/internal/chatserver"
	"hermes/internal/cmd"
)

// mainWith runs the program within this process, with a home and no terminal.
func mainWith(home string, args ...string) (out, errs string, status int) {
	var stdout, stderr bytes.Buffer
	set := map[string]string{"HERMES_HOME": home, "HOME": home}
	status = cmd.Main(cmd.Process{
		Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		Getenv: func(name string) string { return set[name] },
	})
	return stdout.String(), stderr.String(), status
}

// goWords must not appear in texts for users.
var goWords = []string{"arg(s)", "strconv", "goroutine", "panic", "dial tcp", "no such file or directory", ": not found", "stat /", "chdir /"}

func TestWrongCallsSayWhatToDo(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	none := filepath.Join(home, "none")
	long := strings.Repeat("x", 5000)
	for _, tt := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"sessions", "lst"}, 2, "did you mean `hermes sessions list`?"},
		{[]string{"sesions"}, 2, "did you mean `hermes sessions`"},
		{[]string{"frobnicate the thing"}, 2, `hermes -z "frobnicate the thing"`},
		{[]string{"sessions", "show"}, 2, "missing argument: ID|TITLE|latest; usage: hermes sessions show"},
		{[]string{"sessions", "show", "a", "b"}, 2, "unexpected argument: b; usage: hermes sessions show"},
		{[]string{"sessions", "show", ""}, 2, "is empty"},
		{[]string{"sessions", "show", "nope"}, 1, "`hermes sessions list`"},
		{[]string{"sessions", "rename", "latest"}, 2, "missing argument: NEW TITLE…"},
		{[]string{"sessions", "list", "--limit", "x"}, 2, `--limit needs a number, not "x"`},
		{[]string{"sessions", "list", "--limit", "0"}, 2, "at least 1"},
		{[]string{"sessions", "list", "--limit"}, 2, "--limit needs a value"},
		{[]string{"sessions", "import", none}, 1, "there is no " + none},
		{[]string{"auth", "priority", "a"}, 2, "missing argument: WHICH NUMBER"},
		{[]string{"config", "get", long}, 1, "xxx…xxx"},
		{[]string{"config", "edit"}, 1, "no terminal for an editor"},
		{[]string{"-z"}, 2, "-z needs a value"},
		{[]string{"-x"}, 2, "unknown flag -x"},
		{[]string{"spend", "raise", "day", "-5"}, 2, "-5 is negative; negative numbers are not accepted"},
		{[]string{"spend", "--session", "nope"}, 1, "there is no session \"nope\""},
		{[]string{"-z", "hi", "--max-turns", "-3"}, 2, "0 for no limit"},
		{[]string{"-z", "hi", "--in", none}, 2, "--in: there is no " + none + "; name an existing folder"},
		{[]string{"-z", "hi", "--query-file", none}, 2, "--query-file: there is no " + none},
		{[]string{"-z", "hi", "--image", none}, 2, "--image: there is no " + none},
		{[]string{"-z", "hi", "--image", home}, 2, "--image: " + home + " is a folder"},
		{[]string{"skills", "inspect", "nope"}, 1, "list the skills to see their names"},
		{[]string{"insights", "--days", "0"}, 2, "use at least 1"},
		{[]string{"sessions", "branch"}, 2, "missing argument: ID|TITLE|latest; usage: "},
		{[]string{"sessions", "export", "-o", "x"}, 2, "unknown flag -o"},
		{[]string{"sessions", "list", "--since", "x"}, 2, "unknown flag --since"},
		{[]string{"logs", "--since", "x"}, 2, "--since"},
		{[]string{"logs", "--level", "x"}, 2, "--level"},
		{[]string{"sessions", "prune", "--older-than", "x"}, 2, `invalid time "x"`},
		{[]string{"journey", "--kind", "x"}, 2, "--kind"},
		{[]string{"completion", "nope"}, 2, "unknown command `hermes completion nope`"},
	} {
		_, errs, status := mainWith(home, tt.args...)
		name := strings.Join(tt.args, " ")[:min(60, len(strings.Join(tt.args, " ")))]
		if status != tt.status || !strings.Contains(errs, tt.says) {
			t.Errorf("%s: status %d, %q; want %d, %q", name, status, errs, tt.status, tt.says)
		}
		for _, word := range goWords {
			if strings.Contains(errs, word) {
				t.Errorf("%s: %q has words for programmers (%s)", name, errs, word)
			}
		}
		if len(errs) > 1000 {
			t.Errorf("%s: %d characters to read", name, len(errs))
		}
	}
}

// TestLatestIsTheSameSessionEverywhere covers a chat and a one-shot after it.
func TestLatestIsTheSameSessionEverywhere(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(*chatserver.Request) (chatserver.Answer, error) { return chatserver.Answer{Text: "hi"}, nil })...)
	for _, args := range [][]string{{"-z", "the chat", "--source", "cli"}, {"-z", "the one-shot"}} {
		if _, errs, status := p.run(append(args, "-m", "played")...); status != 0 {
			t.Fatal(errs)
		}
	}
	shown, _, _ := p.run("sessions", "show", "latest")
	if !strings.Contains(shown, "the one-shot") {
		t.Errorf("shown: %s", shown)
	}
	if _, errs, status := p.run("--resume", "latest", "-z", "go on", "-m", "played"); status != 0 {
		t.Fatal(errs)
	}
	if shown, _, _ = p.run("sessions", "show", "latest"); !strings.Contains(shown, "the one-shot") || !strings.Contains(shown, "go on") {
		t.Errorf("resumed another session than the one shown: %s", shown)
	}
}

// TestAddressAloneIsEnough covers the user's own server with one model. The choice is reported, but not
// on standard output.
func TestAddressAloneIsEnough(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: "I am " + r.Model}, nil
	})...)
	out, errs, status := p.run("-z", "who are you?")
	if status != 0 || out != "I am played\n" || !strings.Contains(errs, "using custom:played, the only model of http://127.0.0.1") {
		t.Errorf("status %d: %q %q", status, out, errs)
	}
}

func TestHomeWithoutRightsSaysWhatToDo(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("nothing is refused to this user")
	}
	p := newUser(t)
	if err := os.Chmod(p.home, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(p.home, 0o700) })
	for _, args := range [][]string{{"config", "set", "agent.max_turns", "5"}, {"memory", "add", "the sky is blue"}} {
		_, errs, status := p.run(args...)
		if status != 1 || !strings.Contains(errs, p.home) || !strings.Contains(errs, "ls -ld") {
			t.Errorf("%v: status %d, %s", args, status, errs)
		}
	}
}

// TestUnknownToolsetIsReported covers lists of the configuration: a wrong name is reported, not ignored.
func TestUnknownToolsetIsReported(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte("agent: {disabled_toolsets: [termnal, skill_view, browser]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"config", "check"}, {"doctor"}} {
		out, errs, _ := mainWith(home, args...)
		if said := strings.Join(strings.Fields(out+errs), " "); !strings.Contains(said, "Did you mean terminal?") || strings.Contains(said, "skill_view") || strings.Contains(said, "browser") {
			t.Errorf("%v: %s%s", args, out, errs)
		}
	}
}

// TestBrokenConfigIsReportedByEveryCommand covers commands that work with the defaults.
func TestBrokenConfigIsReportedByEveryCommand(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte("a: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"tools"}, {"sessions", "list"}, {"fallback"}, {"skills", "list"}} {
		if _, errs, status := mainWith(home, args...); status != 0 || strings.Count(errs, "config.yaml, line") != 1 {
			t.Errorf("%v: status %d, %q", args, status, errs)
		}
	}
}

// full is a full disk.
type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/out", Err: syscall.ENOSPC}
}

func TestListingThatIsCutOffIsNoSuccess(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	home := t.TempDir()
	status := cmd.Main(cmd.Process{
		Args: []string{"tools"}, Stdin: strings.NewReader(""), Stdout: full{}, Stderr: &errs,
		Getenv: func(name string) string { return map[string]string{"HERMES_HOME": home, "HOME": home}[name] },
	})
	if status != 1 || !strings.Contains(errs.String(), "the disk of /out is full") {
		t.Errorf("status %d, %q", status, errs.String())
	}
}
