package hermestest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"hermes"
)

// RunEnvironment is the contract suite of [hermes.Environment] and its files.
// open returns a new environment whose current folder is empty and writable;
// the suite closes it. The shell must be a POSIX shell.
func RunEnvironment(t *testing.T, open func(t *testing.T) hermes.Environment) {
	t.Helper()
	for _, c := range environmentCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			t.Cleanup(func() {
				if err := e.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			c.run(t, e)
		})
	}
}

type environmentCase struct {
	name string
	run  func(*testing.T, hermes.Environment)
}

func environmentCases() []environmentCase {
	return []environmentCase{
		{"exit status is not an error", exitStatus},
		{"streams", streams},
		{"folder and variables of one command", oneCommand},
		{"what is kept", kept},
		{"a missing folder is an error", missingFolder},
		{"the end of the context ends the command", contextEnds},
		{"a command has its time to end", hasGrace},
		{"the end of the context ends what the command started", endsInside},
		{"background commands", backgroundCommands},
		{"kill ends what a background command started", killEnds},
		{"long lines", longLines},
		{"many commands at once", manyAtOnce},
		{"streams carry any bytes", exactStreams},
		{"close ends everything", closeEnds},
		{"files and commands see the same", sameFiles},
		{"writing files", writingFiles},
		{"listing, removing, renaming", changingFolders},
		{"missing files", missingFiles},
		{"links", links},
		{"where paths lead", lead},
		{"new files obey the umask", umask},
		{"files that follow no link", noLinks},
		{"paths", paths},
		{"description", description},
		{"limits hold or refuse the command", limitsHold},
	}
}

// do runs a line with Keep set and returns its output.
func do(t *testing.T, e hermes.Environment, line string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	exit, err := e.Exec(t.Context(), hermes.Command{Line: line, Stdout: &out, Stderr: &out, Keep: true})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return out.String(), exit.Code
}

// says fails unless a line prints exactly this.
func says(t *testing.T, e hermes.Environment, line, want string) {
	t.Helper()
	if got, _ := do(t, e, line); strings.TrimSuffix(got, "\n") != want {
		t.Errorf("%s printed %q, want %q", line, got, want)
	}
}

func exitStatus(t *testing.T, e hermes.Environment) {
	for line, want := range map[string]int{
		"true": 0, "false": 1, "exit 42": 42, "no-such-program-at-all": 127, "kill -KILL $$": 137, "(exit 7)": 7,
	} {
		if _, got := do(t, e, line); got != want {
			t.Errorf("%s: exit status %d, want %d", line, got, want)
		}
	}
}

func streams(t *testing.T, e hermes.Environment) {
	var out, errs bytes.Buffer
	_, err := e.Exec(t.Context(), hermes.Command{
		Line: "cat; echo problem >&2", Stdin: strings.NewReader("given"), Stdout: &out, Stderr: &errs,
	})
	if err != nil || out.String() != "given" || errs.String() != "problem\n" {
		t.Errorf("got %q and %q, error %v", out.String(), errs.String(), err)
	}
	says(t, e, "echo a; echo b >&2; echo c", "a\nb\nc")
	says(t, e, "cat", "") // without Stdin the input is empty
	if _, err := e.Exec(t.Context(), hermes.Command{Line: "echo unheard; echo unheard >&2"}); err != nil {
		t.Errorf("no writers: %v", err)
	}
}

func oneCommand(t *testing.T, e hermes.Environment) {
	do(t, e, "mkdir sub")
	var out bytes.Buffer
	c := hermes.Command{Line: `basename "$PWD"; echo "$ONE"`, Dir: "sub", Env: []string{"ONE=a b'\"$c"}, Stdout: &out}
	if _, err := e.Exec(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "sub\na b'\"$c\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	says(t, e, `echo "${ONE-unset}"; test -d sub && echo here`, "unset\nhere")
}

func kept(t *testing.T, e hermes.Environment) {
	do(t, e, "mkdir -p 'a b/c'; cd 'a b'; export KEPT=1; LOCAL=2")
	says(t, e, `basename "$PWD"; echo "$KEPT ${LOCAL-unset}"`, "a b\n1 unset")
	for _, c := range []struct{ line, show, want string }{
		{"cd c; exit 3", `basename "$PWD"`, "c"},
		{"set -e; cd ..; false; echo never", `basename "$PWD"`, "a b"},
		{"unset KEPT", `echo "${KEPT-unset}"`, "unset"},
		{"export ODD='it'\"'\"'s \"odd\" $x `y` \\ é'", `printf %s "$ODD"`, "it's \"odd\" $x `y` \\ é"},
		{"export LINES2='one\ntwo\t'", `printf %s "$LINES2"`, "one\ntwo\t"},
		{"trap 'echo bye' EXIT; export TRAPPED=yes", `echo "$TRAPPED"`, "yes"},
		{"mkdir gone && cd gone && rmdir ../gone", "true", ""},
	} {
		do(t, e, c.line)
		if got, _ := do(t, e, c.show); c.want != "" && strings.TrimSuffix(got, "\n") != c.want {
			t.Errorf("after %q: %s printed %q, want %q", c.line, c.show, got, c.want)
		}
	}
	if _, code := do(t, e, "pwd"); code != 0 {
		t.Error("no command runs after the working folder was deleted")
	}
	if _, err := e.Exec(t.Context(), hermes.Command{Line: "cd /; export LOST=1"}); err != nil {
		t.Fatal(err)
	}
	says(t, e, `test "$PWD" != / && echo "${LOST-unset}"`, "unset")
}

func missingFolder(t *testing.T, e hermes.Environment) {
	_, err := e.Exec(t.Context(), hermes.Command{Line: "true", Dir: "no/such/folder"})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v does not say that the folder is missing", err)
	}
}

// hasGrace ends a command that needs longer than usual to end by itself.
func hasGrace(t *testing.T, e hermes.Environment) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &signalWriter{said: make(chan struct{})}
	go func() { // ends with the command's first word, or with the test
		select {
		case <-out.said:
		case <-t.Context().Done():
		}
		cancel()
	}()
	line := "trap 'sleep 2; echo late >late; exit' TERM; echo begun; while :; do sleep 1; done"
	if _, err := e.Exec(ctx, hermes.Command{Line: line, Stdout: out, Grace: 10 * time.Second}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	says(t, e, "cat late", "late")
}

func contextEnds(t *testing.T, e hermes.Environment) {
	cause := errors.New("the user said stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	out := &signalWriter{said: make(chan struct{})}
	done := make(chan error)
	begin := time.Now()
	go func() {
		_, err := e.Exec(ctx, hermes.Command{Line: "echo started; sleep 300; sleep 300", Stdout: out})
		done <- err
	}()
	select {
	case <-out.said:
	case err := <-done:
		t.Fatalf("ended early: %v", err)
	}
	cancel(cause)
	if err := <-done; !errors.Is(err, cause) {
		t.Errorf("error %v, want the cause", err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	says(t, e, "echo still here", "still here")
}

// signalWriter closes said at the first write.
type signalWriter struct {
	said chan struct{}
	bytes.Buffer
}

func (w *signalWriter) Write(p []byte) (int, error) {
	if w.Len() == 0 {
		close(w.said)
	}
	return w.Buffer.Write(p)
}

func backgroundCommands(t *testing.T, e hermes.Environment) {
	s, ok := e.(hermes.Starter)
	if !ok {
		t.Skip("it starts nothing in the background")
	}
	var out bytes.Buffer
	p := mustStart(t, s, hermes.Command{Line: "cat; exit 5", Stdout: &out})
	if err := p.Input([]byte("typed\n")); err != nil {
		t.Errorf("input: %v", err)
	}
	if err := p.CloseInput(); err != nil {
		t.Errorf("close input: %v", err)
	}
	if exit, err := p.Wait(t.Context()); err != nil || exit.Code != 5 || out.String() != "typed\n" {
		t.Errorf("exit %+v, error %v, output %q", exit, err, out.String())
	}
	if err := p.Input([]byte("late")); err == nil {
		t.Error("input to an ended process gave no error")
	}
	long := mustStart(t, s, hermes.Command{Line: "sleep 300"})
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := long.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting too short: %v", err)
	}
	if err := long.Kill(); err != nil {
		t.Errorf("kill: %v", err)
	}
	if exit, err := long.Wait(t.Context()); err != nil || exit.Code == 0 {
		t.Errorf("after kill: exit %+v, error %v", exit, err)
	}
}

func mustStart(t *testing.T, s hermes.Starter, c hermes.Command) hermes.Process {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p, err := s.Start(ctx, c, false)
	cancel() // the context limits only the start
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func closeEnds(t *testing.T, e hermes.Environment) {
	var p hermes.Process
	if s, ok := e.(hermes.Starter); ok {
		p = mustStart(t, s, hermes.Command{Line: "sleep 300"})
	}
	out := &signalWriter{said: make(chan struct{})}
	done := make(chan error)
	go func() {
		_, err := e.Exec(t.Context(), hermes.Command{Line: "echo started; sleep 300", Stdout: out})
		done <- err
	}()
	<-out.said
	if err := e.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := <-done; err == nil {
		t.Error("a command that Close ended returned no error")
	}
	if p != nil {
		if _, err := p.Wait(t.Context()); err != nil {
			t.Errorf("the background process still runs: %v", err)
		}
	}
	if _, err := e.Exec(t.Context(), hermes.Command{Line: "true"}); err == nil {
		t.Error("a closed environment runs commands")
	}
}

// description: an environment says where its commands run.
func description(t *testing.T, e hermes.Environment) {
	d := e.Describe(t.Context())
	if d.System == "" || d.Arch == "" || d.Shell == "" {
		t.Errorf("described itself as %+v, without system, architecture or shell", d)
	}
	if d.Isolation.Text == "" || d.Isolation.Holds && d.Isolation.Walls() == "" {
		t.Errorf("its isolation is %+v", d.Isolation)
	}
}

// limitsHold: a limit ends the command or is refused before it runs; it is never ignored.
func limitsHold(t *testing.T, e hermes.Environment) {
	if _, err := e.Exec(t.Context(), hermes.Command{Line: "sleep 300", Limits: hermes.Limits{Time: 50 * time.Millisecond}}); !errors.Is(err, hermes.ErrTimeLimit) {
		t.Errorf("a command past its time ended with %v, want ErrTimeLimit", err)
	}
	var out bytes.Buffer
	exit, err := e.Exec(t.Context(), hermes.Command{Line: "echo x >limited && echo written", Stdout: &out, Limits: hermes.Limits{Write: []string{}}})
	if err == nil && exit.Code == 0 || out.Len() > 0 {
		t.Errorf("a command that may write nothing wrote: %q, exit %d, %v", out.String(), exit.Code, err)
	}
}
