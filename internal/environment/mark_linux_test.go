package environment_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/environment"
	"hermes/internal/lineage"
)

// marked is a command line that prints what a program below it finds.
const marked = `echo "$HERMES_STARTED_BY_AGENT"; for f in /proc/self/fd/*; do readlink "$f"; done | grep memfd:hermes-agent`

// TestCommandsAreMarked runs commands in each way in which an agent can start them.
func TestCommandsAreMarked(t *testing.T) {
	t.Parallel()
	m, err := lineage.NewMark("/home/ann/.hermes")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	l := mustLocal(t, environment.LocalConfig{
		Mark: m, Env: []string{"PATH=" + os.Getenv("PATH"), "HERMES_STARTED_BY_AGENT=/outer"},
	})
	const want = "/home/ann/.hermes\n/memfd:hermes-agent (deleted)"
	if got := output(t, l, marked); got != want {
		t.Errorf("a command sees %q, want %q", got, want)
	}
	if got := environment.Variables(environment.LocalConfig{Mark: m, Env: []string{"HERMES_STARTED_BY_AGENT=/outer"}}); !slices.Equal(got[len(got)-1:], m.Environ()) {
		t.Errorf("a program that is started without a shell sees %q", got) // the last one counts
	}
	output(t, l, "export HERMES_STARTED_BY_AGENT=/other; exec 47>&-")
	if got := output(t, l, marked); got != want {
		t.Errorf("after an export a command sees %q", got)
	}
	output(t, l, "unset HERMES_STARTED_BY_AGENT")
	for name, tty := range map[string]bool{"in the background": false, "on a terminal": true} {
		var out bytes.Buffer
		p, err := l.Start(t.Context(), hermes.Command{Line: marked, Env: []string{"HERMES_STARTED_BY_AGENT=/other"}, Stdout: &out, Stderr: &out}, tty)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(strings.ReplaceAll(out.String(), "\r", "")); got != want {
			t.Errorf("%s a command sees %q", name, got)
		}
	}
}

// TestCommandsKeepTheirOwnDescriptors: scripts use the low ones by hand.
func TestCommandsKeepTheirOwnDescriptors(t *testing.T) {
	t.Parallel()
	m, err := lineage.NewMark("/h")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	l := mustLocal(t, environment.LocalConfig{Mark: m})
	if got := output(t, l, `echo a >x; exec 3<x; cat <&3; for n in 3 4 5 6 7 8 9; do [ -e /proc/self/fd/$n ] && echo $n; done`); got != "a\n3" {
		t.Errorf("got %q", got)
	}
}
