//go:build unix

package environment_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/environment"
	"hermes/internal/isolation"
)

// fakeWalls change variables and refuse what they are told to.
type fakeWalls struct {
	env     func([]string) []string
	refused []hermes.Refusal
	fail    error
	write   []string

	mu     sync.Mutex
	needs  []hermes.Need
	ended  []bool
	closed int
}

func (w *fakeWalls) Enter(_ context.Context, c hermes.Command, _ string) (isolation.Inside, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.needs = append(w.needs, c.Need...)
	return isolation.Inside{Env: w.env, Done: func(_ context.Context, _ hermes.Exit, ended bool) []hermes.Refusal {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ended = append(w.ended, ended)
		return w.refused
	}}, w.fail
}

func (w *fakeWalls) Describe() hermes.Isolation {
	return hermes.Isolation{Layer: "B", Holds: true, Text: "fake"}
}

func (w *fakeWalls) Bounds() (hermes.Network, []string) { return hermes.NetworkProxy, w.write }

func (w *fakeWalls) Close() error {
	w.closed++
	return nil
}

// TestWallsSeeEachCommand: they get what it needs, change its variables, and what they
// refuse is in its exit, also in the background.
func TestWallsSeeEachCommand(t *testing.T) {
	t.Parallel()
	refused := []hermes.Refusal{{Kind: hermes.RefusedHost, Name: "example.org:443"}}
	w := &fakeWalls{refused: refused, env: func(env []string) []string { return append(env, "HTTPS_PROXY=http://t@127.0.0.1:1") }}
	l := mustLocal(t, environment.LocalConfig{Walls: w})
	need := hermes.Need{Kind: hermes.RefusedHost, Name: "a.example:1"}
	var out bytes.Buffer
	exit, err := l.Exec(t.Context(), hermes.Command{Line: `echo "$HTTPS_PROXY"`, Stdout: &out, Keep: true, Need: []hermes.Need{need}})
	if err != nil || out.String() != "http://t@127.0.0.1:1\n" || !cmp.Equal(exit.Refused, refused) {
		t.Errorf("printed %q, refused %v, error %v", out.String(), exit.Refused, err)
	}
	p, err := l.Start(t.Context(), hermes.Command{Line: "true"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := p.Wait(t.Context()); err != nil || !cmp.Equal(exit.Refused, refused) {
		t.Errorf("in the background: refused %v, error %v", exit.Refused, err)
	}
	if err := errors.Join(l.Close(), l.Close()); err != nil || w.closed != 1 {
		t.Errorf("the walls were closed %d times, %v", w.closed, err)
	}
	if want := []hermes.Need{need}; !cmp.Equal(w.needs, want) || !cmp.Equal(w.ended, []bool{true, true}) {
		t.Errorf("the walls saw %v and %v", w.needs, w.ended)
	}
}

// TestVariablesOfWallsAreNotKept: what they set for a command is gone without them.
func TestVariablesOfWallsAreNotKept(t *testing.T) {
	t.Parallel()
	n := 0
	w := &fakeWalls{env: func(env []string) []string {
		if n++; n > 1 {
			return env
		}
		return append(env, "TOKEN_FOR=one command", "HOME=/private")
	}}
	l := mustLocal(t, environment.LocalConfig{Walls: w, Env: []string{"HOME=/home/ada"}})
	output(t, l, "export MINE=1")
	if got := output(t, l, `echo "$HOME $MINE [$TOKEN_FOR]"`); got != "/home/ada 1 []" {
		t.Errorf("the next command saw %q", got)
	}
}

// TestOutsideStartsFromTheUsersVariables: nothing that a command exported or wrote gets
// into a command that runs outside, and nothing of it is kept.
func TestOutsideStartsFromTheUsersVariables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	l := mustLocal(t, environment.LocalConfig{Dir: dir, Walls: &fakeWalls{}, Env: []string{"PATH=" + bin + ":relative:" + path, "LD_PRELOAD=", "PLAIN=1"}})
	output(t, l, "export PATH=/evil:$PATH GIT_SSH_COMMAND=evil PLAIN=2 ADDED=3; ls() { echo evil; }; export -f ls 2>/dev/null || true")
	var out bytes.Buffer
	c := hermes.Command{Line: `echo "$PATH|$GIT_SSH_COMMAND|$PLAIN|$ADDED|${LD_PRELOAD-unset}"; export LEFT=1; cd /`, Stdout: &out, Keep: true, Outside: true}
	if _, err := l.Exec(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	got := strings.TrimSpace(out.String())
	if strings.Contains(got, bin) || strings.Contains(got, "relative") || strings.Contains(got, "evil") || !strings.HasSuffix(got, "||1||unset") {
		t.Errorf("outside the variables were %q", got)
	}
	if got := output(t, l, `echo "$LEFT $PLAIN $(pwd -P)"`); !strings.HasPrefix(got, " 2 ") || strings.HasSuffix(got, " /") {
		t.Errorf("it left %q", got)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	l := mustLocal(t, environment.LocalConfig{})
	for name, limits := range map[string]hermes.Limits{
		"network": {Network: hermes.NetworkOff}, "write": {Write: []string{"/tmp"}}, "processes": {Processes: 3}, "negative": {Memory: -1},
	} {
		var out bytes.Buffer
		if _, err := l.Exec(t.Context(), hermes.Command{Line: "echo ran", Stdout: &out, Limits: limits}); err == nil || out.Len() > 0 {
			t.Errorf("%s: ran with %v", name, err)
		}
		inside := mustLocal(t, environment.LocalConfig{Walls: &fakeWalls{}})
		if name == "negative" {
			continue
		}
		if _, err := inside.Exec(t.Context(), hermes.Command{Line: "true", Limits: limits}); err != nil {
			t.Errorf("%s: walls were not asked: %v", name, err)
		}
		if _, err := inside.Exec(t.Context(), hermes.Command{Line: "true", Limits: limits, Outside: true}); err == nil {
			t.Errorf("%s: ran outside without its limit", name)
		}
	}
	p, err := l.Start(t.Context(), hermes.Command{Line: "sleep 300", Limits: hermes.Limits{Time: 20 * time.Millisecond}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); !errors.Is(err, hermes.ErrTimeLimit) {
		t.Errorf("a background command past its time ended with %v", err)
	}
}

// TestNoCommandsRunWithoutTheWallsThatTheyNeed: strict on a host without walls.
func TestNoCommandsRunWithoutTheWallsThatTheyNeed(t *testing.T) {
	t.Parallel()
	l := mustLocal(t, environment.LocalConfig{Walls: isolation.NoCommands("no user namespaces here; use auto")})
	for _, outside := range []bool{false, true} {
		_, err := l.Exec(t.Context(), hermes.Command{Line: "true", Outside: outside})
		if err == nil || !strings.Contains(err.Error(), "no user namespaces") {
			t.Errorf("outside %v: %v", outside, err)
		}
	}
	if d := l.Describe(t.Context()); d.Isolation.Walls() != "" {
		t.Errorf("described as %+v", d.Isolation)
	}
}
