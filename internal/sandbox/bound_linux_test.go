//go:build amd64 || arm64

package sandbox_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"hermes/internal/proc"
	"hermes/internal/sandbox"
)

// TestWhatAProgramLeftIsCounted: it ends at once, and what it started grows later. All inside is ended then, who
// lives is told why, and what starts afterwards runs.
func TestWhatAProgramLeftIsCounted(t *testing.T) {
	t.Parallel()
	for _, p := range []sandbox.Policy{{}, policy(t, sandbox.A), policy(t, sandbox.B)} {
		t.Run(p.Layer.String(), func(t *testing.T) {
			t.Parallel()
			k := mustStart(t, p)
			for range 2 {
				told := startBounded(t, k, "exec sleep 1000")
				startBounded(t, k, "setsid sh -c 'sleep 0.5; i=0; while [ $i -lt 60 ]; do sleep 1000 & i=$((i+1)); done; wait' >/dev/null 2>&1 & exit 0")
				if code, stderr := told(); code != 137 || !strings.Contains(stderr, "more than 40 processes at once") {
					t.Fatalf("one beside it ended with %d, %q", code, stderr)
				}
				awaitEmpty(t, k)
				if out, code := sh(t, k, "sleep 0.1; echo works"); out != "works" || code != 0 {
					t.Errorf("the next program ended with %d, %q", code, out)
				}

				startBounded(t, k, "setsid sh -c 'sleep 0.5; i=0; while [ $i -lt 200 ]; do sleep 1000 & i=$((i+1)); done; wait' >/dev/null 2>&1 & exit 0")
				awaitEmpty(t, k) // nothing else ends it
				if out, code := sh(t, k, "sleep 0.1; echo works"); out != "works" || code != 0 {
					t.Errorf("after one alone the next program ended with %d, %q", code, out)
				}
			}
		})
	}
}

// startBounded starts a line that may have 40 processes, and returns what waits for its end.
func startBounded(t *testing.T, k *sandbox.Keeper, line string) (ended func() (code int, stderr string)) {
	t.Helper()
	var stderr bytes.Buffer
	p, err := proc.Start(context.Background(), proc.Command{Path: "/bin/sh", Args: []string{"-c", line}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Stderr: &stderr, Launcher: k, Limits: proc.Limits{Processes: 40}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return func() (int, string) {
		late, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		s, err := p.Wait(late)
		if err != nil {
			t.Fatal(err)
		}
		return s.Code, stderr.String()
	}
}

// awaitEmpty waits until nothing is inside.
func awaitEmpty(t *testing.T, k *sandbox.Keeper) {
	t.Helper()
	for late := time.Now().Add(30 * time.Second); !sandbox.Childless(k); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("what was left still runs")
		}
	}
}
