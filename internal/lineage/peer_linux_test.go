package lineage

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// waiting runs a line of bash in which $0 is a program that waits, and returns the id of its
// process.
func waiting(t *testing.T, line string, m *Mark, env ...string) int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := t.TempDir() + "/waiter"
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "bash", "-c", line, link)
	c.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	c.ExtraFiles = m.Files()
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = c.Wait() })
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

// TestAgentAboveAnotherProcessIsSeen in each way, and one is enough.
func TestAgentAboveAnotherProcessIsSeen(t *testing.T) {
	t.Parallel()
	m := mustMark(t, "/home/ann/.hermes")
	none := (*Mark)(nil)
	for _, tt := range []struct {
		line string
		mark *Mark
		env  []string
		want string
	}{
		{`"$0"`, none, nil, ""},
		{`exec "$0"`, none, nil, ""},
		{`"$0"`, m, nil, "an inherited file"},
		{`env -i "$0"`, m, m.Environ(), "an inherited file"},
		{`exec 47>&-; exec "$0"`, m, m.Environ(), "the variable HERMES_STARTED_BY_AGENT"},
		{`unset HERMES_STARTED_BY_AGENT; exec 47>&-; exec "$0"`, m, m.Environ(), ""},
		{`printf hermes-agent >/proc/$$/comm; "$0"; :`, none, nil, "the parent process hermes-agent"},
		{`printf hermes-agent >/proc/$$/comm; sh -c '"$0"; :' "$0"; :`, none, nil, "the parent process hermes-agent"},
		{`printf hermes-agent >/proc/$$/comm; exec "$0"`, none, nil, ""}, // it is the agent itself, or was
	} {
		a := Probe{Top: os.Getpid()}.LookAt(waiting(t, tt.line, tt.mark, tt.env...))
		var got []string
		for _, sign := range a.Signs {
			sign, _, _ = strings.Cut(sign, " (")
			got = append(got, sign)
		}
		if d := cmp.Diff(tt.want, strings.Join(got, "; ")); d != "" || a.Err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.line, a.Err, d)
		}
	}
}

// TestOwnMarkIsNoSignToOthers: an agent may reach the sessions of another one.
func TestOwnMarkIsNoSignToOthers(t *testing.T) {
	t.Parallel()
	m := mustMark(t, "/home/own/.hermes")
	for _, found := range seen(os.Getpid()) {
		if found.home == m.home {
			t.Error("an agent counts as started by itself")
		}
	}
}

func TestProcessThatEndedIsAnError(t *testing.T) {
	t.Parallel()
	if a := (Probe{}).LookAt(1 << 30); a.Err == nil {
		t.Errorf("got %+v", a)
	}
}
