//go:build unix

package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hermes"
	"hermes/internal/environment/remote"
)

// beat is a line that writes to the file beats until it is ended.
const beat = `while :; do printf x >>beats; sleep 0.05; done`

// mustBeSilent fails if beat still runs.
func mustBeSilent(t *testing.T, e hermes.Environment) {
	t.Helper()
	before := output(t, e, "wc -c <beats")
	if after := output(t, e, "sleep 0.4; wc -c <beats"); after != before {
		t.Errorf("it still runs: %s bytes, then %s", before, after)
	}
}

func TestOneCommandIsOneScript(t *testing.T) {
	t.Parallel()
	e, h := place(t, "dash")
	output(t, e, "export A=1; cd /")
	h.mu.Lock()
	h.calls = 0
	h.mu.Unlock()
	for range 3 {
		if got := output(t, e, "echo $A $PWD"); got != "1 /" {
			t.Errorf("got %q", got)
		}
	}
	e.Describe(t.Context())
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calls != 3 {
		t.Errorf("%d scripts for 3 commands", h.calls)
	}
}

func TestWhatDidNotRunIsRunOnceMore(t *testing.T) {
	t.Parallel()
	e, h := place(t, "dash")
	output(t, e, "true")
	var tries, failures atomic.Int32
	h.before = func(context.Context, remote.Script) error {
		if tries.Add(1) <= failures.Load() {
			return errors.Join(remote.ErrNotRun, errors.New("the connection is closed"))
		}
		return nil
	}
	failures.Store(1)
	var out bytes.Buffer
	_, err := e.Exec(t.Context(), hermes.Command{Line: "cat; echo x >>ran", Stdin: strings.NewReader("in"), Stdout: &out})
	if err != nil || out.String() != "in" || tries.Load() != 2 {
		t.Errorf("%d tries, %q, %v", tries.Load(), out.String(), err)
	}
	tries.Store(0)
	failures.Store(2)
	if _, err := e.Exec(t.Context(), hermes.Command{Line: "echo x >>ran"}); !errors.Is(err, remote.ErrNotRun) || tries.Load() != 2 {
		t.Errorf("%d tries, %v, want ErrNotRun", tries.Load(), err)
	}
	if got := output(t, e, "cat ran"); got != "x" {
		t.Errorf("it ran as %q", got)
	}
}

// TestLostConnectionIsSaid: the outcome is unknown, and what still runs is ended.
func TestLostConnectionIsSaid(t *testing.T) {
	t.Parallel()
	e, h := place(t, "bash")
	out := hear("begun")
	lost := errors.New("connection reset by peer")
	go func() {
		<-out.came
		h.lose(lost)
	}()
	_, err := e.Exec(t.Context(), hermes.Command{Line: "echo begun; " + beat, Stdout: out, Keep: true})
	if !errors.Is(err, lost) || !strings.Contains(err.Error(), "outcome is unknown") {
		t.Errorf("error %v", err)
	}
	mustBeSilent(t, e)
}

// TestUnreachableCommandIsEndedLater: the place cannot be reached when a command is to be
// ended; the next command does not begin before that was done.
func TestUnreachableCommandIsEndedLater(t *testing.T) {
	t.Parallel()
	e, h := place(t, "bash")
	down := errors.New("no route to host")
	var isDown atomic.Bool
	h.before = func(context.Context, remote.Script) error {
		if isDown.Load() {
			return errors.Join(remote.ErrNotRun, down)
		}
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	out := hear("begun")
	go func() {
		<-out.came
		isDown.Store(true)
		cancel()
	}()
	if _, err := e.Exec(ctx, hermes.Command{Line: "echo begun; " + beat, Stdout: out}); !errors.Is(err, context.Canceled) || !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
	if _, err := e.Exec(t.Context(), hermes.Command{Line: "true"}); !errors.Is(err, down) {
		t.Errorf("the next command: %v", err)
	}
	isDown.Store(false)
	mustBeSilent(t, e)
}

// TestWhatIsLeftRunning: a command ends although a process holds its output, and the
// process runs until EndLeft. What runs meanwhile goes on.
func TestWhatIsLeftRunning(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			e, _ := place(t, shell)
			begin := time.Now()
			if got := output(t, e, "export A=kept; ("+beat+") & (setsid sh -c '"+beat+"') & echo done"); got != "done" {
				t.Errorf("got %q", got)
			}
			if took := time.Since(begin); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
			if got := output(t, e, "until [ -s beats ]; do sleep 0.01; done; echo $A"); got != "kept" {
				t.Errorf("kept %q", got)
			}
			p := mustStart(t, e, hermes.Command{Line: "read a; exit 3"})
			if err := e.EndLeft(); err != nil {
				t.Error(err)
			}
			mustBeSilent(t, e)
			if err := p.Input([]byte("x\n")); err != nil {
				t.Error(err)
			}
			if exit, err := p.Wait(t.Context()); err != nil || exit.Code != 3 {
				t.Errorf("what ran beside it: exit %+v, %v", exit, err)
			}
		})
	}
}

func TestMissingFolders(t *testing.T) {
	t.Parallel()
	e, h := place(t, "dash")
	output(t, e, "mkdir -p a/b/c; cd a/b/c")
	output(t, e, "rm -r ../../b")
	var errs bytes.Buffer
	if _, err := e.Exec(t.Context(), hermes.Command{Line: "true", Stderr: &errs}); err != nil {
		t.Fatal(err)
	}
	if want := "[the working folder " + h.dir + "/work/a/b/c no longer exists; running in " + h.dir + "/work/a]\n"; errs.String() != want {
		t.Errorf("said %q, want %q", errs.String(), want)
	}
	for name, c := range map[string]hermes.Command{
		"asked about": {Ready: func() error { return nil }}, "outside": {Outside: true}, "given": {Dir: "b"}, "given at home": {Dir: "~/none"},
	} {
		c.Line = "touch ran"
		if _, err := e.Exec(t.Context(), c); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: error %v, want fs.ErrNotExist", name, err)
		}
		if _, err := e.Start(t.Context(), c, false); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s in the background: error %v, want fs.ErrNotExist", name, err)
		}
	}
	if got := output(t, e, "find .. -name ran"); strings.Contains(got, "ran") && !strings.Contains(got, "no longer") {
		t.Errorf("it ran: %s", got)
	}
	refused := errors.New("refused")
	if _, err := e.Exec(t.Context(), hermes.Command{Line: "touch ran", Dir: "/", Ready: func() error { return refused }}); !errors.Is(err, refused) {
		t.Error(err)
	}
}

// TestViewsShareThePlace: a view has its own folder and variables, and the last one closes
// the place.
func TestViewsShareThePlace(t *testing.T) {
	t.Parallel()
	h := newHost(t, "bash")
	var closed atomic.Int32
	h.closed = func() { closed.Add(1) }
	e := remote.New(remote.Config{Runner: h, Env: []string{"FIRST=1"}})
	output(t, e, "mkdir sub; export A=parent")
	v := e.View("sub")
	output(t, v, "export A=child; touch here; cd /")
	if got := output(t, e, "echo $A $FIRST; ls"); got != "parent 1\nsub" {
		t.Errorf("the parent says %q", got)
	}
	if got := output(t, v, "echo $A $FIRST; pwd"); got != "child 1\n/" {
		t.Errorf("the view says %q", got)
	}
	p := mustStart(t, v, hermes.Command{Line: "read a", Dir: h.dir})
	if err := e.Close(); err != nil || closed.Load() != 0 {
		t.Errorf("closed %d times, %v", closed.Load(), err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Input([]byte("\n")); err != nil {
		t.Errorf("the process of the view: %v", err)
	}
	if exit, err := p.Wait(t.Context()); err != nil || exit.Code != 0 {
		t.Errorf("the process of the view: %+v, %v", exit, err)
	}
	if err := v.Close(); err != nil || closed.Load() != 1 {
		t.Errorf("closed %d times, %v", closed.Load(), err)
	}
	h.check(t)
}

func TestDescribeAsksThePlace(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		e, h := place(t, shell)
		d := e.Describe(t.Context())
		if d.Arch != runtime.GOARCH || d.Home != h.dir+"/home" || d.System == "" || d.Shell == "" {
			t.Errorf("%s: described as %+v", shell, d)
		}
	}
}

// TestDescribeDoesNotBlock: a place that does not answer is described by what is known.
func TestDescribeDoesNotBlock(t *testing.T) {
	t.Parallel()
	h := newHost(t, "bash")
	h.before = func(ctx context.Context, _ remote.Script) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	e := remote.New(remote.Config{Runner: h})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if d := e.Describe(ctx); d.Isolation.Text == "" || d.Network != hermes.NetworkHost {
		t.Errorf("described as %+v", d)
	}
	if _, err := e.Exec(ctx, hermes.Command{Line: "true"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a command: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestLimitsOfOneCommand(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		e, _ := place(t, shell)
		var out bytes.Buffer
		c := hermes.Command{Line: "ulimit -v; ulimit -t", Stdout: &out, Limits: hermes.Limits{Memory: 1 << 30, CPU: 1500 * time.Millisecond}}
		if _, err := e.Exec(t.Context(), c); err != nil || out.String() != "1048576\n2\n" {
			t.Errorf("%s: limits %q, %v", shell, out.String(), err)
		}
		for _, l := range []hermes.Limits{{Network: hermes.NetworkOff}, {Write: []string{"/"}}, {Processes: 5}, {Memory: -1}} {
			if _, err := e.Exec(t.Context(), hermes.Command{Line: "touch ran", Limits: l}); err == nil {
				t.Errorf("%s: %+v was ignored", shell, l)
			}
		}
		if got := output(t, e, "ls"); got != "" {
			t.Errorf("%s: it ran: %s", shell, got)
		}
	}
}

// TestHugeVariablesAreNotKept: a command cannot keep all later ones from starting.
func TestHugeVariablesAreNotKept(t *testing.T) {
	t.Parallel()
	e, _ := place(t, "bash")
	got := output(t, e, `export B=1 A=$(head -c 200000 /dev/zero | tr '\0' x)`)
	if !strings.Contains(got, "not kept for later commands") {
		t.Errorf("it is not said: %.200s", got)
	}
	if got := output(t, e, "echo $B ${#A}; ls"); got != "1 0" {
		t.Errorf("kept %q", got)
	}
	output(t, e, `x=$(head -c 90000 /dev/zero | tr '\0' x); export C1=$x C2=$x C3=$x`)
	if got := output(t, e, "echo ${#C1} ${#C2} ${#C3}; cat /dev/null"); got != "90000 90000 90000" {
		t.Errorf("kept %q", got)
	}
}

func TestFirstVariablesAndFolder(t *testing.T) {
	t.Parallel()
	h := newHost(t, "dash")
	e := remote.New(remote.Config{Runner: h, Dir: "~", Env: []string{"ODD=it's \"$x\"\n", "LANG=de_DE", "UID=7", "bad name=1"}})
	defer e.Close()
	if got := output(t, e, `printf '%s' "$ODD"; echo "$LANG"; pwd`); got != "it's \"$x\"\nde_DE\n"+h.dir+"/home" {
		t.Errorf("got %q", got)
	}
	output(t, e, "unset LANG HOME")
	if got := output(t, e, `echo "${LANG-unset} ${HOME-unset}"`); got != "unset unset" {
		t.Errorf("got %q", got)
	}
	if here, err := e.Files().Resolve("."); err != nil || here != h.dir+"/home" {
		t.Errorf("the folder of files is %q, %v", here, err)
	}
}

// TestNothingOfThePackageIsSeen: the shell and its environment are those of a user.
func TestNothingOfThePackageIsSeen(t *testing.T) {
	t.Parallel()
	e, _ := place(t, "bash")
	for line, want := range map[string]string{
		"set -x; echo a":               "++ echo a\na",
		"set -o noclobber; echo b":     "b",
		"trap 'echo bye' EXIT; exit 0": "bye",
		"echo $# $0":                   "0 bash",
		"set -a; X=1; echo c":          "c",
		"exec echo replaced":           "replaced",
	} {
		if got := output(t, e, line); got != want {
			t.Errorf("%q printed %q, want %q", line, got, want)
		}
	}
	files := strings.Fields(output(t, e, "ls /proc/self/fd")) // 3 is the folder that ls reads
	for _, script := range []string{"4", "5", "6", "7", "8", "9"} {
		if slices.Contains(files, script) {
			t.Errorf("a command inherits the files %v", files)
		}
	}
}
