package proc_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes/internal/proc"
)

// TestAProgramWithTooManyProcessesIsEnded with all of them, and it is said why; one with fewer goes on.
func TestAProgramWithTooManyProcessesIsEnded(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		line string
		want string
		code int
	}{
		{"i=0; while [ $i -lt 60 ]; do sleep 600 & i=$((i+1)); done; wait", "more than 40 processes at once", 137},
		{"while :; do setsid sleep 600." + strconv.Itoa(os.Getpid()) + " & done", "more than 40 processes at once", 137},
		{"i=0; while [ $i -lt 20 ]; do sleep 0.6 & i=$((i+1)); done; wait; echo done >&2", "done", 0},
	} {
		var stderr bytes.Buffer
		p, err := proc.Start(t.Context(), proc.Command{Path: "/bin/sh", Args: []string{"-c", row.line}, Env: []string{"PATH=/usr/bin:/bin"}, Stderr: &stderr, Limits: proc.Limits{Processes: 40}})
		if err != nil {
			t.Fatal(err)
		}
		status, err := p.Wait(t.Context())
		p.Close()
		if err != nil || status.Code != row.code || !strings.Contains(stderr.String(), row.want) {
			t.Errorf("%s: %+v, %v, %q", row.line, status, err, stderr.String())
		}
		for end := time.Now().Add(20 * time.Second); sleepers(t) > 0; time.Sleep(10 * time.Millisecond) { // the kernel removes them
			if time.Now().After(end) {
				t.Fatalf("%s: %d processes are left", row.line, sleepers(t))
			}
		}
	}
}

// sleepers counts the processes that sleep for this test.
func sleepers(t *testing.T) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte("600."+strconv.Itoa(os.Getpid()))) {
			n++
		}
	}
	return n
}
